internal import Foundation

/// Where a host keeps what outlives it: its key, its session, its phones, and what was dismissed.
///
/// Owner-only. Any number of processes may use one folder: they take turns, and what one wrote another reads. Whatever
/// is written is on the disk before anyone is told so, and a process may be killed at any instant.
public final class StateFolder: Sendable {
  /// The folder's path.
  public let path: String
  let steps: FileSteps
  // What touches the disk blocks, so it has a thread of its own, away from those that Swift shares.
  private let queue = DispatchQueue(label: "push-host.state")

  /// Opens the folder, making it where there is none.
  ///
  /// - Throws: when it cannot be made, belongs to somebody else, or others may look into it.
  public convenience init(path: String) throws(StateFault) {
    try self.init(path: path) { (_, _) throws(StateFault) in }
  }

  init(path: String, steps: @escaping FileSteps) throws(StateFault) {
    self.path = path
    self.steps = steps
    try Self.open(path)
  }

  private static func open(_ path: String) throws(StateFault) {
    guard make(path) else {
      throw StateFault(path: path, reason: "the folder cannot be made: \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw StateFault(path: path) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw StateFault(path: path, reason: "is no folder") }
    guard status.st_uid == geteuid() else { throw StateFault(path: path, reason: "belongs to somebody else") }
    guard status.st_mode & 0o077 == 0 else {
      throw StateFault(path: path, reason: "is open to others: chmod 700 it")
    }
  }

  /// Makes the folder, unless it is there. Its mode comes with it in one step: FileManager sets it in a second one, and
  /// another process that looks in between finds a folder that is open to others.
  private static func make(_ path: String) -> Bool {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT else { return false }
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try? FileManager.default.createDirectory(
      atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return mkdir(path, 0o700) == 0 || errno == EEXIST
  }

  func file(_ name: String) -> DurableFile { DurableFile(folder: path, name: name, steps: steps) }

  /// Runs `body` while no other process and no other caller touches the folder's files. It may block.
  func locked<Value: Sendable>(
    _ body: @escaping @Sendable () throws(StateFault) -> Value
  ) async throws(StateFault) -> Value {
    let lockPath = path + "/lock"
    return try await blocking { () throws(StateFault) in
      let lock = try FolderLock.wait(lockPath)
      defer { lock.release() }
      return try body()
    }
  }

  /// Takes the lock file of that name for longer than one piece of work on the disk, waiting at most `patience` ms for
  /// whoever holds it. Whoever takes it releases it.
  func lock(_ name: String, patience: Int64) async throws(StateFault) -> FolderLock {
    let path = "\(path)/\(name)"
    // Another process lives in real time, whatever clock this one's tests go by.
    let clock = HostClock.system
    let began = clock.uptime()
    while true {
      let lock = try await blocking { () throws(StateFault) in try FolderLock(trying: path) }
      if let lock { return lock }
      guard clock.uptime() - began < patience, (try? await clock.sleep(20)) != nil else {
        throw StateFault(path: path, reason: "is held by another process")
      }
    }
  }

  /// Runs `body`, which may block, away from the threads that Swift shares.
  func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(StateFault) -> Value
  ) async throws(StateFault) -> Value {
    let result = await withCheckedContinuation { waiter in
      queue.async {
        do throws(StateFault) {
          let value = try body()
          waiter.resume(returning: Result<Value, StateFault>.success(value))
        } catch {
          waiter.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}
