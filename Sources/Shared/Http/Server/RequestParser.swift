/// Reads HTTP/1.1 requests from bytes, whatever way they are cut, and refuses all that RFC 9112 lets a server refuse:
/// two readers that understand one message differently are how requests are smuggled.
///
/// Pure: bytes in, verdicts out. What it keeps is bounded by its limits.
package struct RequestParser: Sendable {
  /// Bounds of one request.
  package struct Limits: Sendable {
    /// Bytes of the request line and the fields, line ends included; beyond: 431.
    package var head = 16_384
    /// Fields; beyond: 431. Trailer fields are bounded by the same number, and by 4,096 bytes in all.
    package var fields = 64
    /// Bytes of the body, inclusive; beyond: `bodyTooLarge`.
    package var body = 16_384

    package init() {}
  }

  package enum Outcome: Equatable, Sendable {
    /// All input was used and the request is not whole.
    case more
    /// `request` is whole; `next` must be called before more is read.
    case complete
    /// The status to refuse with. Nothing that follows on this connection can be trusted.
    case refuse(Int)
  }

  /// How far the request has come, for deadlines.
  package enum Stage: Sendable { case idle, head, body }

  private enum State {
    case head
    case fixed(left: Int)
    case chunkSize(Int, digits: Int)
    case chunkSizeEnd(Int)
    case chunk(left: Int)
    case chunkEnd
    case chunkEndLine
    case trailers
    case ended(Outcome)
  }

  /// What has been read so far; whole after `complete`. `peer` is left to the caller.
  package private(set) var request = RequestParser.blank
  /// Whether another request may follow on the connection.
  package private(set) var keepsAlive = true
  private var state = State.head
  private var scan = SectionScan()
  /// The part of a head or of trailers that earlier input held.
  private var section: [UInt8] = []
  private var expectsContinue = false
  private let limits: Limits

  private static let trailerBytes = 4_096
  private static let blank = HttpRequest(method: "", path: "", peer: "")

  package init(limits: Limits = Limits()) { self.limits = limits }

  package var stage: Stage {
    if case .head = state { return scan.isBlank ? .idle : .head }
    return .body
  }

  /// Makes ready for the next request of the connection.
  package mutating func next() {
    request = Self.blank
    keepsAlive = true
    state = .head
    scan = SectionScan()
    section.removeAll(keepingCapacity: true)
    expectsContinue = false
  }

  /// Whether the peer waits for `100 Continue` before it sends the body. Says so once.
  package mutating func takeContinue() -> Bool {
    guard expectsContinue, request.body.isEmpty else { return false }
    defer { expectsContinue = false }
    switch state {
    case .fixed, .chunkSize(_, digits: 0): return true
    default: return false
    }
  }

  /// Reads `input` from `at` on, to the end of one request at most; `at` moves past what was used.
  package mutating func read(_ input: Span<UInt8>, at: inout Int) -> Outcome {
    while true {
      switch state {
      case .ended(let outcome): return outcome
      case .head: readSection(input, &at, limit: limits.head)
      case .trailers: readSection(input, &at, limit: Self.trailerBytes)
      case .fixed(let left):
        let count = take(left, input, &at)
        state = count == left ? .ended(.complete) : .fixed(left: left - count)
      case .chunk(let left):
        let count = take(left, input, &at)
        state = count == left ? .chunkEnd : .chunk(left: left - count)
      case .chunkSize, .chunkSizeEnd, .chunkEnd, .chunkEndLine:
        if at < input.count {
          readFraming(input[at])
          at += 1
        }
      }
      if at == input.count {
        if case .ended(let outcome) = state { return outcome }
        return .more
      }
    }
  }

  // MARK: Parts

  /// Scans to the blank line that ends a head or trailers, and reads the whole once it is there.
  private mutating func readSection(_ input: Span<UInt8>, _ at: inout Int, limit: Int) {
    let start = at
    let result = scan.advance(input, &at, limit: limit)
    if result == .ended, section.isEmpty {
      // The usual case: nothing to put together.
      return endSection(input.extracting(start..<at))
    }
    input.extracting(start..<at).withUnsafeBufferPointer { section.append(contentsOf: $0) }
    switch result {
    case .more: break
    case .malformed: state = .ended(.refuse(400))
    case .tooLong: state = .ended(.refuse(431))
    case .ended:
      let whole = section
      endSection(whole.span)
      section.removeAll(keepingCapacity: true)
    }
  }

  private mutating func endSection(_ bytes: Span<UInt8>) {
    if case .trailers = state {
      state = .ended(RequestHead.areTrailers(bytes, limit: limits.fields) ? .complete : .refuse(400))
      return
    }
    switch RequestHead.read(bytes, fieldLimit: limits.fields, into: &request) {
    case .refuse(let status): state = .ended(.refuse(status))
    case .framed(let framing):
      keepsAlive = framing.keepsAlive
      expectsContinue = framing.expectsContinue
      switch framing.body {
      case .none: state = .ended(.complete)
      case .length(let length) where length > limits.body: endTooLarge()
      case .length(let length):
        request.body.reserveCapacity(length)
        state = .fixed(left: length)
      case .chunked: state = .chunkSize(0, digits: 0)
      }
    }
  }

  /// The bytes around chunks. Extensions, which nobody needs, are refused.
  private mutating func readFraming(_ byte: UInt8) {
    switch state {
    case .chunkSize(let size, let digits):
      if let digit = Ascii.hexValue(byte), digits < 16 {
        // Saturates: beyond the limit, how far does not matter.
        state = .chunkSize(size > Int.max >> 4 ? Int.max : size << 4 | digit, digits: digits + 1)
      } else if byte == Ascii.cr, digits > 0 {
        state = .chunkSizeEnd(size)
      } else {
        state = .ended(.refuse(400))
      }
    case .chunkSizeEnd(let size) where byte == Ascii.lf:
      if size == 0 {
        scan = SectionScan(trailers: ())
        state = .trailers
      } else if size > limits.body - request.body.count {
        endTooLarge()
      } else {
        state = .chunk(left: size)
      }
    case .chunkEnd where byte == Ascii.cr: state = .chunkEndLine
    case .chunkEndLine where byte == Ascii.lf: state = .chunkSize(0, digits: 0)
    default: state = .ended(.refuse(400))
    }
  }

  private mutating func take(_ left: Int, _ input: Span<UInt8>, _ at: inout Int) -> Int {
    let count = min(left, input.count - at)
    input.extracting(at..<(at + count)).withUnsafeBufferPointer { request.body.append(contentsOf: $0) }
    at += count
    return count
  }

  private mutating func endTooLarge() {
    request.body = []
    request.bodyTooLarge = true
    keepsAlive = false
    expectsContinue = false
    state = .ended(.complete)
  }
}
