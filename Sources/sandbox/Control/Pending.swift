internal import Http
internal import Loop
internal import Tls

// Stands in until the server of room Http speaks TLS and HTTP/2: every listener speaks plain HTTP/1.1 so long.
extension HttpExchange {
  func setStreamLimit(_ limit: Int) {}
  func goAway(includingThis: Bool, debug: [UInt8]) {}
  func resetStream(refused: Bool) {}
}

extension HttpServer {
  func listen(address: String, port: Int, tls: TlsServerContext) throws(ListenFailure) -> Int {
    try listen(address: address, port: port)
  }
}
