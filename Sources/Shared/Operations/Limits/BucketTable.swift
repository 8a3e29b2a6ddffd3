package import Loop

/// Token buckets, one a key, that refill continuously. Pure: the caller brings the time.
///
/// A bucket is one number: the time at which it will be full again. Keys are bounded; the one that was used longest ago
/// goes first, and comes back full (rulings 1.12).
package struct BucketTable<Key: Hashable> {
  package enum Answer: Equatable, Sendable {
    case ok
    /// Nothing was taken; whole seconds until there will be something, at least 1.
    case wait(seconds: Int)
  }

  private struct Entry {
    let key: Key
    /// In ns on the monotonic clock.
    var fullAt: UInt64
    /// Places of the neighbours in order of use, -1 for none.
    var older = -1
    var newer = -1
  }

  private let refill: UInt64
  private let depth: UInt64
  private let keyLimit: Int
  private var places: [Key: Int] = [:]
  private var entries: [Entry] = []
  private var oldest = -1
  private var newest = -1

  /// - Parameters:
  ///   - amount: what a full bucket holds, which is also what it regains in a minute; 1 to 60,000.
  ///   - keyLimit: how many keys are remembered, at least 1.
  package init(perMinute amount: Int, keyLimit: Int = 10_000) {
    precondition((1...60_000).contains(amount) && keyLimit > 0)
    refill = 60_000_000_000 / UInt64(amount)
    depth = refill * UInt64(amount)
    self.keyLimit = keyLimit
  }

  /// Keys that are remembered.
  package var count: Int { entries.count }

  /// Takes one from the bucket of `key`.
  package mutating func take(_ key: Key, now: Monotonic) -> Answer {
    let fullAt = fullAt(key, now)
    let answer = answer(fullAt, now)
    remember(key, fullAt: answer == .ok ? fullAt + refill : fullAt)
    return answer
  }

  /// What `take` would say, taking nothing.
  package func check(_ key: Key, now: Monotonic) -> Answer { answer(fullAt(key, now), now) }

  private func fullAt(_ key: Key, _ now: Monotonic) -> UInt64 {
    max(places[key].map { entries[$0].fullAt } ?? 0, now.nanoseconds)
  }

  private func answer(_ fullAt: UInt64, _ now: Monotonic) -> Answer {
    let missing = fullAt - now.nanoseconds + refill
    return missing <= depth ? .ok : .wait(seconds: Int((missing - depth + 999_999_999) / 1_000_000_000))
  }

  private mutating func remember(_ key: Key, fullAt: UInt64) {
    let place: Int
    if let known = places[key] {
      place = known
      unlink(place)
      entries[place].fullAt = fullAt
    } else if entries.count < keyLimit {
      place = entries.count
      entries.append(Entry(key: key, fullAt: fullAt))
    } else {
      place = oldest
      unlink(place)
      places[entries[place].key] = nil
      entries[place] = Entry(key: key, fullAt: fullAt)
    }
    places[key] = place
    linkAsNewest(place)
  }

  private mutating func unlink(_ place: Int) {
    let (older, newer) = (entries[place].older, entries[place].newer)
    if older >= 0 { entries[older].newer = newer } else { oldest = newer }
    if newer >= 0 { entries[newer].older = older } else { newest = older }
  }

  private mutating func linkAsNewest(_ place: Int) {
    entries[place].older = newest
    entries[place].newer = -1
    if newest >= 0 { entries[newest].newer = place } else { oldest = place }
    newest = place
  }
}
