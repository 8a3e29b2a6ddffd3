internal import CLinux
internal import Glibc

/// Turns SIGTERM, SIGINT and SIGHUP into calls on the loop.
@LoopActor
package final class Signals: Readiness {
  /// A signal that the programs listen to.
  package enum Signal: Sendable { case terminate, reload }

  // A signal handler may only touch what is async-signal-safe: it writes the number to this descriptor.
  nonisolated(unsafe) private static var pipeEnd: Int32 = -1
  private let readEnd: Int32
  private let told: @LoopActor (Signal) -> Void

  /// Listens from now on; once per process.
  package init(_ told: @escaping @LoopActor (Signal) -> Void) {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    readEnd = ends[0]
    Self.pipeEnd = ends[1]
    self.told = told
    EventLoop.shared.watch(readEnd, .read, self)
    Self.catchAll()
  }

  /// Lets the signals through to this thread and to those that it starts from now on: a program inherits what was blocked
  /// where it was started. Those that mean nothing to the programs are ignored: by default they would end one on the spot.
  package nonisolated static func prepare() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    for number in [SIGUSR1, SIGUSR2, SIGALRM] { signal(number, SIG_IGN) }
  }

  /// Not isolated, or the handler would assert that it runs on the loop, while the kernel picks any thread.
  private nonisolated static func catchAll() {
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(Signals.pipeEnd, &byte, 1)
      }
    }
  }

  package func ready(_ events: Interest) {
    var byte: UInt8 = 0
    while read(readEnd, &byte, 1) == 1 { told(Int32(byte) == SIGHUP ? .reload : .terminate) }
  }
}
