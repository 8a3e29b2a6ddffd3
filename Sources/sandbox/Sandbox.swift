internal import Http
internal import Keys
internal import Loop
internal import Operations
internal import Tls

/// A local Apple and Google, for development and tests: it takes pushes as strictly as they do, answers as a script
/// says, and shows what the phones would.
@main
enum Sandbox {
  static func main() {
    Service.run("sandbox", usage: Options.usage) { service in
      let options = try Options(
        arguments: Array(CommandLine.arguments.dropFirst()), environment: service.environment)
      try await serve(service, options)
    }
  }

  @LoopActor
  private static func serve(_ service: Service, _ options: Options) async throws {
    let directory = try Directory(options.directory)
    directory.remove("sandbox.json")
    let identities = try Identities(directory, names: ["localhost", "127.0.0.1", "::1"])
    let world = World(
      providerTokens: ProviderTokens(
        teamId: Identities.teamId,
        keys: [ApnsKey(id: Identities.apnsKeyId, verifier: Es256Verifier(identities.apnsKey))]),
      serviceKeys: ServiceKeys(Identities.serviceKeyId, Rs256Verifier(identities.serviceKey)),
      topics: options.topics, projectId: options.projectId)
    let servers = try Servers(world, identities, options)
    let addresses = servers.addresses

    try directory.write(
      Identities.accountFile,
      identities.serviceAccount(projectId: options.projectId, tokenUri: addresses.tokenUri))
    let environment = addresses.workerEnvironment(identities, options, directory)
    try directory.write("worker.env", Addresses.lines(environment))
    try directory.write("sandbox.json", addresses.json(environment, options, directory))

    var fields: [String: LogField] = ["directory": .text(directory.path), "page": .text(addresses.controlUrl)]
    for (name, port) in addresses.ports { fields[name] = .integer(port) }
    service.log.notice("ready, for development only: nothing reaches a phone", fields)
    let input = options.stopsAtEnd ? InputEnd { service.terminate() } : nil
    await service.terminated()
    input?.stop()
    directory.remove("sandbox.json")
    servers.stop()
  }
}
