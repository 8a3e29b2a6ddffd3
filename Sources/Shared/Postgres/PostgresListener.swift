package import Loop

/// Listens to one channel on a connection of its own, and connects again when that breaks.
@LoopActor
package final class PostgresListener {
  /// `onNotify` is called once for each bunch of notifications, and once after each connection, since some may have been
  /// missed before it. `onLost` and `onRestored` tell when the connection breaks (with the reason) and when it is back.
  package init(
    _ url: PostgresUrl, channel: String, applicationName: String, limits: PostgresLimits = .init(),
    onNotify: @escaping @LoopActor () -> Void,
    onLost: @escaping @LoopActor (String) -> Void = { _ in },
    onRestored: @escaping @LoopActor () -> Void = {}
  ) {}

  package func start() {}
  package func stop() {}
}
