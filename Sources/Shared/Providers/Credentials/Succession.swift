/// Which credential sends while another is to take over from it. Pure: told what became of deliveries, it says who is next.
///
/// The new one is tried with a single delivery, and the others go with the old one meanwhile. It takes over when the
/// provider takes it. When the provider refuses it, the old one stays; the new one is tried again only when the old
/// one is refused as well, since then there is nothing to lose.
struct Succession<Member> {
  /// One attempt of the new credential.
  struct Trial {
    let member: Member
    fileprivate let number: Int
  }

  private enum Standing {
    case untried
    case onTrial
    case refused(String)
  }

  private(set) var current: Member
  private var next: (member: Member, standing: Standing, number: Int)?
  private var count = 0

  init(_ member: Member) { current = member }

  var successor: Member? { next?.member }

  var isOnTrial: Bool { if case .onTrial = next?.standing { true } else { false } }

  /// Why the provider refused the successor, when it did.
  var refusal: String? { if case .refused(let reason) = next?.standing { reason } else { nil } }

  /// Another credential is to take over. Gives back the successor whose place it takes, if there was one.
  mutating func stage(_ member: Member) -> Member? {
    defer {
      count += 1
      next = (member, .untried, count)
    }
    return next?.member
  }

  /// The successor, when the next delivery is to try it.
  mutating func beginTrial() -> Trial? {
    guard let next, case .untried = next.standing else { return nil }
    self.next?.standing = .onTrial
    return Trial(member: next.member, number: next.number)
  }

  /// The provider took the successor's delivery: it sends from now on. Gives back the one that it follows.
  mutating func passed(_ trial: Trial) -> Member? {
    guard next?.number == trial.number else { return nil }
    let old = current
    current = trial.member
    next = nil
    return old
  }

  /// The provider refused the successor. True when that is news.
  mutating func refused(_ trial: Trial, _ reason: String) -> Bool {
    guard next?.number == trial.number else { return false }
    next?.standing = .refused(reason)
    return true
  }

  /// The trial says nothing about the credential: the next delivery tries again.
  mutating func undecided(_ trial: Trial) {
    if next?.number == trial.number { next?.standing = .untried }
  }

  /// The provider refused the present credential: a successor that it refused before may try again.
  mutating func currentRefused() {
    if refusal != nil { next?.standing = .untried }
  }
}
