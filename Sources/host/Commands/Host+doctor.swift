import Foundation
import Json
import PushHost

extension Host {
  /// Walks through everything.
  func doctor() async throws(Failure) {
    let address = try address()
    let gateway = try await gateway()
    let findings = await output.during("Examining") { await gateway.examine() }
    let lines = findings.map { "\($0.isWell ? "ok   " : "FAULT") \($0.step.rawValue): \($0.message.plain)" }
    output.tell(lines) {
      $0.member("gateway", address)
      $0.member("well", findings.allSatisfy(\.isWell))
      $0.array("findings") { text in
        for finding in findings {
          text.object {
            $0.member("step", finding.step.rawValue)
            $0.member("well", finding.isWell)
            $0.member("message", finding.message)
          }
        }
      }
    }
    if !findings.allSatisfy(\.isWell) { exit(Failure.Code.partly.rawValue) }
  }
}
