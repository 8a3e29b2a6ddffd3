import Glibc

/// A value behind a pthread mutex, for the few things that several threads share.
///
/// The shape of `Synchronization.Mutex`, whose bare futex ThreadSanitizer cannot see on Linux.
/// `@unchecked Sendable`: the mutex is the proof, since `value` is touched only while it is held.
package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  /// Takes `initial` in; nothing else may hold it afterwards.
  package init(_ initial: consuming sending Value) {
    lock = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Runs `body` alone. Keep it short: whoever else comes, waits.
  package borrowing func withLock<R: ~Copyable, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }
}
