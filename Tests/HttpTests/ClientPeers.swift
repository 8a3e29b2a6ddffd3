import CLinux
import Foundation
import Glibc
import Support

/// nghttpd on a free port of 127.0.0.1, with the test certificate, serving one file `/ok`. Ends with its owner.
/// `@unchecked Sendable`: it is started on one thread and used on another afterwards.
final class Nghttpd: @unchecked Sendable {
  let port: UInt16
  private let server = Process()

  /// Nil when it does not come up, be it that somebody else was quicker to take the port: see `start`.
  private init?(_ arguments: [String]) {
    // It cannot be asked for any port and then which.
    port = BoundSocket(backlog: nil).port
    let folder = TestCertificates.shared.folder
    try? "fine".write(toFile: folder + "ok", atomically: true, encoding: .utf8)
    // By lines, or a pipe would not see what it says until much later.
    server.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
    server.arguments =
      ["-oL", "nghttpd", "--address=127.0.0.1", "-v", "-d", folder] + arguments
      + ["\(self.port)", folder + "server.key", folder + "server.pem"]
    let output = Pipe()
    server.standardOutput = output
    guard (try? server.run()) != nil else { return nil }
    // It says "listen" once it does.
    var text = ""
    while !text.contains("listen") {
      let chunk = output.fileHandleForReading.availableData
      if chunk.isEmpty { return nil }
      text += String(decoding: chunk, as: UTF8.self)
    }
    PipeReader.start(output)
  }

  /// Starts one, on another port if need be.
  static func start(arguments: [String] = []) async -> Nghttpd? {
    await offTheLoop {
      for _ in 0..<20 {
        if let server = Nghttpd(arguments) { return server }
      }
      return nil
    }
  }

  func stop() {
    guard server.isRunning else { return }
    // Children of a Swift thread have SIGTERM blocked.
    kill(server.processIdentifier, SIGKILL)
    server.waitUntilExit()
  }

  deinit { stop() }
}

/// A socket on 127.0.0.1 that is bound, and listens when given a backlog, but never accepts: a black hole.
final class BoundSocket: Sendable {
  let descriptor: Int32
  let port: UInt16

  init(port wanted: UInt16 = 0, backlog: Int32?) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = wanted.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(descriptor, $0, length)
        getsockname(descriptor, $0, &length)
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    if let backlog { listen(descriptor, backlog) }
  }

  deinit { close(descriptor) }

  /// One who connects to a port of 127.0.0.1, and does not wait for an answer.
  final class Caller {
    private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)

    init(_ port: UInt16) {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      address.sin_port = port.bigEndian
      withUnsafePointer(to: &address) {
        _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }

    deinit { close(descriptor) }
  }
}
