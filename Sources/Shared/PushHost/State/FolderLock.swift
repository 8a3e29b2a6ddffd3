internal import Foundation

/// A lock that processes share: one of them holds it at a time, and its end, however it comes, lets go of it.
///
/// It belongs to the open file, so that two holders in one process exclude each other too. Whoever takes it releases it,
/// once.
struct FolderLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock if nobody holds it; nil otherwise.
  init?(trying path: String) throws(StateFault) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StateFault(path: path) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
      self.descriptor = descriptor
      return
    }
    let code = errno
    close(descriptor)
    if code == EWOULDBLOCK || code == EINTR { return nil }
    throw StateFault(path: path, errno: code)
  }

  /// Takes the lock, waiting for it on this thread for at most `patience` ms.
  static func wait(_ path: String, patience: Int = 10_000) throws(StateFault) -> FolderLock {
    // Asked again and again: a lock that is waited for in the kernel could be waited for without end.
    for _ in 0...(patience / 5) {
      if let lock = try FolderLock(trying: path) { return lock }
      usleep(5_000)
    }
    throw StateFault(path: path, reason: "is held by another process")
  }

  func release() {
    // A process that is being started at this moment has the file open too, and would hold the lock until it runs.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
