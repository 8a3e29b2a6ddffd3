/// The text of --help.
enum Usage {
  static func text(for command: Grammar.Command?) -> String {
    guard let command else { return all }
    let words = command.arguments + command.optionalArguments.map { "[\($0)]" }
    return
      (["usage: pushhost \(([command.name] + words).joined(separator: " ")) [options]", "  \(command.summary)", ""]
      + options(command.options + Grammar.common)).joined(separator: "\n")
  }

  private static var all: String {
    let width = Grammar.commands.map { ([$0.name] + $0.arguments).joined(separator: " ").count }.max() ?? 0
    let commands = Grammar.commands.map { command in
      let words = ([command.name] + command.arguments).joined(separator: " ")
      return "  " + padded(words, width + 2) + command.summary
    }
    return
      (["usage: pushhost COMMAND [options]", "Sends pushes to paired phones by way of a push gateway.", ""]
      + commands + ["", "pushhost COMMAND --help tells a command's options. For every command:"]
      + options(Grammar.common)
      + [
        "",
        "No gateway is talked to but the one that is named, and there is no default.",
        "Secrets come from files (or - for standard input), never from the command line.",
        "Ends with 0 when all went well, 1 when it did for some phones only, 64 for a wrong command line, 66 for a file",
        "that cannot be read, 69 when the gateway cannot be reached, 73 when the state cannot be written, 75 when there",
        "were too many requests, 77 when the gateway refused, 78 when no gateway is named or the address or folder is none.",
      ]).joined(separator: "\n")
  }

  private static func options(_ options: [Grammar.Option]) -> [String] {
    let width = options.map { spelled($0).count }.max() ?? 0
    return options.map { "  " + padded(spelled($0), width + 2) + $0.summary }
  }

  private static func spelled(_ option: Grammar.Option) -> String {
    let value = option.choices.isEmpty ? option.value : option.choices.joined(separator: "|")
    return "--\(option.name)" + (value.map { " \($0)" } ?? "")
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
