import Dispatch
import Glibc
import Loop

/// Runs `body` on the loop and waits for its end on libFuzzer's thread.
func onTheLoop(_ body: @escaping @LoopActor @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task(executorPreference: EventLoop.shared) {
    await body()
    done.signal()
  }
  done.wait()
}

/// Lets the loop turn, so that what has been written is read.
@LoopActor
func turn(_ times: Int = 1) async {
  for _ in 0..<times {
    await withUnsafeContinuation { waiter in
      EventLoop.shared.after(milliseconds: 0) { waiter.resume() }
    }
  }
}

/// The target's own end of a connection: writes what it is told, and takes in what comes until it has gone.
@LoopActor
final class RawEnd: Readiness {
  private let descriptor: Int32
  private let received: @LoopActor ([UInt8]) -> Void
  private(set) var isOpen = true
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  /// Takes over `descriptor`, a connected socket.
  init(_ descriptor: Int32, received: @escaping @LoopActor ([UInt8]) -> Void = { _ in }) {
    self.descriptor = descriptor
    self.received = received
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    EventLoop.shared.watch(descriptor, .read, self)
  }

  /// Writes what the peer takes at once, which is more than an input holds.
  func write(_ bytes: [UInt8]) {
    if isOpen { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
  }

  func finishSending() {
    if isOpen { shutdown(descriptor, Int32(SHUT_WR)) }
  }

  func ready(_ events: Interest) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while isOpen {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 { received(Array(buffer[..<count])) }
      if count == 0 || (count < 0 && errno != EAGAIN) { close() }
      if count <= 0 { return }
    }
  }

  /// Waits until the peer has closed.
  func end() async {
    await withUnsafeContinuation { waiter in
      if isOpen { waiters.append(waiter) } else { waiter.resume() }
    }
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    EventLoop.shared.forget(descriptor)
    Glibc.close(descriptor)
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
