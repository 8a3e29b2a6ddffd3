internal import Glibc

/// A key file as Apple gives it out (`AuthKey_ABC1234567.p8`), and the key's id where the file tells it: by that name, once
/// links are followed, or by a first line `key id: ABC1234567` above the PEM.
struct SigningKeyFile {
  let text: String
  /// 10 of `A-Z0-9`.
  let keyId: String?

  init(path: String) throws(StartupFileFault) {
    let bytes = try StartupFile.read(path, limit: 1 << 16)
    text = String(decoding: bytes, as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).first.map { String($0).trimmingBlanks } ?? ""
    let isTold = line.lowercased().hasPrefix("key id:")
    keyId = Self.id(isTold ? String(line.dropFirst(7)).trimmingBlanks : Self.id(inName: path))
  }

  private static func id(inName path: String) -> String {
    var real = path
    if let resolved = realpath(path, nil) {
      real = String(cString: resolved)
      free(resolved)
    }
    let name = real.split(separator: "/").last ?? ""
    return name.hasPrefix("AuthKey_") && name.hasSuffix(".p8") ? String(name.dropFirst(8).dropLast(3)) : ""
  }

  private static func id(_ text: String) -> String? {
    text.isMade(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", count: 10...10) ? text : nil
  }
}
