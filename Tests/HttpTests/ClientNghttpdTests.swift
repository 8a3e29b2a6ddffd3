import Http
import Loop
import Support
import Testing
import Tls

@Suite("HTTP/2 client against nghttpd")
struct ClientNghttpdTests {
  @Test("Many requests share one connection and all are answered", arguments: [100, 1]) @LoopActor
  func answers(streams: Int) async throws {
    let server = try #require(await Nghttpd.start(arguments: ["-m", "\(streams)"]))
    let origin = Origin(host: "localhost", port: server.port)
    var limits = Http2PoolLimits.patient
    limits.connections = 1
    let pool = Http2Pool(origin: origin, tls: try await TestCertificates.trust(), limits: limits)
    let answers = await pool.blast(Array(repeating: push(origin), count: 500))
    #expect(answers.count == 500)
    for answer in answers {
      let response = try answer.get()
      #expect(response.status == 200 && response.body == Array("fine".utf8))
      #expect(response.headers["server"]?.hasPrefix("nghttpd") == true)
    }
    #expect(pool.connectionCount == 1 && pool.inFlight == 0 && pool.freeCapacity == streams)
    pool.close()
  }

  @Test("A server whose CA is unknown is not trusted, and the operator reads why") @LoopActor
  func unknownCa() async throws {
    let server = try #require(await Nghttpd.start())
    let origin = Origin(host: "localhost", port: server.port)
    let pool = Http2Pool(
      origin: origin, tls: try await offTheLoop { try TlsClientContext() }, limits: .patient)
    let text = "certificate verify failed: unable to get local issuer certificate"
    await #expect(throws: Http2Failure.connect(ConnectFailure(step: .tlsTrust, text: text))) {
      try await pool.send(push(origin))
    }
    pool.close()
  }
}
