internal import Contract
internal import Json
internal import Loop
internal import Operations
internal import Stores

/// Tells an operator what became of an event at each phone. Reads alone, so it may be asked while everything runs; prints
/// no token, no text, and 4 characters of a fingerprint.
@LoopActor
struct Explain {
  private let prefix: String
  private let epoch: String
  private let seq: Int64
  private let isJson: Bool

  /// - Parameter arguments: what follows `explain`. An epoch may be any text, so the option comes last.
  init(_ arguments: some Collection<String>) throws(ProgramFailure) {
    var words = Array(arguments)
    isJson = words.count == 4 && words[3] == "--json"
    if isJson { words.removeLast() }
    guard words.count == 3 else { throw ProgramFailure(.usage, Janitor.usage) }
    guard HostFingerprint.isPrefix(words[0]) else {
      throw ProgramFailure(.usage, "HOST must be 4 to 16 characters of a fingerprint: A-Z a-z 0-9 _ -")
    }
    guard OpaqueId.isValid(words[1]) else {
      throw ProgramFailure(.usage, "EPOCH must have 1 to 128 characters, none of them a control character")
    }
    guard let number = DeliveriesRequest.integer(words[2]) else {
      throw ProgramFailure(.usage, "SEQ must be an integer from 0 to 9007199254740991")
    }
    prefix = words[0]
    epoch = words[1]
    seq = number
  }

  func run(_ configuration: JanitorConfiguration) async throws(ProgramFailure) {
    let database = try await OpenRecords(configuration.database, program: "janitor")
    let result: Result<(Host, [DeliveryRecord]), ProgramFailure>
    do throws(ProgramFailure) { result = .success(try await look(database.records)) } catch { result = .failure(error) }
    await database.close()
    let (host, records) = try result.get()
    if isJson {
      var text = JsonText()
      text.object {
        $0.member("host", host.fingerprint.description)
        $0.array("deliveries") { list in
          for record in records { record.write(to: &list) }
        }
      }
      print(String(decoding: text.bytes, as: UTF8.self))
    } else {
      print("host \(host.fingerprint), seq \(seq)\n")
      print(RecordTable.text(records))
    }
  }

  private func look(_ store: any RecordStore) async throws(ProgramFailure) -> (Host, [DeliveryRecord]) {
    let hosts = try await ask { () async throws(StoreFailure) in try await store.hosts(prefix: prefix, limit: 2) }
    guard let host = hosts.first else { throw ProgramFailure(.notFound, "no host's fingerprint begins so") }
    if hosts.count > 1 {
      throw ProgramFailure(.ambiguous, "several hosts' fingerprints begin so: give more characters")
    }
    let keys = Notification.Kind.allCases.map { EventKeys.event(kind: $0, epoch: epoch, seq: seq) }
    let records = try await ask { () async throws(StoreFailure) in try await store.records(of: host, events: keys) }
    if records.isEmpty {
      throw ProgramFailure(
        .notFound, "host \(host.fingerprint) sent no such event to a phone of its own within 24 hours")
    }
    return (host, records)
  }

  private func ask<T>(_ question: () async throws(StoreFailure) -> T) async throws(ProgramFailure) -> T {
    do { return try await question() } catch {
      throw ProgramFailure(.unavailable, "the database cannot be read: \(error.reason)")
    }
  }
}
