import Foundation
import PushHost

/// A host for scripts and for people who look for what is wrong: the library `PushHost` as a command.
@main
enum Pushhost {
  static func main() async {
    // Known before anything can fail, so that failures are told in the form that was asked for.
    let words = Array(CommandLine.arguments.dropFirst())
    let output = Output(isJson: words.contains("--json"))
    do throws(Failure) {
      let invocation = try Invocation(words)
      try await run(invocation, output)
    } catch {
      output.tell(error)
      exit(error.isHelp ? 0 : error.code.rawValue)
    }
  }

  private static func run(_ invocation: Invocation, _ output: Output) async throws(Failure) {
    if invocation.command.name == "completion" {
      return print(try Completion.script(for: invocation.arguments[0]))
    }
    let host = try Host(invocation, ProcessInfo.processInfo.environment, output)
    switch invocation.command.name {
    case "keygen": try await host.keygen()
    case "register": try await host.register(invocation)
    case "devices": try await host.devices()
    case "send": try await host.send(invocation)
    case "dismiss": try await host.dismiss(invocation)
    case "unregister": try await host.unregister(invocation)
    case "status": try await host.status(invocation)
    case "doctor": try await host.doctor()
    default: throw Failure.usage("there is no command \(invocation.command.name)")
    }
  }
}
