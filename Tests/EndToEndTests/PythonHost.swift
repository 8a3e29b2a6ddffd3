import Foundation
import Json
import Testing

/// A host that other people might have written: `Tests/clients/host.py`, from the contract alone.
struct PythonHost {
  let fingerprint: String
  /// Its bearer.
  let session: String
  private let program: Program

  /// Starts one, which proves itself to the gateway; stops it after `body`.
  static func run(on gateway: Gateway, _ body: (PythonHost) async throws -> Void) async throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "clients/host.py").path
    let program = try Program("host.py", running: ["python3", script, gateway.address, Gateway.origin])
    var failure: (any Error)?
    do {
      let first = try JsonReader.read(Array(try await program.line().utf8))
      try await body(
        PythonHost(
          fingerprint: try #require(first["fingerprint"]?.string), session: try #require(first["session"]?.string),
          program: program))
    } catch {
      failure = error
    }
    await program.stop()
    if let failure { throw failure }
  }

  /// The answer's body, which must come with 200.
  func post(_ path: String, _ body: JsonValue) async throws -> JsonValue {
    try await ask(["method": .string("POST"), "path": .string(path), "body": body], path)
  }

  /// The answer's body, which must come with 200.
  func get(_ path: String) async throws -> JsonValue {
    try await ask(["method": .string("GET"), "path": .string(path)], path)
  }

  private func ask(_ request: JsonObject, _ path: String) async throws -> JsonValue {
    let answer = try await answer(to: request)
    #expect(answer["status"] == .integer(200), "\(path): \(String(decoding: JsonText.render(answer), as: UTF8.self))")
    return try #require(answer["body"])
  }

  /// The answer's `status` and `body`, whatever they are.
  func answer(to request: JsonObject) async throws -> JsonValue {
    try await program.write(JsonText.render(.object(request)))
    return try JsonReader.read(Array(try await program.line().utf8))
  }
}
