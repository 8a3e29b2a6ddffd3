internal import Json

/// Google's answer to a message that it took.
enum FcmAcceptance {
  /// The message's name: `projects/<project>/messages/<id>`.
  static func id(_ body: [UInt8]) -> String? { (try? JsonReader.read(body))?["name"]?.string }
}
