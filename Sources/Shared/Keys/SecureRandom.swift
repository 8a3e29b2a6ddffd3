internal import COpenSSL

/// Bytes that nobody can guess.
package enum SecureRandom {
  /// `count` bytes of OpenSSL's generator, which the kernel seeds.
  package static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { output, filled in
      // A gateway that cannot draw must stop: a guessable token is worse than none.
      precondition(RAND_bytes(output.baseAddress, CInt(count)) == 1, "no randomness")
      filled = count
    }
  }
}
