import Glibc

/// What libFuzzer runs: one target, which the variable FUZZ_TARGET names. `main` is libFuzzer's own.
enum Fuzz {
  /// Each holds one reader of foreign bytes to its rules.
  private static let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "Answers": Answers.run,
    "Base64Texts": Base64Texts.run,
    "Bearers": Bearers.run,
    "DatabaseUrls": DatabaseUrls.run,
    "Dates": Dates.run,
    "Documents": Documents.run,
    "ForwardedFor": ForwardedFor.run,
    "GoAways": GoAways.run,
    "Http2Answers": Http2Answers.run,
    "Http2Requests": Http2Requests.run,
    "KeyTexts": KeyTexts.run,
    "Origins": Origins.run,
    "Queries": Queries.run,
    "RequestBodies": RequestBodies.run,
    "Requests": Requests.run,
    "Responses": Responses.run,
    "ServiceAccounts": ServiceAccounts.run,
    "WebTokens": WebTokens.run,
  ]

  static let chosen: @Sendable ([UInt8]) -> Void = {
    guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }), let target = targets[name] else {
      print("FUZZ_TARGET must be one of \(targets.keys.sorted().joined(separator: ", "))")
      exit(64)
    }
    return target
  }()
}

/// libFuzzer's way in.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Fuzz.chosen([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// What is to hold whatever the bytes are.
protocol Target {
  /// Stops the process when a rule is broken.
  static func run(_ bytes: [UInt8])
}

/// A rule of a target.
func require(_ rule: Bool, _ what: @autoclosure () -> String, line: UInt = #line, file: StaticString = #file) {
  guard !rule else { return }
  print("broken: \(what())")
  fflush(nil)
  preconditionFailure(file: file, line: line)
}
