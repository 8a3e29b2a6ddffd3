internal import Glibc

/// Reads the files that the environment names, before the loop has anything to do.
enum StartupFile {
  /// The bytes of the file at `path`, at most `limit`.
  static func read(_ path: String, limit: Int) throws(StartupFileFault) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StartupFileFault(errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw StartupFileFault(errno) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      if bytes.count > limit { throw StartupFileFault(reason: "it holds more than \(limit) bytes") }
    }
  }
}

/// Why a file could not be read; holds nothing of it.
struct StartupFileFault: Error {
  let reason: String

  init(reason: String) { self.reason = reason }

  init(_ number: Int32) { reason = strerror(number).map { String(cString: $0) } ?? "error \(number)" }
}
