import Foundation

/// The package as files: read where it lies, since asking `swift package` from inside `swift test` waits for ever on the
/// build's lock.
enum SourceTree {
  struct File {
    /// Relative to the package's folder.
    let path: String
    /// The target that it belongs to.
    let target: String
    let text: String

    var lines: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }

    /// The modules that it imports.
    var imports: [String] {
      text.split(separator: "\n").compactMap { line in
        // Most lines are none: the costly look comes second.
        guard line.contains("import ") else { return nil }
        let match = line.prefixMatch(
          of:
            #/(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|fileprivate|private) )?import (?:(?:struct|enum|class|protocol|func|var|let|typealias) )?(\w+)/#
        )
        return match.map { String($0.1) }
      }
    }
  }

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// All Swift files under Sources.
  static let sources: [File] = files(under: "Sources").compactMap { path in
    // Sources/Shared/ROOM/… or Sources/PROGRAM/…
    let parts = path.split(separator: "/").map(String.init)
    let target = parts[1] == "Shared" ? parts[2] : parts[1]
    return text(of: path).map { File(path: path, target: target, text: $0) }
  }

  static let manifest = text(of: "Package.swift") ?? ""

  /// Swift files under a folder of the package, in order.
  static func files(under folder: String) -> [String] {
    let base = root.appending(path: folder)
    guard let all = FileManager.default.enumerator(atPath: base.path) else { return [] }
    return all.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }.sorted()
  }

  static func text(of path: String) -> String? {
    try? String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Names of the rooms and programs that Package.swift declares.
  static func declared(_ kind: String) -> [String] {
    manifest.matches(of: #/(\w+)\("(\w+)"/#).filter { $0.1 == kind }.map { String($0.2) }
  }
}
