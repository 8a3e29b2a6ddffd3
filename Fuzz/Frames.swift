/// What one end of an HTTP/2 connection does, made of an input: frames whose lengths are right, which chance would hardly
/// write, or bytes as they come.
enum FrameStep {
  case bytes([UInt8])
  /// The other end has its turn.
  case pause
  /// Sends no more on this connection.
  case close

  /// `input` is read to its end.
  static func steps(from input: inout Input) -> [FrameStep] {
    guard input.byte() & 1 == 0 else {
      let cut = max(1, Int(input.byte()))
      var steps: [FrameStep] = []
      while !input.rest.isEmpty {
        steps.append(.bytes(input.bytes(cut)))
        steps.append(.pause)
      }
      return steps
    }
    var steps: [FrameStep] = []
    while !input.rest.isEmpty { steps.append(next(&input)) }
    return steps
  }

  private static func next(_ input: inout Input) -> FrameStep {
    let kind = input.byte()
    switch kind & 15 {
    case 0...9:
      let flags = input.byte()
      let stream = stream(input.byte())
      return .bytes(frame(kind & 15, flags, stream, input.bytes()))
    case 10: return .pause
    case 11: return .close
    case 12: return .bytes(frame(kind, input.byte(), stream(input.byte()), input.bytes()))
    case 13: return .bytes(frame(8, 0, stream(input.byte()), [0x7f, 0xff, 0, input.byte()]))
    // A whole message's end: `:status: 200`, or `GET /` of `x`.
    case 14: return .bytes(frame(1, 5, stream(input.byte()), [0x88]))
    default: return .bytes(frame(1, 5, stream(input.byte()), [0x82, 0x86, 0x84, 0x01, 0x01, 0x78]))
    }
  }

  /// Mostly a small stream's id.
  private static func stream(_ byte: UInt8) -> UInt32 {
    byte & 0x80 == 0 ? UInt32(byte & 0x1f) : UInt32(byte & 0x0f) << 27 | UInt32(byte)
  }

  static func frame(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    return [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), kind, flags]
      + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) } + payload
  }

  /// Whether these frames could say that a request was not looked at; bytes that are no frames of ours could be anything.
  static func mayRefuse(_ bytes: [UInt8]) -> Bool { bytes.count < 9 || [3, 7].contains(bytes[3]) }
}
