import Foundation

/// Files that the user names; `-` is standard input.
enum Input {
  private static let limit = 65_536

  static func bytes(_ path: String) throws(Failure) -> [UInt8] {
    let handle: FileHandle
    if path == "-" {
      handle = .standardInput
    } else {
      guard let opened = FileHandle(forReadingAtPath: path) else {
        throw Failure(.input, "input", "\(path.plain) cannot be read")
      }
      handle = opened
    }
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      guard let more = try? handle.read(upToCount: limit) else {
        if bytes.isEmpty && path != "-" { throw Failure(.input, "input", "\(path.plain) cannot be read") }
        break
      }
      if more.isEmpty { break }
      bytes += more
    }
    guard bytes.count <= limit else { throw Failure(.input, "input", "\(path.plain) has more than \(limit) bytes") }
    return bytes
  }

  /// Text, without the white space at its ends.
  static func text(_ path: String) throws(Failure) -> String {
    guard let text = String(validating: try bytes(path), as: UTF8.self) else {
      throw Failure(.input, "input", "\(path.plain) is no text")
    }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
