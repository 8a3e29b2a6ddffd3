import Foundation
import Testing

@testable import PushHost

/// A server that plays a gateway, except where `act` says otherwise.
struct WiredGateway {
  let gateway: PlayedGateway
  let server: ScriptedServer
  let client: GatewayClient

  init(
    deadline: Int64? = nil,
    _ act: @escaping @Sendable (HttpCall, PlayedGateway) -> ScriptedServer.Act? = { _, _ in nil }
  ) throws {
    let gateway = PlayedGateway(clock: .system)
    server = try ScriptedServer { call in
      gateway.state.withLock { $0.calls.append(call) }
      if let act = act(call, gateway) { return act }
      switch gateway.answer(call) {
      case .success(let reply): return .reply(reply)
      case .failure: return .reset
      }
    }
    self.gateway = gateway
    let transport = UrlSessionTransport(address: "http://127.0.0.1:\(server.port)")
    client = GatewayClient(
      origin: gateway.origin, keys: PlayedGateway.keys,
      transport: deadline.map { Hurried(transport: transport, deadline: $0) } ?? transport
        as any Transport)
  }

  /// A transport with less patience, but for the proof, which a busy machine may take its time for.
  struct Hurried: Transport {
    let transport: UrlSessionTransport
    let deadline: Int64

    func exchange(_ call: HttpCall, deadline: Int64) async -> Result<HttpReply, Unreachable> {
      #expect(deadline == 15_000)
      return await transport.exchange(call, deadline: call.path.hasPrefix("/v1/host/") ? deadline : self.deadline)
    }
  }
}
