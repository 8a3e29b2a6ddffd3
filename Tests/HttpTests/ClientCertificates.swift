import Foundation
import Support
import Tls

/// A CA and a certificate for `localhost` and 127.0.0.1, made once per test run by `openssl`.
struct TestCertificates: Sendable {
  /// Where the files `ca.pem`, `server.pem`, `server.key` lie.
  let folder: String

  var ca: String { read("ca.pem") }
  var server: String { read("server.pem") }
  var key: String { read("server.key") }
  /// The key of the CA, not of the server.
  var otherKey: String { read("ca.key") }

  private func read(_ name: String) -> String { (try? String(contentsOfFile: folder + name, encoding: .utf8)) ?? "" }

  /// For tests that are not on the loop: the first call takes as long as `openssl` does.
  static let shared = TestCertificates()

  /// For those on the loop.
  static func made() async -> TestCertificates { await offTheLoop { shared } }

  /// Trusts the CA and the system's roots, which take long to read.
  static func trust() async throws -> TlsClientContext {
    try await offTheLoop { try TlsClientContext(additionalRoots: shared.ca) }
  }

  private init() {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("client-certificates-\(getpid())/")
    try? FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
    folder = path.path + "/"
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    Self.openssl("req -x509 \(curve) -keyout ca.key -out ca.pem -subj /CN=test-ca", in: folder)
    Self.openssl(
      "req -x509 \(curve) -CA ca.pem -CAkey ca.key -keyout server.key -out server.pem -subj /CN=localhost "
        + "-addext subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1 -addext basicConstraints=critical,CA:FALSE",
      in: folder)
  }

  private static func openssl(_ arguments: String, in folder: String) {
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    openssl.arguments = arguments.split(separator: " ").map(String.init)
    openssl.currentDirectoryURL = URL(fileURLWithPath: folder)
    openssl.standardError = FileHandle.nullDevice
    openssl.standardOutput = FileHandle.nullDevice
    try? openssl.run()
    openssl.waitUntilExit()
  }
}
