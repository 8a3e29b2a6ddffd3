internal import Http
internal import Keys
internal import Loop
internal import Operations
internal import Tls

/// All listeners of the sandbox.
@LoopActor
final class Servers {
  let addresses: Addresses
  private let all: [HttpServer]

  /// Binds every port or throws.
  init(_ world: World, _ identities: Identities, _ options: Options) throws {
    let production = ApnsServer(.production, world)
    let sandbox = ApnsServer(.sandbox, world)
    let apple = try Self.tls(identities.server, ["h2"])
    let apnsProduction = Self.server { await production.answer($0, $1) }
    let apnsSandbox = Self.server { await sandbox.answer($0, $1) }
    let metadataServer = MetadataServer(world, email: Identities.clientEmail)
    let metadata = Self.server { await metadataServer.answer($0, $1) }
    let door = ControlDoor(world)
    let control = Self.server(body: 64 << 20) { request, _ in await door.answer(request) }

    let google = FcmServer(world)
    let fcm = Self.server { await google.answer($0, $1) }
    let googleTls = try Self.tls(identities.server, ["h2", "http/1.1"])

    addresses = Addresses(
      host: options.address,
      apnsProduction: try apnsProduction.listen(address: options.address, port: options.apnsProductionPort, tls: apple),
      apnsSandbox: try apnsSandbox.listen(address: options.address, port: options.apnsSandboxPort, tls: apple),
      fcm: try fcm.listen(address: options.address, port: options.fcmPort, tls: googleTls),
      metadata: try metadata.listen(address: options.address, port: options.metadataPort),
      control: try control.listen(address: options.address, port: options.controlPort))
    google.tokenUri = addresses.tokenUri
    all = [apnsProduction, apnsSandbox, fcm, metadata, control]
    world.settingsChanged = { [unowned world] in
      apnsProduction.limits.streams = world.book.apnsProduction.firstStreamLimit
      apnsSandbox.limits.streams = world.book.apnsSandbox.firstStreamLimit
      fcm.limits.streams = world.book.fcm.firstStreamLimit
    }
    world.settingsChanged?()
  }

  /// Closes everything at once: nothing here needs an end.
  func stop() {
    for server in all { server.stop() }
  }

  private static func server(
    body: Int = 65_536, _ handler: @escaping HttpServer.Handler
  ) -> HttpServer {
    var limits = HttpServerLimits()
    limits.request.body = body
    limits.streams = 100
    // Idle connections stay, as Apple's and Google's do for long.
    limits.idle = 3_600_000
    limits.firstByte = 60_000
    return HttpServer(limits: limits, handler: handler)
  }

  private static func tls(_ issued: CertificateAuthority.Issued, _ protocols: [String]) throws -> TlsServerContext {
    try TlsServerContext(
      certificateChainPem: issued.certificatePem, privateKeyPem: issued.privateKeyPem, alpn: protocols)
  }
}
