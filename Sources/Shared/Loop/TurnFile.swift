internal import CLinux
internal import Glibc

/// A file by which processes of one machine that want the same lock take turns at it: who has waited is next, and is woken
/// when the lock is free.
///
/// The lock itself lies elsewhere, and does not depend on this: whoever knows nothing of the file, or is held up, costs the
/// others a moment and no more. For one thread, which may block.
package final class TurnFile {
  private let descriptor: Int32
  private let events: Int32

  /// Opens `path`, creating it for its owner alone; nil when the system refuses.
  package init?(path: String) {
    descriptor = lx_open(path, O_RDWR | O_CREAT, 0o600)
    if descriptor < 0 { return nil }
    events = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard events >= 0, inotify_add_watch(events, path, UInt32(IN_MODIFY)) >= 0 else {
      close(descriptor)
      if events >= 0 { close(events) }
      return nil
    }
  }

  deinit {
    close(events)
    close(descriptor)
  }

  /// Becomes the one who gets the lock next, once nobody else is; false when somebody still is after so long. Whose process
  /// ends is next no more.
  @discardableResult
  package func join(milliseconds: Int) -> Bool {
    forget()
    let end = Monotonic.now.advanced(milliseconds: milliseconds)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if Monotonic.now >= end { return false }
      wait(milliseconds: 1)
    }
    return true
  }

  /// Has the lock, or wants it no more: another may be next.
  package func leave() { flock(descriptor, LOCK_UN) }

  /// Tells the others that the lock is free.
  package func pass() {
    var byte: UInt8 = 1
    _ = pwrite(descriptor, &byte, 1, 0)
  }

  /// Waits until somebody has said so since the last wait or `join`, or for so long.
  package func wait(milliseconds: Int) {
    var poll = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
    if CLinux.poll(&poll, 1, Int32(milliseconds)) > 0 { forget() }
  }

  private func forget() {
    let size = 4096
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      while read(events, buffer.baseAddress, size) > 0 {}
    }
  }
}
