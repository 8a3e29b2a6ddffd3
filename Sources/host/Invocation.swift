/// What one run of the command is asked to do.
struct Invocation {
  let command: Grammar.Command
  /// As many as the command takes.
  let arguments: [String]
  private let values: [String: [String]]

  /// Reads the arguments; throws a line for the user.
  init(_ words: [String]) throws(Failure) {
    var rest = words[...]
    var values: [String: [String]] = [:]
    var command: Grammar.Command?
    var arguments: [String] = []
    var isOver = false
    while let word = rest.popFirst() {
      if !isOver, word == "--" {
        isOver = true
      } else if !isOver, word.hasPrefix("--") {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
          String.init)
        let options = Grammar.common + (command?.options ?? Grammar.commands.flatMap(\.options))
        guard let option = options.first(where: { $0.name == parts[0] }) else {
          throw Failure.usage("there is no --\(parts[0])" + (command.map { " for \($0.name)" } ?? ""), of: command)
        }
        let value: String
        if option.value == nil {
          guard parts.count == 1 else { throw Failure.usage("--\(option.name) takes no value", of: command) }
          value = ""
        } else {
          guard let given = parts.count == 2 ? parts[1] : rest.popFirst() else {
            throw Failure.usage("--\(option.name) needs a value: \(option.value ?? "")", of: command)
          }
          value = given
        }
        if values[option.name] != nil && !option.isRepeatable {
          throw Failure.usage("--\(option.name) is given twice", of: command)
        }
        if !option.choices.isEmpty && !option.choices.contains(value) {
          throw Failure.usage("--\(option.name) must be \(option.choices.joined(separator: " or "))", of: command)
        }
        values[option.name, default: []].append(value)
      } else if command == nil {
        command = Grammar.command(word)
        if command == nil { throw Failure.usage("there is no command \(word)") }
      } else {
        arguments.append(word)
      }
    }
    if values["help"] != nil { throw Failure.help(command) }
    guard let command else { throw Failure.usage("no command is given") }
    for name in values.keys where !(Grammar.common + command.options).contains(where: { $0.name == name }) {
      throw Failure.usage("there is no --\(name) for \(command.name)", of: command)
    }
    guard arguments.count >= command.arguments.count else {
      throw Failure.usage("\(command.name) needs \(command.arguments[arguments.count])", of: command)
    }
    guard arguments.count <= command.arguments.count + command.optionalArguments.count else {
      throw Failure.usage("\(command.name) takes fewer words: quote what belongs together", of: command)
    }
    self.command = command
    self.arguments = arguments
    self.values = values
  }

  /// The value of an option, if it was given.
  subscript(name: String) -> String? { values[name]?.first }

  /// All values of an option.
  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Whether a flag was given.
  func has(_ name: String) -> Bool { values[name] != nil }

  func required(_ name: String) throws(Failure) -> String {
    guard let value = self[name] else { throw Failure.usage("\(command.name) needs --\(name)", of: command) }
    return value
  }
}
