import Testing

@testable import Postgres

@Suite("Connection texts")
struct UrlTests {
  @Test(
    "URLs and lists are read as libpq reads them, our option apart",
    arguments: [
      (
        "postgres://u:p%40w@db.example:6000/push?sslmode=require",
        ["host": "db.example", "port": "6000", "user": "u", "password": "p@w", "dbname": "push", "sslmode": "require"],
        true
      ),
      ("postgresql://u@h/d?prepared=off", ["host": "h", "user": "u", "dbname": "d"], false),
      (
        "postgresql://u@h/d?prepared=on&sslmode=disable",
        ["host": "h", "user": "u", "dbname": "d", "sslmode": "disable"], true
      ),
      (
        "postgresql://u@h/d?application_name=a&prepared=off&sslmode=disable",
        ["host": "h", "user": "u", "dbname": "d", "sslmode": "disable", "application_name": "a"], false
      ),
      ("postgresql://u:a?b@h/d?prepared=off", ["host": "h", "user": "u", "password": "a?b", "dbname": "d"], false),
      (
        "postgresql:///d?host=/cloudsql/p:r:i&user=me@x.iam&prepared=off",
        ["host": "/cloudsql/p:r:i", "user": "me@x.iam", "dbname": "d"], false
      ),
      ("postgres://a:1,b:2/d", ["host": "a,b", "port": "1,2", "dbname": "d"], true),
      ("host=h dbname=d password='it''s'", [:], true),
      (
        "host=h dbname=d password='a prepared=on \\' b' prepared = 'off'",
        ["host": "h", "dbname": "d", "password": "a prepared=on ' b"], false
      ),
      ("prepared=off host=/var/run/postgresql user=u", ["host": "/var/run/postgresql", "user": "u"], false),
      (" host = h  port=1 ", ["host": "h", "port": "1"], true),
    ] as [(String, [String: String], Bool)])
  func reads(text: String, settings: [String: String], prepares: Bool) throws {
    if settings.isEmpty {
      #expect(throws: PostgresUrl.Fault.self) { try PostgresUrl(text) }
      return
    }
    let url = try PostgresUrl(text)
    #expect(url.settings == settings)
    #expect(url.prepares == prepares)
  }

