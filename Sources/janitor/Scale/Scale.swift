internal import Loop
internal import Operations
internal import Providers
internal import Stores
internal import Tls

/// One round of `janitor scale`: reads the queue and the pool, and sets the pool's count where ``Scaling`` wants another.
///
/// Two rounds at once do no harm: the later one's change names a state of the pool that is gone, and is refused.
@LoopActor
struct Scale {
  private let configuration: ScaleConfiguration
  private let depth: @LoopActor () async throws(StoreFailure) -> QueueDepth
  private let log: Log

  /// - Parameter depth: measures the queue.
  init(
    _ configuration: ScaleConfiguration, _ log: Log,
    depth: @escaping @LoopActor () async throws(StoreFailure) -> QueueDepth
  ) {
    self.configuration = configuration
    self.depth = depth
    self.log = log
  }

  func run() async throws(ProgramFailure) {
    let depth: QueueDepth
    do throws(StoreFailure) { depth = try await self.depth() } catch {
      throw ProgramFailure(.unavailable, "the queue cannot be measured: \(error.reason)")
    }
    do throws(WorkerPool.Failure) {
      let pool = try await pool()
      let standing = try await pool.standing()
      let decision = Scaling(bounds: configuration.instances, depthEach: configuration.depthEach).decide(
        Scaling.Reading(
          depth: Int64(depth.deliveries), oldestDue: Int64(depth.oldestDue), instances: standing.instances,
          secondsSinceChange: WallClock.milliseconds / 1_000 - standing.changedAt))
      if case .change(let count, _) = decision { try await pool.setInstances(count, since: standing) }
      say(depth, standing.instances, decision)
    } catch {
      throw ProgramFailure(.unavailable, "the pool's count is left as it is: \(error.reason)")
    }
  }

  private func pool() async throws(WorkerPool.Failure) -> WorkerPool {
    let tls: TlsClientContext
    do { tls = try TlsClientContext(additionalRoots: configuration.authorities?.pem) } catch {
      throw WorkerPool.Failure(reason: "ORCA_PUSH_PROVIDER_CA_FILE: \(error)")
    }
    do throws(AccessTokenFailure) {
      let token = try await configuration.credential.tokens(.cloud, tls: tls).fetch()
      return WorkerPool(origin: configuration.origin, name: configuration.pool, bearer: token.text, tls: tls)
    } catch {
      throw WorkerPool.Failure(reason: "no access token: \(error)")
    }
  }

  /// The line is also a metric: `infra/terraform/watching.tf` reads depth and age from it.
  private func say(_ depth: QueueDepth, _ before: Int, _ decision: Scaling.Decision) {
    let (count, why) =
      switch decision {
      case .stay(let why): (before, why)
      case .change(let count, let why): (count, why)
      }
    log.notice(
      "scale",
      [
        "depth": .integer(Int64(depth.deliveries)), "oldestDueSeconds": .number(Double(depth.oldestDue) / 1_000),
        "before": .integer(Int64(before)), "instances": .integer(Int64(count)), "why": .text(why.rawValue),
      ])
  }
}
