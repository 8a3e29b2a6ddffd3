internal import CLinux
internal import Glibc

/// One thread, one epoll set, one inbox of Swift jobs: the executor of `LoopActor` and of tasks that prefer it.
///
/// A turn: wait for descriptors, tell their owners, fire timers, run jobs until none is left, flush what the turn wrote.
///
/// `@unchecked Sendable`: `inbox` is locked; everything else is touched by the loop's thread alone.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// The process's loop. Its thread starts at first use and lives as long as the process.
  package static let shared = EventLoop()

  private struct Inbox {
    var jobs: [UnownedJob] = []
    /// The wake descriptor has been written, or the loop is known to look at the inbox before it waits.
    var signalled = false
  }

  private let inbox = Locked(Inbox())
  private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
  private let wake = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
  @LoopActor private var owners: [Int32: any Readiness] = [:]
  @LoopActor private var timers = Timers()
  @LoopActor private var flushes: [any Flushable] = []
  nonisolated(unsafe) private var threadId: pthread_t = 0

  private init() {
    // Writes by libpq and OpenSSL know no MSG_NOSIGNAL.
    signal(SIGPIPE, SIG_IGN)
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.fd = wake
    epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event)
    threadId = startThread(name: "loop") { self.run() }
  }

  /// Whether the caller runs on the loop's thread.
  package var isCurrentThread: Bool { pthread_equal(pthread_self(), threadId) != 0 }

  // MARK: Executor

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustSignal = inbox.withLock { box in
      box.jobs.append(job)
      defer { box.signalled = true }
      return !box.signalled
    }
    // The loop's own thread is awake, and looks at the inbox before it waits.
    if mustSignal && !isCurrentThread { eventfd_write(wake, 1) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
  package func checkIsolated() { precondition(isCurrentThread, "not on the event loop") }
  package func isIsolatingCurrentContext() -> Bool? { isCurrentThread }

  // MARK: Descriptors

  /// Starts telling `owner` about `descriptor`. The owner is kept until `forget`.
  @LoopActor
  package func watch(_ descriptor: Int32, _ interest: Interest, _ owner: any Readiness) {
    owners[descriptor] = owner
    control(EPOLL_CTL_ADD, descriptor, interest)
  }

  /// Changes what the owner of `descriptor` wants to hear about.
  @LoopActor
  package func change(_ descriptor: Int32, _ interest: Interest) { control(EPOLL_CTL_MOD, descriptor, interest) }

  /// Lets go of `descriptor`; call before closing it.
  @LoopActor
  package func forget(_ descriptor: Int32) {
    owners[descriptor] = nil
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ interest: Interest) {
    var event = epoll_event()
    event.events = interest.rawValue
    event.data.fd = descriptor
    epoll_ctl(epoll, operation, descriptor, &event)
  }

  // MARK: Timers and flushes

  /// Runs `body` on the loop once `milliseconds` have passed, unless called off.
  @LoopActor @discardableResult
  package func after(milliseconds: Int, _ body: @escaping @LoopActor () -> Void) -> Timer {
    timers.set(.now.advanced(milliseconds: milliseconds), body)
  }

  /// Calls a timer off. Harmless when it has fired.
  @LoopActor
  package func cancel(_ timer: Timer?) {
    if let timer { timers.cancel(timer) }
  }

  /// Calls `flush` of `object` once at the end of this turn. The caller keeps itself from asking twice.
  @LoopActor
  package func flushAtTurnsEnd(_ object: any Flushable) { flushes.append(object) }

  // MARK: The turn

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 256)
    var jobs: [UnownedJob] = []
    // Written and read on this thread alone, which is the loop's.
    nonisolated(unsafe) var wait: Int32 = 0
    while true {
      LoopActor.assumeIsolated { wait = patience() }
      let count = epoll_wait(epoll, &events, 256, wait)
      LoopActor.assumeIsolated {
        if count > 0 { for event in events[0..<Int(count)] { tell(event) } }
        let now = Monotonic.now
        while let body = timers.takeDue(now) { body() }
      }
      // Jobs make jobs. The bound keeps descriptors from waiting for ever behind a chain of them.
      for _ in 0..<64 {
        inbox.withLock { box in
          swap(&jobs, &box.jobs)
          box.signalled = true
        }
        if jobs.isEmpty { break }
        for job in jobs {
          unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        jobs.removeAll(keepingCapacity: true)
      }
      LoopActor.assumeIsolated { flushAll() }
    }
  }

  @LoopActor
  private func tell(_ event: epoll_event) {
    if event.data.fd == wake {
      var count: eventfd_t = 0
      eventfd_read(wake, &count)
    } else {
      owners[event.data.fd]?.ready(Interest(rawValue: event.events))
    }
  }

  @LoopActor
  private func flushAll() {
    while !flushes.isEmpty {
      let batch = flushes
      flushes.removeAll(keepingCapacity: true)
      for object in batch { object.flush() }
    }
  }

  /// How long the next wait may last, in ms; -1 for ever.
  ///
  /// The flag is lowered under the lock in the very step that decides to wait, or the next job from elsewhere would find
  /// it up, not write the wake descriptor, and be left lying.
  @LoopActor
  private func patience() -> Int32 {
    let pending = inbox.withLock { box in
      if box.jobs.isEmpty { box.signalled = false }
      return !box.jobs.isEmpty
    }
    if pending { return 0 }
    guard let due = timers.nextDue else { return -1 }
    let now = Monotonic.now
    if due <= now { return 0 }
    // Rounded up, so that the timer is due when the wait ends.
    return Int32(clamping: (due.nanoseconds - now.nanoseconds + 999_999) / 1_000_000)
  }
}
