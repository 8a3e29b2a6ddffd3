import Contract
import Testing

@Suite struct OriginTests {
  @Test(arguments: [
    ("https://push.example.org", "https://push.example.org"),
    ("HTTPS://Push.Example.ORG:443", "https://push.example.org"),
    ("https://push.example.org:8443", "https://push.example.org:8443"),
    ("http://localhost:80", "http://localhost"),
    ("http://localhost:8080", "http://localhost:8080"),
    ("http://127.0.0.1:08080", "http://127.0.0.1:8080"),
    ("https://[2001:DB8::1]:443", "https://[2001:db8::1]"),
    ("http://[::1]:8080", "http://[::1]:8080"),
    ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ("https://a_b.example", "https://a_b.example"),
  ])
  func `An origin has the text that a browser gives it`(text: String, normal: String) throws {
    let origin = try Origin(text)
    #expect(origin.text == normal)
    #expect(try Origin(origin.text) == origin)
  }

  @Test(arguments: [
    ("", OriginFault.scheme), ("push.example.org", .scheme), ("ftp://a", .scheme), ("https:/a", .scheme),
    ("https:a", .scheme), ("//a", .scheme), (" https://a", .scheme), ("https://", .host), ("https://:443", .host),
    ("https://a:", .port), ("https://a:0", .port), ("https://a:65536", .port), ("https://a:8x", .port),
    ("https://a:-1", .port), ("https://a:080808", .port), ("https://a/", .trailingSlash), ("https://a//", .path),
    ("https://a/b", .path), ("https://a?b", .path), ("https://a#b", .path), ("https://a\\b", .path),
    ("https://u@a", .userinfo), ("https://u:p@a:1", .userinfo), ("https://a b", .host), ("https://a..b", .host),
    ("https://-a", .host), ("https://a-", .host), ("https://b\u{fc}cher.example", .host), ("https://1.2.3", .host),
    ("https://0177.0.0.1", .host), ("https://256.1.1.1", .host), ("https://1.2.3.4.5", .host),
    ("https://[::1", .host), ("https://[::1]x", .host), ("https://[]", .host), ("https://[::g]", .host),
    ("https://::1", .host), ("https://a\n", .host), ("https://a\0", .host),
    ("https://" + String(repeating: "a", count: 64), .host),
  ])
  func `Anything but scheme, host and port is refused by its rule`(text: String, fault: OriginFault) {
    #expect(throws: fault) { try Origin(text) }
  }

  @Test(arguments: [
    ("http://localhost", true, true), ("http://127.0.0.1", true, true), ("http://127.255.0.9:1", true, true),
    ("http://[::1]", true, true), ("https://localhost", true, true), ("https://example.org", false, true),
    ("http://example.org", false, false), ("http://127.example.org", false, false),
    ("http://localhost.example.org", false, false), ("http://0.0.0.0", false, false),
  ])
  func `Http is private on loopback alone`(text: String, loopback: Bool, isPrivate: Bool) throws {
    let origin = try Origin(text)
    #expect(origin.isLoopback == loopback)
    #expect(origin.isPrivate == isPrivate)
  }
}
