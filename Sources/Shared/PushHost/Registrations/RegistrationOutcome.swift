/// What became of a phone's wish to be registered (contract, "Desktop").
public enum RegistrationOutcome: Equatable, Sendable {
  /// It is; the registration's id.
  case registered(String)
  /// It is not, and an earlier registration stays as it was. What went wrong on the way, where something did.
  case refused(RegistrationRefusal, GatewayFault? = nil)
}

/// Why a phone was not registered, in the contract's words. To the phone each means: try again later.
public enum RegistrationRefusal: String, Equatable, Sendable, CaseIterable {
  case gatewayUnreachable = "gateway_unreachable"
  case gatewayRejected = "gateway_rejected"
  /// It is no paired phone, or ceased to be one meanwhile.
  case notMobile = "not_mobile"
  /// The gateway took it, but it could not be written down here.
  case storageFailed = "registration_storage_failed"
  /// More than 10 times in a minute, or the gateway has enough for now.
  case throttled

  init(_ fault: GatewayFault) {
    switch fault {
    case .unreachable: self = .gatewayUnreachable
    case .rejected: self = .gatewayRejected
    case .throttled: self = .throttled
    }
  }
}
