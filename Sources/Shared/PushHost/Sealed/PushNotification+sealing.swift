internal import Contract
internal import Json
internal import Proof

extension PushNotification {
  private static let idPrefix = "e2e1."
  private static let panePrefix = "e2e1:"
  /// Characters of an id's or an epoch's stand-in, after the prefix.
  private static let standInLength = 32
  /// How many bytes of JSON fit: `paneKey` has at most 2048 characters, and base64 makes 4 of 3 bytes.
  static let sealedCapacity =
    (Limits.routingText - panePrefix.utf8.count) / 4 * 3 - PushSeal.nonceLength - PushSeal.overhead

  /// The same for one phone's eyes alone: gateway, Apple and Google see kind, number, source, state and a generic title.
  ///
  /// Title, body, worktree, id and epoch are sealed into `paneKey`: `e2e1:` and base64 of a nonce of 24 bytes and NaCl's
  /// secretbox of a JSON object (`t`, `b`, `w`, `n`, `e`). Id and epoch on the wire are stand-ins that host and phone can
  /// work out, so that a dismissal finds its alert. What does not fit goes: the body from its end, then the worktree.
  public func sealed(with secret: DeviceSecret) -> PushNotification {
    sealed(with: secret, nonce: PushSeal.freshNonce())
  }

  func sealed(with secret: DeviceSecret, nonce: [UInt8]) -> PushNotification {
    let seal = PushSeal(deviceSecret: secret.bytes)
    var sealed = PushNotification(
      id: id.map { Self.standIn(seal, "id:", $0) }, seq: seq, epoch: Self.standIn(seal, "epoch:", epoch),
      source: source,
      title: EventRules.genericTitle(agentState))
    sealed.isDismissal = isDismissal
    sealed.agentState = agentState
    sealed.expiresAt = expiresAt
    sealed.sound = sound
    sealed.paneKey = Self.panePrefix + Base64.encode(nonce + seal.seal(fittingContent, nonce: nonce))
    return sealed
  }

  /// The epoch that a sealed phone's pushes have on the wire.
  static func sealedEpoch(_ epoch: String, for secret: DeviceSecret) -> String {
    standIn(PushSeal(deviceSecret: secret.bytes), "epoch:", epoch)
  }

  private static func standIn(_ seal: PushSeal, _ use: String, _ value: String) -> String {
    idPrefix + Base64Url.encode(seal.tag(use + value)).prefix(standInLength)
  }

  /// The JSON that is sealed, as much of it as fits.
  private var fittingContent: [UInt8] {
    let id = carriesId ? id : nil
    if isDismissal { return Self.content(title: nil, body: nil, worktree: nil, id: id, epoch: epoch) }
    for worktree in worktreeId == nil ? [nil] : [worktreeId, nil] {
      let fits = { (body: String?) -> [UInt8]? in
        let content = Self.content(title: title, body: body, worktree: worktree, id: id, epoch: epoch)
        return content.count <= Self.sealedCapacity ? content : nil
      }
      if body.isEmpty {
        if let content = fits(nil) { return content }
        continue
      }
      if let content = fits(body) { return content }
      var shorter = Substring(body)
      while !shorter.isEmpty {
        shorter.removeLast()
        if let content = fits(shorter.isEmpty ? nil : String(shorter) + "…") { return content }
      }
    }
    // Title and epoch alone always fit: 80 and 128 characters of at most six bytes each.
    return Self.content(title: title, body: nil, worktree: nil, id: id, epoch: epoch)
  }

  /// Depends on id and epoch alone, so that a dismissal carries the id exactly when its alert did: there must be room for
  /// it beside the longest title that there could be.
  private var carriesId: Bool {
    let longest = String(repeating: "\u{1}", count: Limits.title)
    return Self.content(title: longest, body: nil, worktree: nil, id: id, epoch: epoch).count <= Self.sealedCapacity
  }

  private static func content(title: String?, body: String?, worktree: String?, id: String?, epoch: String) -> [UInt8] {
    var text = JsonText()
    text.object {
      $0.member("t", ifPresent: title)
      $0.member("b", ifPresent: body)
      $0.member("w", ifPresent: worktree)
      $0.member("n", ifPresent: id)
      $0.member("e", epoch)
    }
    return text.bytes
  }
}
