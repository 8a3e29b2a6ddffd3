import Foundation

/// OpenSSL's own server, with a certificate that it made itself.
final class TlsServer: Sendable {
  let port: Int
  private let process: Process
  private let folder: URL

  static func start() async throws -> TlsServer {
    try await withCheckedThrowingContinuation { waiter in
      Thread.detachNewThread { waiter.resume(with: Result { try TlsServer() }) }
    }
  }

  private init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "push-host-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (key, certificate) = (
      folder.appending(path: "key.pem").path, folder.appending(path: "cert.pem").path
    )
    let made = try Self.openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
      "2", "-keyout", key,
      "-out", certificate, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    made.waitUntilExit()
    let output = Pipe()
    process = try Self.openssl(
      "s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www",
      output: output)
    var text = ""
    var port: Int?
    while port == nil {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { throw POSIXError(.ECHILD) }
      text += String(decoding: bytes, as: UTF8.self)
      port = text.firstMatch(of: #/ACCEPT 127\.0\.0\.1:(\d+)\n/#).flatMap { Int($0.1) }
    }
    self.port = port ?? 0
  }

  func stop() {
    process.terminate()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func openssl(_ arguments: String..., output: Pipe? = nil) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardOutput = output ?? FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }
}
