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

    // A port that cannot be had is named by its flag.
    func bind(
      _ server: HttpServer, _ port: Int, _ name: String, _ tls: TlsServerContext? = nil
    ) throws(ProgramFailure) -> Int {
      do throws(ListenFailure) {
        return try server.listen(address: options.address, port: port, tls: tls)
      } catch {
        throw ProgramFailure(.unavailable, "--\(name)-port: \(error); 0 takes any port that is free")
      }
    }
    addresses = Addresses(
      host: options.address,
      apnsProduction: try bind(apnsProduction, options.apnsProductionPort, "apns-production", apple),
      apnsSandbox: try bind(apnsSandbox, options.apnsSandboxPort, "apns-sandbox", apple),
      fcm: try bind(fcm, options.fcmPort, "fcm", googleTls),
      metadata: try bind(metadata, options.metadataPort, "metadata"),
      control: try bind(control, options.controlPort, "control"))
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
