import Contract

@testable import Http

/// Origins and URLs: the two readers of them agree, and an origin's text reads as the same origin.
enum Origins: Target {
  static func run(_ bytes: [UInt8]) {
    let text = bytes.text
    let url = Url(text)
    if let url { require(Url(url.description)?.target == url.target, "\(url) reads otherwise") }
    guard let origin = try? Contract.Origin(text) else { return }
    require((try? Contract.Origin(origin.text)) == origin, "\(origin) reads otherwise")
    require(!origin.isLoopback || origin.isPrivate, "\(origin) is of this machine, yet not private")
    guard let url else { return require(false, "\(text.debugDescription) is an origin and no URL") }
    require(url.origin.port == UInt16(origin.port), "the ports of \(text.debugDescription)")
    require(url.origin.secure == (origin.scheme == .https), "the schemes of \(text.debugDescription)")
    require(url.origin.host.lowercased() == origin.host, "the hosts of \(text.debugDescription)")
    require(url.target == "/", "the target of \(text.debugDescription)")
  }
}
