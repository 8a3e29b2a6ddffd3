internal import CLinux
internal import Glibc

/// A file that is written to wake whoever watches it, in this process or another of the same machine.
@LoopActor
package final class WakeFile: Readiness {
  private let path: String
  private let descriptor: Int32
  private var watch: Int32 = -1
  private var woken: (@LoopActor () -> Void)?

  /// Opens `path`, creating it; nil when the system refuses.
  package init?(path: String) {
    self.path = path
    descriptor = lx_open(path, O_RDWR | O_CREAT, 0o600)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Wakes every watcher. Costs one write of one byte to the page cache.
  package func raise() {
    var byte: UInt8 = 1
    _ = pwrite(descriptor, &byte, 1, 0)
  }

  /// Calls `woken` on the loop after each raise; several in a row may come as one. False when the system has no watch left.
  package func listen(_ woken: @escaping @LoopActor () -> Void) -> Bool {
    watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard watch >= 0 else { return false }
    guard inotify_add_watch(watch, path, UInt32(IN_MODIFY)) >= 0 else {
      close(watch)
      watch = -1
      return false
    }
    self.woken = woken
    EventLoop.shared.watch(watch, .read, self)
    return true
  }

  /// Stops listening.
  package func stop() {
    guard watch >= 0 else { return }
    EventLoop.shared.forget(watch)
    close(watch)
    watch = -1
    woken = nil
  }

  package func ready(_ events: Interest) {
    let size = 4096
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      while read(watch, buffer.baseAddress, size) > 0 {}
    }
    woken?()
  }
}
