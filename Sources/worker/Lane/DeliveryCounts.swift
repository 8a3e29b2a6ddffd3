internal import Contract
internal import Loop
internal import Operations
internal import Providers
internal import Stores

/// What the worker counts of its deliveries (rulings 9).
@LoopActor
final class DeliveryCounts {
  private let metrics: WorkerMetrics

  init(_ metrics: WorkerMetrics) { self.metrics = metrics }

  /// Deliveries that reached their last state.
  func ended(_ route: Route, _ outcome: Outcome, _ count: Int) {
    metrics.deliveries.increment(route.provider, outcome.name, by: count)
  }

  func leaseLost(_ count: Int = 1) { metrics.leasesLost.increment(by: count) }

  /// An answer, or the lack of one.
  func answered(_ route: Route, _ report: SendReport) {
    metrics.attempts.increment(route.provider, report.reply.label)
    metrics.providerRequestSeconds.observe(report.seconds, route.provider)
  }

  /// The provider accepted it `seconds` after its admission.
  func accepted(_ route: Route, seconds: Double) { metrics.deliverySeconds.observe(seconds, route.provider) }

  func isInvalidationPaused(_ route: Route, _ isPaused: Bool) {
    metrics.invalidationPaused.at(route.provider).set(isPaused)
  }

  func isParked(_ route: Route, _ isParked: Bool) {
    metrics.laneParked.at(route.provider, route.environment).set(isParked)
  }
}
