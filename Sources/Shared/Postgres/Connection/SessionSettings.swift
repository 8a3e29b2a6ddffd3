/// All that libpq is told when it connects: the operator's text, and our own wishes where that is silent.
struct SessionSettings: Sendable {
  let url: PostgresUrl
  private(set) var settings: [String: String]

  /// `statementMilliseconds` is kept by the server too, should our cancel not reach it; nil for scripts, which may be long.
  init(_ url: PostgresUrl, applicationName: String, statementMilliseconds: Int?) {
    self.url = url
    settings = [
      "application_name": applicationName,
      // A peer that vanished without a word: found after 45 s when idle, after 10 s when something was sent to it.
      "keepalives_idle": "30", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "10000",
      // Kerberos is looked up in files and by DNS, on the loop.
      "gssencmode": "disable",
    ].merging(url.settings) { $1 }
    settings["client_encoding"] = "UTF8"
    // Poolers refuse the start-up parameter `options`.
    if let statementMilliseconds, url.prepares {
      settings["options"] =
        "-c statement_timeout=\(statementMilliseconds + 500) -c idle_in_transaction_session_timeout=10000 "
        + (url.settings["options"] ?? "")
    }
  }
}
