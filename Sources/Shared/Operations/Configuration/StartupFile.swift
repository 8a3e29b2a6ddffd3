internal import Glibc

/// Reads the files that the environment names, before the loop has anything to do.
enum StartupFile {
  /// How long a pipe may keep silent, in ms.
  private static let patience: Int32 = 5_000

  /// The bytes of the file at `path`, at most `limit`. A pipe (a shell's `<(…)`) is read to its end.
  static func read(_ path: String, limit: Int, patience: Int32 = patience) throws(StartupFileFault) -> [UInt8] {
    // A pipe that nobody writes to would keep the program from starting, and from ending.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StartupFileFault(errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wait, 1, patience)
      if ready == 0 { throw StartupFileFault(reason: "nothing comes out of it") }
      let count = ready < 0 ? -1 : Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
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
