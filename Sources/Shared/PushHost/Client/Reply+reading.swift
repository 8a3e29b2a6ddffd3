internal import Contract
internal import Json

extension HttpReply {
  /// What the status says, unless it is the one that was hoped for.
  func fault(expecting status: Int) -> GatewayFault? {
    switch self.status {
    case status: nil
    case 300..<400: .rejected(Rejection(status: self.status, reason: "redirect", detail: "redirects are not followed"))
    case 429: .throttled(retryAfter: seconds)
    case 400..<500: .rejected(Rejection(status: self.status, reason: code ?? "http", detail: detail))
    case 500..<600: .unreachable(.serverFault(status: self.status, code: code))
    default: .unreachable(.garbled)
    }
  }

  /// `Retry-After` in seconds, 1 to 3600; 60 where nothing sensible is said.
  private var seconds: Int {
    guard let retryAfter, let seconds = Int(retryAfter), seconds >= 0 else { return 60 }
    return min(max(seconds, 1), 3_600)
  }

  private var json: JsonValue? { try? JsonReader.read(body, maxMembers: 2_000) }

  /// The code in an error's body; nil for anything that does not look like one.
  private var code: String? {
    guard let code = json?["error"]?.string, (1...40).contains(code.utf8.count),
      code.utf8.allSatisfy({ (97...122).contains($0) || $0 == UInt8(ascii: "_") })
    else { return nil }
    return code
  }

  /// The detail in an error's body, if it is one line of plain text.
  private var detail: String? {
    guard let detail = json?["detail"]?.string, (1...200).contains(detail.utf8.count),
      detail.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
    else { return nil }
    return detail
  }

  /// Whether a 404 is the gateway's own: an event that it does not know.
  var isUnknownEvent: Bool { status == 404 && code == ErrorCode.notFound.rawValue }

  /// The members of a success; a fault for any other status, and for what is no JSON object.
  func members(expecting status: Int = 200) throws(GatewayFault) -> JsonObject {
    if let fault = fault(expecting: status) { throw fault }
    guard let object = json?.object else { throw .unreachable(.garbled) }
    return object
  }
}

extension JsonObject {
  /// A member that must be a text of 1 to `limit` UTF-16 units.
  func text(_ name: String, limit: Int = Limits.opaqueId) throws(GatewayFault) -> String {
    guard let text = self[name]?.string, (1...limit).contains(text.utf16.count) else { throw .unreachable(.garbled) }
    return text
  }

  /// A member that must be an integer of the contract's range.
  func integer(_ name: String) throws(GatewayFault) -> Int64 {
    guard let integer = self[name]?.integer, (0...Limits.integer).contains(integer) else {
      throw .unreachable(.garbled)
    }
    return integer
  }

  /// Throws when there are others than these: what is proved on must hold exactly what the contract says.
  func only(_ names: Set<String>) throws(GatewayFault) {
    guard members.allSatisfy({ names.contains($0.key) }) else { throw .unreachable(.garbled) }
  }
}
