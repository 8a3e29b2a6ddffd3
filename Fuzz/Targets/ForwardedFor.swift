import Operations

/// `x-forwarded-for` and `x-real-ip`: a bucket's key is bounded, and whatever a caller writes, what the proxies behind it
/// append is what counts.
enum ForwardedFor: Target {
  static func run(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let trusted = Int(input.byte() % 17)
    let real = input.byte() & 1 == 0 ? nil : input.text()
    var values: [String] = []
    while !input.rest.isEmpty { values.append(input.text()) }
    let key = ClientAddress.resolve(forwardedFor: values, realIp: real, trustedHops: trusted)
    if let key { require((1...ClientAddress.limit).contains(key.utf8.count), "\(key.utf8.count) bytes") }
    let appended = (0...trusted).map { "9.9.9.\($0)" }.joined(separator: ", ")
    let told = values.dropLast() + [(values.last.map { $0 + ", " } ?? "") + appended]
    let address = ClientAddress.resolve(forwardedFor: Array(told), realIp: real, trustedHops: trusted)
    require(address == "9.9.9.0", "\(String(describing: address)) in place of what the proxy saw")
  }
}
