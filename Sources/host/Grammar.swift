/// What the command understands: one table, from which arguments are read, the usage is printed and shells complete.
struct Grammar {
  struct Option {
    let name: String
    /// What its value is called; nil for a flag.
    let value: String?
    /// What may stand for the value, where there is a choice; `FILE` and the like complete as such.
    var choices: [String] = []
    let summary: String
    var isRepeatable = false
  }

  struct Command {
    let name: String
    let arguments: [String]
    var optionalArguments: [String] = []
    let options: [Option]
    let summary: String
  }

  static let common = [
    Option(name: "gateway", value: "URL", summary: "the gateway's address, needed (or ORCA_PUSH_GATEWAY_URL)"),
    Option(name: "dir", value: "FOLDER", summary: "where this host's state is kept (PUSHHOST_DIR)"),
    Option(name: "json", value: nil, summary: "one JSON object on standard output"),
    Option(name: "help", value: nil, summary: "this text"),
  ]

  private static let recipients = Option(
    name: "to", value: "DEVICE", summary: "for this phone alone; may be given again", isRepeatable: true)

  static let commands = [
    Command(name: "keygen", arguments: [], options: [], summary: "make this host's key, once"),
    Command(
      name: "register", arguments: ["DEVICE"],
      options: [
        Option(name: "platform", value: "NAME", choices: ["ios", "android"], summary: "the phone's platform"),
        Option(name: "token-file", value: "FILE", summary: "the phone's push token; - for standard input"),
        Option(
          name: "apns-environment", value: "NAME", choices: ["production", "sandbox"],
          summary: "for ios: whose token it is (production)"),
        Option(name: "silent", value: nil, summary: "its alerts make no sound"),
        Option(name: "always", value: nil, summary: "also while somebody is at the desktop"),
        Option(name: "secret-file", value: "FILE", summary: "seal its pushes with the secret in this file"),
      ], summary: "register a phone, or renew its registration"),
    Command(name: "devices", arguments: [], options: [], summary: "list the phones, here and at the gateway"),
    Command(
      name: "send", arguments: [],
      options: [
        Option(name: "title", value: "TEXT", summary: "at most 80 characters"),
        Option(name: "body", value: "TEXT", summary: "at most 180 characters"),
        Option(
          name: "text-file", value: "FILE", summary: "the title in its first line, the body in the rest; - for stdin"),
        Option(name: "id", value: "ID", summary: "what it is about: replaces and is dismissed by it"),
        Option(name: "state", value: "STATE", choices: ["needs-input", "finished"], summary: "what the agent wants"),
        Option(
          name: "source", value: "NAME", choices: ["agent-task-complete", "terminal-bell", "plugin"],
          summary: "what it comes from (plugin)"),
        Option(name: "worktree", value: "ID", summary: "where a tap leads"),
        Option(name: "expires-in", value: "SECONDS", summary: "drop it when it is that late (300)"), recipients,
      ], summary: "send an alert to the phones"),
    Command(name: "dismiss", arguments: ["ID"], options: [recipients], summary: "take the alerts about ID away again"),
    Command(name: "unregister", arguments: ["DEVICE"], options: [], summary: "let a phone go"),
    Command(
      name: "status", arguments: [], optionalArguments: ["SEQ"],
      options: [Option(name: "epoch", value: "EPOCH", summary: "the epoch that SEQ belongs to (this host's)")],
      summary: "ask what became of the last send, or of number SEQ"),
    Command(name: "doctor", arguments: [], options: [], summary: "walk through everything and say what is wrong"),
    Command(
      name: "completion", arguments: ["SHELL"], options: [], summary: "print completion for bash, zsh or fish"),
  ]

  static func command(_ name: String) -> Command? { commands.first { $0.name == name } }
}
