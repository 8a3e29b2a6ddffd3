import Http
import Testing

@Suite("URLs")
struct ClientUrlTests {
  @Test(
    "A URL is taken apart",
    arguments: [
      ("http://example.com", "example.com", 80, false, "/", "example.com"),
      ("HTTPS://example.com/a?b=c", "example.com", 443, true, "/a?b=c", "example.com"),
      ("https://example.com:8443/", "example.com", 8443, true, "/", "example.com:8443"),
      ("http://127.0.0.1:9?x", "127.0.0.1", 9, false, "/?x", "127.0.0.1:9"),
      ("http://[::1]:8080/x", "::1", 8080, false, "/x", "[::1]:8080"),
      ("https://[2001:db8::1]", "2001:db8::1", 443, true, "/", "[2001:db8::1]"),
    ])
  func parts(text: String, host: String, port: UInt16, secure: Bool, target: String, authority: String) throws {
    let url = try #require(Url(text))
    #expect(url.origin == Origin(host: host, port: port, secure: secure))
    #expect(url.target == target)
    #expect(url.origin.authority == authority)
  }

  @Test(
    "What is no plain http URL is refused",
    arguments: [
      "", "example.com", "ftp://example.com", "http://", "http:///x", "http://a b/", "http://a\r\nb", "http://u@h/",
      "http://h:/", "http://h:0/", "http://h:65536/", "http://h:+1/", "http://h:8a/", "http://[::1/", "http://[::1]x/",
      "http://[h]/", "http://h#f", "http://::1/", "http://é/",
    ])
  func refused(text: String) { #expect(Url(text) == nil) }
}
