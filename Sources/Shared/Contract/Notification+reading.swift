package import Json

extension Notification {
  /// Reads the `notification` of a send by the contract's rules and rulings 1.6 and 1.8.
  package init(request value: JsonValue) throws(InvalidRequest) {
    var members = try Members(value, prefix: "notification.")
    try self.init(&members, agentStateRequired: true)
    try members.end()
    if kind == .dismiss, notificationId == nil {
      throw members.fault("notificationId", "is missing: a dismissal needs it")
    }
    if JsonText.render(value).count > Limits.notificationBytes {
      throw InvalidRequest("notification must have at most 3000 bytes as compact JSON")
    }
  }

  /// Reads back what `stored` wrote.
  package init(stored bytes: [UInt8]) throws(InvalidRequest) {
    let value: JsonValue
    do { value = try JsonReader.read(bytes) } catch { throw InvalidRequest("the stored notification cannot be read") }
    var members = try Members(value, prefix: "notification.")
    try self.init(&members, agentStateRequired: false)
    try members.end()
  }

  private init(_ members: inout Members, agentStateRequired: Bool) throws(InvalidRequest) {
    statedKind = try members.optionalWord("kind", Kind.self)
    notificationId = try members.optionalText("notificationId", 1...Limits.routingText)
    seq = try members.integer("notificationSeq")
    epoch = try members.opaqueId("notificationEpoch")
    guard let source = try members.optionalWord("source", Source.self) else {
      throw members.fault("source", "is missing")
    }
    self.source = source
    agentState = try Self.agentState(&members, required: agentStateRequired)
    title = try members.text("title", 1...Limits.title)
    body = try members.text("body", 0...Limits.body)
    worktreeId = try members.optionalText("worktreeId", 1...Limits.routingText)
    paneKey = try members.optionalText("paneKey", 1...Limits.routingText)
    executionHost = try members.optionalText("executionHost", 1...Limits.routingText)
    expiresAt = try members.optionalInteger("expiresAt")
    sound = try members.optionalBool("sound")
    if let notificationId, !notificationId.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
      throw members.fault("notificationId", "must be printable ASCII")
    }
    if let executionHost, !Self.isExecutionHost(executionHost) {
      throw members.fault("executionHost", "must be runtime: and a name without | or white space")
    }
  }

  private static func agentState(_ members: inout Members, required: Bool) throws(InvalidRequest) -> AgentState? {
    guard let value = members.optional("agentState") else {
      if required { throw members.fault("agentState", "is missing") }
      return nil
    }
    if case .null = value { return nil }
    return try members.word("agentState", value, AgentState.self, others: ["null"])
  }

  /// `^runtime:[^|\s]+$`, where \s is what hosts' regular expressions call white space.
  private static func isExecutionHost(_ text: String) -> Bool {
    let prefix = "runtime:"
    guard text.utf8.starts(with: prefix.utf8), text.utf8.count > prefix.utf8.count else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "|", "\u{feff}": false
      // White space to Unicode, but not to those expressions.
      case "\u{85}": true
      default: !scalar.properties.isWhitespace
      }
    }
  }
}

extension Members {
  mutating func optionalWord<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type
  ) throws(InvalidRequest) -> Word? where Word.RawValue == String {
    guard let value = optional(name) else { return nil }
    return try word(name, value, type)
  }

  /// - Parameter others: what the member may be beside the words, for the refusal to name.
  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ value: JsonValue, _ type: Word.Type, others: [String] = []
  ) throws(InvalidRequest) -> Word where Word.RawValue == String {
    if case .string(let text) = value,
      let word = type.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) })
    {
      return word
    }
    throw fault(name, "must be one of \((type.allCases.map(\.rawValue) + others).joined(separator: ", "))")
  }
}
