internal import Operations
internal import Tls

/// What senders are made of, read in one go: the configuration with its keys, and whom to trust.
struct CredentialReading: Sendable {
  let configuration: WorkerConfiguration
  let tls: TlsClientContext

  /// Checks everything: each key signs once, each certificate is read. Blocks, since the system's roots take long to read.
  init(environment: [String: String]) throws {
    try self.init(WorkerConfiguration(environment: environment))
  }

  init(_ configuration: WorkerConfiguration) throws(ProgramFailure) {
    self.configuration = configuration
    do { tls = try TlsClientContext(additionalRoots: configuration.authorities?.pem) } catch {
      throw ProgramFailure(.configuration, "ORCA_PUSH_PROVIDER_CA_FILE: \(error)")
    }
  }
}
