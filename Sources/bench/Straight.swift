internal import Contract
internal import Keys
internal import Loop
internal import Stores

/// Admits, claims and settles in one process, straight into SQLite: the same transactions as three programs make,
/// without what lies between them.
@LoopActor
struct Straight {
  let folder: String
  /// Hosts 1 to so many are in the store, each with the registrations `r<host>a` and `r<host>b`.
  let hosts: Int64
  let sends: Int
  /// Sends in one transaction, 1 to 64.
  let group: Int

  /// Absent when a word is missing or out of bounds.
  init?(_ words: [String]) {
    guard words.count == 4, let hosts = Int64(words[1]), hosts > 0, let sends = Int(words[2]), sends > 0,
      let group = Int(words[3]), (1...64).contains(group)
    else { return nil }
    folder = words[0]
    self.hosts = hosts
    self.sends = sends
    self.group = group
  }

  /// What a run gave, as a line of JSON: seconds, from the first admission to the last settlement.
  func run() async throws -> String {
    let store = try await SQLiteStore(directory: folder)
    let payload = Array(Self.payload.utf8)
    let fingerprint = HostFingerprint(String(repeating: "A", count: HostFingerprint.length))
    guard let fingerprint else { throw BenchFailure("no fingerprint") }
    let began = Monotonic.now
    var sent = 0
    var settled = 0
    var marks = LowWater.bottom
    while settled < sends * 2 {
      if sent < sends {
        let numbers = sent..<min(sends, sent + group)
        _ = try await store.admit(
          numbers.map { number in
            let host = Int64(number) % hosts + 1
            return Admission(
              host: Host(number: host, fingerprint: fingerprint), registrationIds: ["r\(host)a", "r\(host)b"],
              kind: .alert,
              seq: Int64(number), eventKey: Self.key(number), fenceKey: Self.key(number),
              contentDigest: Self.key(number),
              payload: payload,
              isSilent: false, expiresAt: nil)
          })
        sent = numbers.upperBound
      }
      let claim = try await store.claim(
        .apnsProduction, owner: 1, limit: ClaimLimit(batches: group), lease: 30_000, from: marks)
      // An empty claim below the end is the mark's doing: look at everything once.
      marks = claim.deliveries.isEmpty ? .bottom : claim.lowWater
      if claim.deliveries.isEmpty { continue }
      _ = try await store.settle(
        claim.deliveries.map {
          Settlement(
            batch: $0.batch, device: $0.device, verdict: .ended(.sent, detail: "00000000-0000-0000-0000-000000000000"),
            attempt: .answered)
        }, owner: 1)
      settled += claim.deliveries.count
    }
    return "{\"seconds\":\(Double(Monotonic.now.milliseconds(since: began)) / 1_000)}"
  }

  /// 16 bytes that differ for each number.
  private static func key(_ number: Int) -> [UInt8] { Array(Sha256.digest("\(number)").prefix(16)) }

  private static let payload =
    #"{"notificationId":"n-1","notificationSeq":1,"notificationEpoch":"epoch","source":"agent-task-complete","#
    + #""agentState":"finished","title":"The build is green again","body":""# + String(repeating: "x", count: 120)
    + #""}"#
}