  @Test(
    "A text that cannot be used is refused with a reason that does not hold the password",
    arguments: [
      "", "  ", "hunter2", "host=h hunter2", "host=h password='hunter2", "postgres://u:hunter2@[h/d",
      "postgres://u:hunter2@h:99999/d", "postgres://u:hunter2@h:x/d", "postgres://u:hunter2@h/d?nope=1",
      "postgres://u:hunter2%zz@h/d",
      // Their first characters take the quote before them, or the one behind, into their own.
      "postgres://u:\u{301}hunter2%zz@h/d", "postgres://\u{301}u:hunter2\u{600}%zz@h/d",
      "postgres://u:hunter2@h/d?hunter2", "mysql://u:hunter2@h/d",
      // Its @ not escaped, libpq takes the rest of the password for a host, a database, or their beginning.
      "postgres://u:ab@hunter2@h/d", "postgresql://u:ab@hunter2@127.0.0.1:1/d", "postgres://u:5432/hunter2@h/d",
      "postgres://u@x.iam:hunter2@h/d", "postgres://u:ab@@hunter2/d", "postgres://u:a@b?hunter2@h/d",
      "host=ab@hunter2 dbname=d", "host='ab hunter2'",
      "postgres://u:hunter2@h/d?prepared=maybe", "host=h port=0 password=hunter2", "host=h prepared=hunter2",
    ])
  func refuses(text: String) {
    #expect { try PostgresUrl(text) } throws: { fault in
      guard let fault = fault as? PostgresUrl.Fault else { return false }
      return !fault.reason.isEmpty && !fault.reason.contains("hunter2") && !"\(fault)".contains("hunter2")
    }
  }

  @Test(
    "What libpq would look at only when it connects is looked at at once, and named without its value",
    arguments: [
      ("sslmode=bogus", "sslmode"), ("sslmode=Require", "sslmode"), ("target_session_attrs=x", "target_session_attrs"),
      ("connect_timeout=abc", "connect_timeout"), ("connect_timeout=1.5", "connect_timeout"),
      ("keepalives_idle=99999999999", "keepalives_idle"), ("tcp_user_timeout=1s", "tcp_user_timeout"),
      ("channel_binding=maybe", "channel_binding"), ("gssencmode=on", "gssencmode"),
      ("ssl_min_protocol_version=TLSv9", "ssl_min_protocol_version"),
      ("ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2", "ssl_min_protocol_version"),
      ("hostaddr=db.example", "hostaddr"), ("hostaddr=127.0.0.1,127.0.0.2", "hostaddr"), ("port=1,2", "port"),
    ])
  func values(option: String, name: String) throws {
    #expect {
      try PostgresUrl("postgresql://u@h/d?" + option)
    } throws: { fault in
      guard let fault = fault as? PostgresUrl.Fault else { return false }
      let value = option.split(separator: "=").last ?? ""
      return fault.reason.contains(name) && !fault.reason.contains("\n")
        && (value == "on" || value == "x" || value.hasPrefix("TLS") || !fault.reason.contains(value))
    }
  }

  @Test("All wrong values are told in one line")
  func allValues() {
    #expect(
      throws: PostgresUrl.Fault(
        reason: "connect_timeout must be a whole number; gssencmode must be one of disable, prefer, require")
    ) { try PostgresUrl("postgresql://u@h/d?gssencmode=x&connect_timeout=y") }
  }

  @Test(
    "Values that libpq takes are taken",
    arguments: [
      "postgresql://u@h/d?sslmode=verify-full&target_session_attrs=read-write&channel_binding=require",
      "postgresql://u@h/d?connect_timeout=10&keepalives=1&keepalives_idle=-1&tcp_user_timeout=%205%20&sslmode=",
      "postgresql://u@h/d?ssl_min_protocol_version=tlsv1.2&ssl_max_protocol_version=TLSv1.3",
      "postgresql://me%40x.iam:p%40w@a:1,b,c:3/d", "postgresql://u@[::1]:5432/d", "postgresql://u@%2Frun%2Fa%40b/d",
      "postgresql:///d?host=/cloudsql/p:r:i&user=me@x.iam", "host=@abstract",
      "host=a,/run,b_c.example hostaddr=,,10.0.0.1",
      "hostaddr=fe80::1%eth0", "host=a,b port=1",
    ])
  func takes(text: String) throws { _ = try PostgresUrl(text) }

  @Test("A URL that is printed keeps its password")
  func masks() throws {
    let url = try PostgresUrl("postgres://u:hunter2@h:7000/d")
    for text in ["\(url)", String(reflecting: url), "\([url])", "\(Optional(url) as Any)"] {
      #expect(text.contains("h:7000/d") && !text.contains("hunter2"))
    }
  }

  @Test("What the operator's text says goes before our own wishes; a pooler gets no options")
  func session() throws {
    let plain = SessionSettings(try PostgresUrl("host=h"), applicationName: "push-api", statementMilliseconds: 4_500)
    #expect(plain.settings["application_name"] == "push-api")
    #expect(plain.settings["options"]?.contains("statement_timeout=5000") == true)
    let own = SessionSettings(
      try PostgresUrl("host=h application_name=x options='-c work_mem=8MB' tcp_user_timeout=1"),
      applicationName: "push-api", statementMilliseconds: 4_500)
    #expect(own.settings["application_name"] == "x" && own.settings["tcp_user_timeout"] == "1")
    #expect(own.settings["options"]?.hasSuffix("-c work_mem=8MB") == true)
    let pooled = SessionSettings(
      try PostgresUrl("host=h prepared=off"), applicationName: "a", statementMilliseconds: 4_500)
    #expect(pooled.settings["options"] == nil)
  }

  @Test("Each attempt begins at the next address")
  func addresses() {
    var list = ServerAddresses()
    list.add(host: "db", address: "::1", port: "1")
    list.add(host: "db", address: "127.0.0.1", port: "1")
    list.add(host: "/run", address: "", port: "2")
    #expect(list.settings == ["host": "db,db,/run", "hostaddr": "::1,127.0.0.1,", "port": "1,1,2"])
    #expect(list.turned(by: 4).settings == ["host": "db,/run,db", "hostaddr": "127.0.0.1,,::1", "port": "1,2,1"])
    #expect(ServerAddresses().turned(by: 3).settings.isEmpty)
  }

  @Test(
    "What may pass by itself is transient, the rest is not",
    arguments: [
      (.unreachable(""), true), (.timedOut, true), (.overloaded, true), (.closed, false),
      (.database(sqlState: "40001", message: ""), true), (.database(sqlState: "40P01", message: ""), true),
      (.database(sqlState: "53300", message: ""), true), (.database(sqlState: "55P03", message: ""), true),
      (.database(sqlState: "25006", message: ""), true), (.database(sqlState: "57P03", message: ""), true),
      (.database(sqlState: "23505", message: ""), false), (.database(sqlState: "42P01", message: ""), false),
    ] as [(PostgresFailure, Bool)])
  func transience(failure: PostgresFailure, isTransient: Bool) {
    #expect(failure.isTransient == isTransient)
  }
}
