internal import Glibc

/// A thread for calls that block: name resolution, SQLite, files, slow signatures. An actor names it as its executor:
///
///     actor Resolver {
///       let thread = BlockingThread(name: "dns")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///     }
///
/// Callers bound how much they have waiting here. The thread ends when its last owner lets go.
///
/// `@unchecked Sendable`: the queue is guarded by its own mutex.
package final class BlockingThread: SerialExecutor, @unchecked Sendable {
  private final class Queue: @unchecked Sendable {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    let filled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    var jobs: [UnownedJob] = []
    var ended = false

    init() {
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(filled, nil)
    }
    deinit {
      pthread_mutex_destroy(mutex)
      pthread_cond_destroy(filled)
      mutex.deallocate()
      filled.deallocate()
    }

    func put(_ job: UnownedJob) {
      pthread_mutex_lock(mutex)
      jobs.append(job)
      pthread_cond_signal(filled)
      pthread_mutex_unlock(mutex)
    }

    func end() {
      pthread_mutex_lock(mutex)
      ended = true
      pthread_cond_signal(filled)
      pthread_mutex_unlock(mutex)
    }

    /// Waits for jobs; none means that the thread may end.
    func take() -> [UnownedJob] {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      while jobs.isEmpty && !ended { pthread_cond_wait(filled, mutex) }
      defer { jobs = [] }
      return jobs
    }
  }

  private let queue = Queue()
  nonisolated(unsafe) private var threadId: pthread_t = 0

  package init(name: String) {
    let queue = queue
    // The executor is handed to each job by address: a job holds its actor, which holds this object.
    let executor = UnownedSerialExecutor(ordinary: self)
    threadId = startThread(name: name) {
      while true {
        let jobs = queue.take()
        if jobs.isEmpty { return }
        for job in jobs { unsafe job.runSynchronously(on: executor) }
      }
    }
  }

  deinit { queue.end() }

  package func enqueue(_ job: consuming ExecutorJob) { queue.put(UnownedJob(job)) }
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  package func checkIsolated() {
    precondition(pthread_equal(pthread_self(), threadId) != 0, "not on the blocking thread")
  }
  package func isIsolatingCurrentContext() -> Bool? { pthread_equal(pthread_self(), threadId) != 0 }
}

/// Runs single blocking calls on a thread of their own, one after another.
package actor BlockingCalls {
  private let thread: BlockingThread

  package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  package init(name: String) { thread = BlockingThread(name: name) }

  package func run<T: Sendable, E: Error>(_ call: @Sendable () throws(E) -> T) throws(E) -> T { try call() }
}
