internal import Json

/// What was shown and what was dismissed, of late: at most 4,096 records, each kept for seven days. Pure.
struct HistoryRecords {
  static let most = 4_096
  static let life: Int64 = 7 * 86_400_000

  /// One line of the journal.
  struct Entry: Equatable {
    enum Kind: String { case shown, dismissed }
    let kind: Kind
    let identity: PushIdentity
    /// ms since 1970.
    let at: Int64
  }

  /// What is about the same thing in the same epoch is one record.
  private struct Key: Hashable {
    let epoch: String
    let notificationId: String
  }

  private struct Record {
    /// The highest number that was sent.
    var shown: Int64?
    /// Up to which number it was dismissed.
    var fence: Int64?
    var at: Int64
    /// Rises with each change: what changed longest ago goes first.
    var order: Int
  }

  private var records: [Key: Record] = [:]
  private var changes = 0

  var count: Int { records.count }

  mutating func add(_ entry: Entry) {
    let key = Key(epoch: entry.identity.epoch, notificationId: entry.identity.notificationId)
    if records[key] == nil, records.count >= Self.most,
      let oldest = records.min(by: { $0.value.order < $1.value.order })
    {
      records[oldest.key] = nil
    }
    changes += 1
    var record = records[key] ?? Record(at: entry.at, order: changes)
    record.at = max(record.at, entry.at)
    record.order = changes
    let seq = entry.identity.seq
    switch entry.kind {
    case .shown: record.shown = max(record.shown ?? seq, seq)
    case .dismissed: record.fence = max(record.fence ?? seq, seq)
    }
    records[key] = record
  }

  mutating func forget(before now: Int64) {
    records = records.filter { now - $0.value.at < Self.life }
  }

  /// Whether this push was dismissed. What is unknown, of another epoch, or newer than the dismissal was not.
  func isDismissed(_ identity: PushIdentity, now: Int64) -> Bool {
    guard let record = records[Key(epoch: identity.epoch, notificationId: identity.notificationId)],
      let fence = record.fence, now - record.at < Self.life
    else { return false }
    return identity.seq <= fence
  }

  /// The entries that give the same records again, oldest first.
  var entries: [Entry] {
    records.sorted { $0.value.order < $1.value.order }.flatMap { key, record in
      [(Entry.Kind.shown, record.shown), (.dismissed, record.fence)].compactMap { kind, seq in
        seq.map {
          let identity = PushIdentity(notificationId: key.notificationId, epoch: key.epoch, seq: $0)
          return Entry(kind: kind, identity: identity, at: record.at)
        }
      }
    }
  }
}

extension HistoryRecords.Entry {
  /// One line, with its end.
  var line: [UInt8] {
    var text = JsonText()
    text.object {
      $0.member("k", kind.rawValue)
      $0.member("n", identity.notificationId)
      $0.member("e", identity.epoch)
      $0.member("s", identity.seq)
      $0.member("t", at)
    }
    return text.bytes + [UInt8(ascii: "\n")]
  }

  /// Reads a line without its end; nil for one that was cut short, or any other.
  init?(line: [UInt8]) {
    guard let json = try? JsonReader.read(line), let kind = json["k"]?.string.flatMap(Kind.init(rawValue:)),
      let id = json["n"]?.string, let epoch = json["e"]?.string, let seq = json["s"]?.integer,
      let at = json["t"]?.integer
    else { return nil }
    self.init(kind: kind, identity: PushIdentity(notificationId: id, epoch: epoch, seq: seq), at: at)
  }
}
