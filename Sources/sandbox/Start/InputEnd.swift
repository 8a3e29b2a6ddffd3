internal import Glibc
internal import Loop

/// Tells when standard input ends: whoever started the program has gone. For pipes and terminals.
@LoopActor
final class InputEnd: Readiness {
  private let ended: @LoopActor () -> Void
  private var isOver = false

  init(_ ended: @escaping @LoopActor () -> Void) {
    self.ended = ended
    EventLoop.shared.watch(STDIN_FILENO, .read, self)
  }

  func ready(_ events: Interest) {
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    if count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)) { return }
    stop()
    ended()
  }

  func stop() {
    if isOver { return }
    isOver = true
    EventLoop.shared.forget(STDIN_FILENO)
  }
}
