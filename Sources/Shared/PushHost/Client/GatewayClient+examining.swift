internal import Contract

/// One thing that was looked at.
public struct Finding: Equatable, Sendable {
  /// What was looked at, in this order; the first that is not well ends the walk, but for the clock.
  public enum Step: String, Sendable, CaseIterable {
    /// Whether something answers, by TLS that is trusted, as a gateway does.
    case connection
    /// Whether this machine's clock agrees with the gateway's.
    case clock
    /// Whether the challenge is for this host, from the gateway that it means.
    case proof
    /// Whether the gateway takes the proof.
    case session
    /// Whether the session is good for anything.
    case devices
  }

  /// What was looked at.
  public let step: Step
  /// Whether it is as it should be.
  public let isWell: Bool
  /// What was seen, and what to do where it is not well.
  public let message: String
}

extension GatewayClient {
  /// How far the clocks may be apart, ms (contract, "Host authentication").
  private static let skew: Int64 = 30_000

  /// Walks from the connection to a session and back, and says what is wrong. It proves anew, whatever is kept or remembered.
  public func examine() async -> [Finding] {
    var findings = await examineProof()
    guard findings.last?.step == .session, findings.last?.isWell == true else { return findings }
    switch await devices() {
    case .success(let phones):
      let dead = phones.filter(\.isDead)
      if dead.isEmpty {
        findings.append(.well(.devices, "\(phones.count) registered, none of them dead"))
      } else {
        let names = dead.map(\.deviceId).joined(separator: ", ")
        findings.append(
          .fault(.devices, "\(phones.count) registered, of which no push reaches \(names): register anew, or let go"))
      }
    case .failure(let error): findings.append(.fault(.devices, advice(error)))
    }
    return findings
  }

  private func examineProof() async -> [Finding] {
    // What it gets takes the place of a session that other processes may be using.
    let turn = await takeTurn()
    defer { turn?.release() }
    var findings: [Finding] = []
    var step = Finding.Step.connection
    do throws(GatewayFault) {
      let challenge = try await exchange(HttpCall("POST", "/v1/host/challenge", body: Requests.challenge(keys)))
      let now = clock.wall()
      let expiresAt = try challenge.members().integer("expiresAt")
      findings.append(.well(.connection, "\(origin) answers as a gateway"))

      // A challenge lives for 10 s, so its end tells the gateway's time.
      let ahead = now - (expiresAt - Limits.challengeLife)
      if abs(ahead) > Self.skew {
        let off = "\(abs(ahead) / 1000) s \(ahead > 0 ? "ahead" : "behind")"
        findings.append(.fault(.clock, "this machine's clock is \(off): set it right"))
      } else {
        findings.append(.well(.clock, "within \(abs(ahead) / 1000 + 1) s of the gateway's"))
      }

      step = .proof
      let (id, proof) = try challenge.answer(origin: origin, keys: keys, now: now)
      findings.append(.well(.proof, "the challenge is for this host, from this gateway"))
      step = .session
      let answer = try await exchange(HttpCall("POST", "/v1/host/session", body: Requests.session(id, proof)))
      await keep(try answer.session(origin: origin, keys: keys, now: clock.wall()))
      findings.append(.well(.session, "the gateway took the proof"))
    } catch {
      findings.append(.fault(step, advice(error)))
    }
    return findings
  }

  private func advice(_ fault: GatewayFault) -> String {
    let what = fault.description(at: origin)
    return switch fault {
    case .unreachable(.unknownName): "\(what). Is it spelled right, is there a network?"
    case .unreachable(.refused): "\(what). Is the port right, does the gateway run?"
    case .unreachable(.noConnection), .unreachable(.deadline):
      "\(what). Is the address right, is there a network, does a proxy or firewall stand between?"
    case .unreachable(.tls(.outdated)): "\(what). Is this machine's clock right?"
    case .unreachable(.tls(.noAgreement)): "\(what). Are scheme and port right?"
    case .unreachable(.tls): "\(what). Is the address right, does something on the way open TLS?"
    case .unreachable(.garbled): "\(what): is the address right, is there a sign-in page on the way?"
    case .unreachable(.serverFault(_, nil)):
      "\(what): is the address right, does a proxy stand before a gateway that is down?"
    case .unreachable(.serverFault(_, "validation_only")):
      "\(what): whoever runs it has put it in validation mode (ORCA_PUSH_MODE), in which it sends nothing"
    case .rejected(let why) where why.detail?.contains("gatewayOrigin") == true:
      "\(what): the gateway calls itself by another address; use that one (its ORCA_PUSH_PUBLIC_URL)"
    case .rejected(let why) where why.reason == "redirect":
      "\(what): use the address that it leads to, if you trust it"
    case .rejected(let why) where why.isNoGateway: "\(what): is the address right, is there a sign-in page on the way?"
    default: what
    }
  }
}

extension Finding {
  fileprivate static func well(_ step: Step, _ message: String) -> Finding {
    Finding(step: step, isWell: true, message: message)
  }

  fileprivate static func fault(_ step: Step, _ message: String) -> Finding {
    Finding(step: step, isWell: false, message: message)
  }
}
