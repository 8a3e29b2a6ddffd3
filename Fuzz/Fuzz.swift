import CFuzzer
import Glibc

/// Runs one target under libFuzzer: `fuzz TARGET [CORPUS…] [-option=value…]`. Without a name it lists the targets.
@main
enum Fuzz {
  /// By name; each holds one reader of foreign bytes to its rules.
  private static let targets: [String: Target.Type] = [
    "answers": Answers.self,
    "base64": Base64Texts.self,
    "dates": Dates.self,
    "database-urls": DatabaseUrls.self,
    "documents": Documents.self,
    "forwarded-for": ForwardedFor.self,
    "go-aways": GoAways.self,
    "key-texts": KeyTexts.self,
    "origins": Origins.self,
    "request-bodies": RequestBodies.self,
    "requests": Requests.self,
    "responses": Responses.self,
    "service-accounts": ServiceAccounts.self,
    "web-tokens": WebTokens.self,
  ]

  /// The one that this process runs. Set before the driver starts, read by its one thread.
  nonisolated(unsafe) private static var chosen: Target.Type = Answers.self

  static func main() {
    guard CommandLine.argc > 1, let target = targets[CommandLine.arguments[1]] else {
      print(targets.keys.sorted().joined(separator: "\n"))
      exit(CommandLine.argc > 1 ? 64 : 0)
    }
    chosen = target
    // The driver sees what stands behind the target's name.
    var count = CommandLine.argc - 1
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
    exit(
      LLVMFuzzerRunDriver(&count, &arguments) { start, count in
        Fuzz.chosen.run([UInt8](UnsafeBufferPointer(start: start, count: count)))
        return 0
      })
  }
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
  preconditionFailure(file: file, line: line)
}
