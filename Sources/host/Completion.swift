/// What shells need to complete the command's words.
enum Completion {
  static func script(for shell: String) throws(Failure) -> String {
    switch shell {
    case "bash": return bash
    case "zsh": return zsh
    case "fish": return fish
    default: throw Failure.usage("completion is for bash, zsh or fish")
    }
  }

  private static var names: String { Grammar.commands.map(\.name).joined(separator: " ") }

  private static func flags(_ command: Grammar.Command) -> String {
    (command.options + Grammar.common).map { "--\($0.name)" }.joined(separator: " ")
  }

  private static var options: [Grammar.Option] {
    (Grammar.commands.flatMap(\.options) + Grammar.common).reduce(into: []) { all, option in
      if !all.contains(where: { $0.name == option.name }) { all.append(option) }
    }
  }

  private static var bash: String {
    let values = options.compactMap { option -> String? in
      if !option.choices.isEmpty {
        return
          "    --\(option.name)) COMPREPLY=($(compgen -W '\(option.choices.joined(separator: " "))' -- \"$word\")); return ;;"
      }
      switch option.value {
      case "FILE": return "    --\(option.name)) COMPREPLY=($(compgen -f -- \"$word\")); return ;;"
      case "FOLDER": return "    --\(option.name)) COMPREPLY=($(compgen -d -- \"$word\")); return ;;"
      case nil: return nil
      default: return "    --\(option.name)) return ;;"
      }
    }
    let commands = Grammar.commands.map { "    \($0.name)) COMPREPLY=($(compgen -W '\(flags($0))' -- \"$word\")) ;;" }
    return """
      # pushhost completion for bash: . <(pushhost completion bash)
      _pushhost() {
        local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command='' index
        COMPREPLY=()
        case $previous in
      \(values.joined(separator: "\n"))
        esac
        for ((index = 1; index < COMP_CWORD; index++)); do
          case " \(names) " in *" ${COMP_WORDS[index]} "*) command=${COMP_WORDS[index]}; break ;; esac
        done
        case $command in
          '') COMPREPLY=($(compgen -W '\(names) --help --json --dir --gateway' -- "$word")) ;;
          completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word")) ;;
      \(commands.joined(separator: "\n"))
        esac
      }
      complete -F _pushhost pushhost
      """
  }

  private static var zsh: String {
    """
    # pushhost completion for zsh: . <(pushhost completion zsh)
    (( $+functions[compdef] )) || { autoload -U +X compinit && compinit; }
    autoload -U +X bashcompinit && bashcompinit
    \(bash)
    """
  }

  private static var fish: String {
    let none = "not __fish_seen_subcommand_from \(names)"
    let commands = Grammar.commands.map {
      "complete -c pushhost -n '\(none)' -a \($0.name) -d '\($0.summary.quoted)'"
    }
    let options = Grammar.commands.flatMap { command in
      (command.options + Grammar.common).map { option in
        var line = "complete -c pushhost -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
        if option.value != nil { line += option.value == "FILE" || option.value == "FOLDER" ? " -rF" : " -x" }
        if !option.choices.isEmpty { line += " -a '\(option.choices.joined(separator: " "))'" }
        return line + " -d '\(option.summary.quoted)'"
      }
    }
    return
      (["# pushhost completion for fish: pushhost completion fish | source", "complete -c pushhost -f"] + commands
      + ["complete -c pushhost -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'"] + options)
      .joined(separator: "\n")
  }
}

extension String {
  /// For the inside of a shell's single quotes.
  fileprivate var quoted: String { split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'") }
}
