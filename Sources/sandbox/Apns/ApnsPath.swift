internal import Contract

/// The one path that pushes are posted to: `/3/device/<token in hex>`.
enum ApnsPath {
  private static let start = "/3/device/"

  /// The device token, in lower case as Apple's servers compare it.
  static func token(method: String, path: String) throws(ApnsFault) -> String {
    guard path.hasPrefix(start), !path.dropFirst(start.count).contains("/") else {
      throw ApnsFault(.badPath, "the path must be /3/device/<token>")
    }
    guard method == "POST" else { throw ApnsFault(.methodNotAllowed, "the method must be POST") }
    let token = String(path.dropFirst(start.count))
    guard !token.isEmpty else { throw ApnsFault(.missingDeviceToken, "the path ends before the token") }
    guard token.utf8.count <= 4_096, Hex.decode(token) != nil else {
      throw ApnsFault(.badDeviceToken, "the token is not an even number of hex digits")
    }
    return token.lowercased()
  }
}
