internal import Foundation
internal import Json

/// What tells one event from all others of a host.
public struct EventNumber: Equatable, Sendable {
  /// Names the run of the counter.
  public let epoch: String
  /// Rises by one with each event.
  public let seq: Int64

  /// An event of this host's.
  public init(epoch: String, seq: Int64) {
    self.epoch = epoch
    self.seq = seq
  }
}

extension StateFolder {
  /// The number of the next event, for a host that keeps no count of its own. No two callers get the same, whatever is
  /// killed when.
  public func nextEvent() async throws(StateFault) -> EventNumber {
    let file = counterFile
    return try await locked { () throws(StateFault) in
      let last = try Self.number(in: file)
      let number = EventNumber(epoch: last?.epoch ?? UUID().uuidString.lowercased(), seq: (last?.seq ?? 0) + 1)
      var text = JsonText()
      text.object {
        $0.member("epoch", number.epoch)
        $0.member("seq", number.seq)
      }
      try file.replace(with: text.bytes)
      return number
    }
  }

  /// The number that was given last; nil when none was.
  public func lastEvent() async throws(StateFault) -> EventNumber? {
    let file = counterFile
    return try await blocking { () throws(StateFault) in try Self.number(in: file) }
  }

  private var counterFile: DurableFile { file("counter.json") }

  /// What the file says; nil for one that is not there or cannot be read, so that a new epoch begins.
  private static func number(in file: DurableFile) throws(StateFault) -> EventNumber? {
    guard let content = try file.read(limit: 4_096), let json = try? JsonReader.read(content),
      let epoch = json["epoch"]?.string, let seq = json["seq"]?.integer, !epoch.isEmpty, (0..<1 << 50).contains(seq)
    else { return nil }
    return EventNumber(epoch: epoch, seq: seq)
  }
}
