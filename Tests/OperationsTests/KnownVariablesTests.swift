import Foundation
import Testing

@testable import Operations

@Suite struct KnownVariablesTests {
  @Test func `What begins like a setting and is none is found, and nothing else`() {
    let environment = [
      "ORCA_PUSH_PUBLC_URL": "x", "ORCA_PUSH_public_url": "x", "ORCA_PUSH_": "x", "ORCA_PUSH_MODE": "active",
      "ORCA_PUSH_GATEWAY_URL": "x", "PORT": "1", "ORCA_OTHER": "x", "orca_push_mode": "x",
    ]
    #expect(
      KnownVariables.strangers(in: environment) == ["ORCA_PUSH_", "ORCA_PUSH_PUBLC_URL", "ORCA_PUSH_public_url"])
  }

  @Test func `No more are told than anyone reads`() {
    let environment = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("ORCA_PUSH_X\($0)", "") })
    #expect(KnownVariables.strangers(in: environment).count == KnownVariables.mostTold)
  }

  /// Held against the sources, so that a new setting is not called misspelt.
  @Test func `Every variable that a program names is known, and no other`() throws {
    let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
    var named: Set<String> = []
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      if file.lastPathComponent == "KnownVariables.swift" { continue }
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: /"(ORCA_PUSH_[A-Z_]*[A-Z])"/) {
        named.insert(String(match.1))
      }
    }
    // The key's file and id are named after the key's variable.
    for key in ["ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_SANDBOX_KEY"] { named.formUnion([key + "_FILE", key + "_ID"]) }
    #expect(named == KnownVariables.names)
  }
}
