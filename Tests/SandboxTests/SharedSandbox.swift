import Support

/// One sandbox for all suites that tell their tests apart by token. What changes a whole server has a sandbox of its own.
enum SharedSandbox {
  private static let started = Task { try await SandboxProcess.start() }

  static var running: SandboxProcess { get async throws { try await started.value } }
}
