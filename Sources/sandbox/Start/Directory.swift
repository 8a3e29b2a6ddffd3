internal import CLinux
internal import Glibc
internal import Operations

/// The folder that the sandbox keeps its files in, for its owner's eyes alone. Used before the loop has anything to do.
struct Directory {
  let path: String

  /// Makes the folder where there is none.
  init(_ path: String) throws(ProgramFailure) {
    let isAbsolute = path.hasPrefix("/")
    self.path = isAbsolute ? path : Self.current + "/" + path
    // Each folder on the way, as `mkdir -p` does.
    var place = ""
    for part in self.path.split(separator: "/") {
      place += "/" + part
      if mkdir(place, 0o700) != 0, errno != EEXIST { throw Self.failure("cannot make \(place)") }
    }
  }

  func path(_ name: String) -> String { path + "/" + name }

  /// The text of a file, at most 1 MiB; nil when there is none.
  func read(_ name: String) -> String? {
    let descriptor = open(path(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= 1 << 20 {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0 { return nil }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes a file whole or not at all: whoever reads it never sees half.
  func write(_ name: String, _ text: String) throws(ProgramFailure) {
    let draft = path(name + ".new")
    let descriptor = lx_open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("cannot write \(draft)") }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        close(descriptor)
        throw Self.failure("cannot write \(draft)")
      }
      rest = rest.dropFirst(count)
    }
    close(descriptor)
    guard rename(draft, path(name)) == 0 else { throw Self.failure("cannot write \(path(name))") }
  }

  func remove(_ name: String) { unlink(path(name)) }

  private static var current: String {
    guard let place = getcwd(nil, 0) else { return "." }
    defer { free(place) }
    return String(cString: place)
  }

  private static func failure(_ what: String) -> ProgramFailure {
    ProgramFailure(.unavailable, "\(what): \(strerror(errno).map { String(cString: $0) } ?? "error \(errno)")")
  }
}
