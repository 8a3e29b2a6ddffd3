internal import CLinux

/// The variables that the process was started with.
package enum ProcessEnvironment {
  /// Read at the call; of a name that comes twice, the first counts. Bytes that are not UTF-8 become U+FFFD.
  package static var current: [String: String] {
    var variables: [String: String] = [:]
    var place = lx_environment()
    while let entry = place?.pointee {
      let text = String(cString: entry)
      if let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(text[..<equals])
        if variables[name] == nil { variables[name] = String(text[text.utf8.index(after: equals)...]) }
      }
      place = place?.advanced(by: 1)
    }
    return variables
  }
}
