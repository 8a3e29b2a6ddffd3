internal import Contract

/// The fields that a host's proof is about, in the order of the transcript; a raw value is the name as encoded
/// (contract, "Host authentication").
package enum TranscriptField: String, CaseIterable, Sendable {
  case `protocol`, version, gatewayOrigin, gatewayEphemeralPublicKey, challengeNonce, challengeId
  case issuedAt, expiresAt, hostFingerprint, hostPublicKey
}

/// What gateway and host both sign off on: who speaks to whom, with which key, for which challenge, and when.
///
/// A field is u32be(length of name), name, u32be(length of value), value; the ten follow each other without a gap.
package struct Transcript: Equatable, Sendable {
  /// The value of `protocol`.
  package static let protocolName = "orca-push-host-proof/v1"
  /// The value of `version`.
  package static let version: [UInt8] = [1]

  // One a field, in order.
  private var values: [[UInt8]]

  /// A transcript of protocol and version 1. Times are ms since 1970.
  package init(
    gatewayOrigin: String, gatewayEphemeralPublicKey: [UInt8], challengeNonce: [UInt8], challengeId: String,
    issuedAt: UInt64, expiresAt: UInt64, hostKey: HostKey
  ) {
    values = [
      Array(Self.protocolName.utf8), Self.version, Array(gatewayOrigin.utf8), gatewayEphemeralPublicKey,
      challengeNonce, Array(challengeId.utf8), bigEndian(issuedAt), bigEndian(expiresAt),
      Array(hostKey.fingerprint.text.utf8), hostKey.bytes,
    ]
  }

  /// Reads what `encoded` gives: each field by its name, in order, and nothing after the last.
  package init(decoding bytes: [UInt8]) throws(HostProofFault) {
    var rest = bytes[...]
    values = []
    for field in TranscriptField.allCases {
      guard let name = takeCounted(&rest), name.elementsEqual(field.rawValue.utf8), let value = takeCounted(&rest)
      else { throw .malformed(field) }
      values.append(Array(value))
    }
    guard rest.isEmpty else { throw .trailingBytes }
  }

  /// The bytes that the proof is computed over.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    for (field, value) in zip(TranscriptField.allCases, values) {
      appendCounted(Array(field.rawValue.utf8), to: &bytes)
      appendCounted(value, to: &bytes)
    }
    return bytes
  }

  /// The value of one field, as encoded.
  package internal(set) subscript(field: TranscriptField) -> [UInt8] {
    get { values[Self.place(of: field)] }
    set { values[Self.place(of: field)] = newValue }
  }

  /// The value of a time field in ms since 1970; nil unless it has 8 bytes.
  func time(_ field: TranscriptField) -> UInt64? {
    let value = self[field]
    return value.count == 8 ? value.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  private static func place(of field: TranscriptField) -> Int {
    // allCases holds every case.
    TranscriptField.allCases.firstIndex(of: field) ?? 0
  }
}

/// The 8 bytes of `number`, highest first.
func bigEndian(_ number: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
}

/// Appends u32be(count) and the bytes. Nothing here comes near 4 GiB: the largest value is an origin.
func appendCounted(_ value: [UInt8], to bytes: inout [UInt8]) {
  bytes += bigEndian(UInt64(value.count)).suffix(4)
  bytes += value
}

/// Takes u32be(count) and that many bytes off the front; nil, with nothing promised about `rest`, if they are not there.
func takeCounted(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
  guard rest.count >= 4 else { return nil }
  let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
  rest = rest.dropFirst(4)
  guard rest.count >= count else { return nil }
  defer { rest = rest.dropFirst(count) }
  return rest.prefix(count)
}
