import Foundation
import Json
import PushHost

extension Host {
  /// Makes the key, once.
  func keygen() async throws(Failure) {
    let keys: HostKeys
    let isNew: Bool
    do throws(StateFault) {
      isNew = try await state.keys() == nil
      keys = try await state.keysOrNew()
    } catch {
      throw Failure(error)
    }
    let lines = [
      isNew ? "Made a key in \(state.path)." : "There is a key in \(state.path) already; it stays.",
      "fingerprint \(keys.fingerprint)", "public key  \(keys.publicKeyBase64)",
    ]
    output.tell(lines) {
      $0.member("created", isNew)
      $0.member("hostFingerprint", keys.fingerprint)
      $0.member("hostPublicKeyB64", keys.publicKeyBase64)
    }
  }

  /// Registers a phone.
  func register(_ invocation: Invocation) async throws(Failure) {
    let deviceId = invocation.arguments[0]
    let platform = try invocation.required("platform")
    let token = try Input.text(try invocation.required("token-file"))
    let pushToken: PhoneToken
    if platform == "ios" {
      let environment = invocation["apns-environment"].flatMap(PhoneToken.Environment.init(rawValue:))
      pushToken = .ios(token, environment ?? .production)
    } else {
      guard invocation["apns-environment"] == nil else { throw Failure.usage("--apns-environment is for ios") }
      pushToken = .android(token)
    }
    var secret: DeviceSecret?
    if let file = invocation["secret-file"] {
      var bytes = try Input.bytes(file)
      // The newline that editors leave is no part of a secret.
      if bytes.last == 10 { bytes.removeLast() }
      secret = DeviceSecret(bytes)
      if secret == nil { throw Failure(.input, "input", "\(file.plain) must hold a secret of 1 to 1024 bytes") }
    }
    let preferences = PhonePreferences(awayOnly: !invocation.has("always"), sound: !invocation.has("silent"))
    let wish = RegistrationParameters(token: pushToken, preferences: preferences)
    let address = try address()
    let phones = try await phones()
    let outcome = await output.during("Registering") {
      await phones.register(deviceId: deviceId, wish, secret: secret)
    }
    await finish(phones)
    switch outcome {
    case .registered(let id):
      output.tell(["Registered \(deviceId.plain) at \(address.plain): \(id.plain)"]) {
        $0.member("registered", true)
        $0.member("gateway", address)
        $0.member("registrationId", id)
      }
    case .refused(_, .some(let fault)): throw Failure(fault, at: address)
    case .refused(let refusal, nil): throw Failure(.state, refusal.rawValue, "not registered: \(refusal.rawValue)")
    }
  }

  /// Lets a phone go.
  func unregister(_ invocation: Invocation) async throws(Failure) {
    let deviceId = invocation.arguments[0]
    let phones = try await phones()
    let wasThere: Bool
    switch await phones.unregister(deviceId: deviceId) {
    case .success(let answer): wasThere = answer
    case .failure(let fault): throw Failure(fault)
    }
    let isClear = await output.during("Telling the gateway") { await phones.drain() }
    await phones.close()
    if !wasThere { throw Failure(.input, "unknown_device", "no phone \(deviceId.plain) is registered here") }
    let line =
      isClear
      ? "Unregistered \(deviceId.plain)."
      : "Unregistered \(deviceId.plain) here. The gateway could not be told yet: each further command tries again."
    output.tell([line]) {
      $0.member("unregistered", true)
      $0.member("gatewayTold", isClear)
    }
  }

  /// Lists the phones.
  func devices() async throws(Failure) {
    let address = try address()
    let phones = try await phones()
    let gateway = try await gateway()
    await finish(phones)
    let listed: [ListedPhone]
    switch await output.during("Asking the gateway", { await gateway.devices() }) {
    case .success(let found): listed = found
    case .failure(let fault): throw Failure(fault, at: address)
    }
    let kept: [Registration]
    switch await phones.all() {
    case .success(let found): kept = found
    case .failure(let fault): throw Failure(fault)
    }
    let rows = Row.merge(kept, listed, now: Int64(Date().timeIntervalSince1970 * 1000))
    output.tell(rows.isEmpty ? ["No phone is registered at \(address.plain)."] : rows.map(\.line)) {
      $0.member("gateway", address)
      $0.array("devices") { text in for row in rows { text.object { row.write(&$0) } } }
    }
  }
}

/// A phone as this host and the gateway know it.
private struct Row {
  let deviceId: String
  let platform: String
  let registrationId: String
  let kept: Registration?
  let listed: ListedPhone?
  let now: Int64

  static func merge(_ kept: [Registration], _ listed: [ListedPhone], now: Int64) -> [Row] {
    let ours = kept.map { phone in
      Row(
        deviceId: phone.deviceId, platform: phone.platform, registrationId: phone.registrationId, kept: phone,
        listed: listed.first { $0.registrationId == phone.registrationId }, now: now)
    }
    let others = listed.filter { row in !kept.contains { $0.registrationId == row.registrationId } }
    return ours
      + others.map {
        Row(
          deviceId: $0.deviceId, platform: $0.platform, registrationId: $0.registrationId, kept: nil, listed: $0,
          now: now)
      }
  }

  /// `ok`, or what keeps pushes from arriving.
  var state: String {
    guard let kept else { return "unknown_here" }
    guard let listed else { return "unknown_there" }
    if listed.isDead { return "dead" }
    return kept.isLive(at: now) ? "ok" : "lease_over"
  }

  var line: String {
    var words = [deviceId.plain, platform.plain, registrationId.plain, state]
    if let kept {
      words.append("\(max(0, (kept.expiresAt - now) / 86_400_000)) days left")
      if !kept.preferences.sound { words.append("silent") }
      if !kept.preferences.awayOnly { words.append("always") }
      if kept.secret != nil { words.append("sealed") }
    }
    return words.joined(separator: "  ")
  }

  func write(_ text: inout JsonText) {
    text.member("deviceId", deviceId)
    text.member("platform", platform)
    text.member("registrationId", registrationId)
    text.member("state", state)
    if let kept {
      text.member("expiresAt", kept.expiresAt)
      text.member("sound", kept.preferences.sound)
      text.member("awayOnly", kept.preferences.awayOnly)
      text.member("sealed", kept.secret != nil)
    }
  }
}
