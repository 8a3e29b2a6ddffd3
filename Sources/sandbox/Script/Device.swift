/// What the sandbox is told of a token beforehand.
struct Device: Sendable {
  /// Of which of Apple's servers the token is; nil is both.
  var environment: ApnsEnvironment?
  /// The topic of the app that the token is of; nil is any.
  var topic: String?
}
