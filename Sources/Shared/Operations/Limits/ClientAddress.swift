/// Which bucket a request without a host falls into (contract, "Request limits"; rulings 1.12).
package enum ClientAddress {
  /// Longest key in bytes: what a caller writes into a header must not fill the memory.
  package static let limit = 64

  /// The client's address as the platform tells it; nil stands for the one bucket that all others share.
  ///
  /// Each proxy appends who connected to it, so that only the end of `x-forwarded-for` can be believed: the last entry,
  /// or the one as many places before it as there are proxies behind the client.
  ///
  /// - Parameters:
  ///   - forwardedFor: the values of `x-forwarded-for`, in order of arrival.
  ///   - realIp: the value of `x-real-ip`, which counts where the other does not reach that far.
  ///   - trustedHops: proxies that append after the client.
  package static func resolve(forwardedFor: [String], realIp: String?, trustedHops: Int) -> String? {
    // By bytes: a caller may end a value in a character that takes the comma behind it in, as Unicode joins them, and so
    // hide what the proxy appends.
    let hops = forwardedFor.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
      .map { String(decoding: $0, as: UTF8.self).trimmingBlanks }.filter { !$0.isEmpty }
    let place = hops.count - 1 - trustedHops
    if hops.indices.contains(place) { return cut(hops[place]) }
    let real = realIp?.trimmingBlanks ?? ""
    return real.isEmpty ? nil : cut(real)
  }

  /// No more than the limit, and no part of a character: what stands in place of a broken one may be longer.
  private static func cut(_ address: String) -> String {
    var count = min(address.utf8.count, limit)
    while String(validating: address.utf8.prefix(count), as: UTF8.self) == nil { count -= 1 }
    return String(decoding: address.utf8.prefix(count), as: UTF8.self)
  }
}
