/// What waits for the next commits, host by host, so that no host's burst keeps the others out. Pure.
///
/// A host whose sends are in a commit under way is left out of the next: its sends keep their order, and two commits never
/// wait for each other.
struct AdmissionQueue<Element> {
  /// Bounds of the queue and of what is taken at once.
  struct Limits {
    /// Sends that one commit takes.
    var group = 64
    /// Of one host in one commit.
    var groupPerHost = 4
    /// Sends that wait.
    var waiting = 1_024
    /// Of one host.
    var waitingPerHost = 64
  }

  private let limits: Limits
  private var waiting: [Int64: [Element]] = [:]
  /// Hosts with something waiting and nothing under way, in turn.
  private var turns: [Int64] = []
  private var underWay: Set<Int64> = []
  private(set) var count = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  /// Whether a commit could take something now.
  var hasNext: Bool { !turns.isEmpty }

  /// Puts a send at the end of its host's line; false when the queue, or the host's part in it, is full.
  mutating func add(_ element: Element, host: Int64) -> Bool {
    let line = waiting[host]?.count ?? 0
    if count >= limits.waiting || line >= limits.waitingPerHost { return false }
    waiting[host, default: []].append(element)
    count += 1
    if line == 0, !underWay.contains(host) { turns.append(host) }
    return true
  }

  /// What the next commit takes: first one send of each host in turn, then a second, and so on.
  mutating func take() -> (elements: [Element], hosts: [Int64]) {
    let hosts = Array(turns.prefix(limits.group))
    var elements: [Element] = []
    var taken: [Int64: Int] = [:]
    for place in 0..<limits.groupPerHost {
      for host in hosts where elements.count < limits.group {
        guard let line = waiting[host], place < line.count else { continue }
        elements.append(line[place])
        taken[host] = place + 1
      }
    }
    for (host, number) in taken {
      waiting[host]?.removeFirst(number)
      if waiting[host]?.isEmpty == true { waiting[host] = nil }
      underWay.insert(host)
    }
    turns.removeFirst(hosts.count)
    count -= elements.count
    return (elements, hosts)
  }

  /// The commit with these hosts' sends has ended: what they have waiting gets in line.
  mutating func ended(_ hosts: [Int64]) {
    for host in hosts {
      underWay.remove(host)
      if waiting[host] != nil { turns.append(host) }
    }
  }
}
