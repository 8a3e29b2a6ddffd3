internal import COpenSSL
internal import Contract

/// SHA-256 (FIPS 180-4).
package enum Sha256 {
  /// Bytes of a digest.
  package static let length = 32

  // Fetching an algorithm costs more than a short digest, so it is fetched once and kept for the process.
  // OpenSSL's fetched algorithms never change and may be used by any thread.
  nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

  /// The 32-byte digest of `bytes`.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    digest(of: bytes.span)
  }

  /// The 32-byte digest of the UTF-8 of `text`.
  package static func digest(_ text: String) -> [UInt8] {
    digest(of: text.utf8.span)
  }

  /// The digest of `bytes` as 64 lower-case hex digits.
  package static func hex(_ bytes: [UInt8]) -> String { Hex.encode(digest(bytes)) }

  /// The digest of the UTF-8 of `text` as 64 lower-case hex digits.
  package static func hex(_ text: String) -> String { Hex.encode(digest(text)) }

  private static func digest(of bytes: Span<UInt8>) -> [UInt8] {
    bytes.withUnsafeBufferPointer { input in
      [UInt8](unsafeUninitializedCapacity: length) { output, count in
        let done = EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, algorithm, nil)
        // Fails only without memory or without OpenSSL's default provider: nothing can go on then.
        precondition(done == 1, "OpenSSL has no SHA-256")
        count = length
      }
    }
  }
}
