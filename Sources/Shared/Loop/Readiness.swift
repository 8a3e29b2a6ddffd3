internal import CLinux

/// What a descriptor's owner wants to hear about.
package struct Interest: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let read = Interest(rawValue: EPOLLIN.rawValue)
  package static let write = Interest(rawValue: EPOLLOUT.rawValue)
  /// Reported whether asked for or not: the peer hung up, or the socket failed.
  package static let failure = Interest(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// The owner of a descriptor, told on the loop when the descriptor is ready (level triggered).
/// A call may be spurious: read and write until the kernel says `EAGAIN`, never assume.
@LoopActor
package protocol Readiness: AnyObject {
  func ready(_ events: Interest)
}

/// Something that gathers output during a turn of the loop and writes it once at the turn's end.
@LoopActor
package protocol Flushable: AnyObject {
  func flush()
}
