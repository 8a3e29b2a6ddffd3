internal import Contract
internal import Loop
internal import Operations
internal import Providers

/// The ways to the providers that this worker has a credential for.
@LoopActor
struct Senders {
  let byRoute: [(route: Route, sender: any ProviderSender)]

  init(_ configuration: WorkerConfiguration, _ log: Log) throws {
    byRoute = []
  }

  func close() async {
    for entry in byRoute { await entry.sender.close() }
  }
}
