/// Why a store could not keep its promise. Nothing was changed, unless `unknown`.
package enum StoreFailure: Error, Sendable, Equatable {
  /// The database cannot be reached or is overloaded: the caller answers 503 `busy`.
  case unavailable(String)
  /// The connection broke or time ran out after the statement was sent: it may have taken effect. Every statement of the
  /// gateway can be said again.
  case unknown(String)
  /// The database refused the statement; a fault of ours or of the schema. The text names no row's values.
  case refused(String)
}
