internal import Contract
internal import Http
internal import Json
internal import Loop

/// What `/ready` says of a worker. Ready while every lane that has a credential may send; what is amiss is named.
enum WorkerReadiness {
  /// One route's state.
  enum LaneState {
    case open
    case parked(String)
    case invalidationPaused
    /// Sends with the credential that it had before.
    case newCredentialRefused(String)
    case notConfigured

    /// In plain words.
    var words: String {
      switch self {
      case .open: "open"
      case .parked(let reason): "parked: \(reason)"
      case .invalidationPaused: "open; too many tokens refused, none is marked dead"
      case .newCredentialRefused(let reason): "open with the old credential; the new one is refused: \(reason)"
      case .notConfigured: "no credential: deliveries stay pending"
      }
    }
    var isWell: Bool {
      switch self {
      case .open, .newCredentialRefused, .notConfigured: true
      case .parked, .invalidationPaused: false
      }
    }
  }

  static func report(_ lanes: [(route: Route, state: LaneState)]) -> HttpResponse {
    let isWell = lanes.allSatisfy(\.state.isWell)
    var text = JsonText()
    text.object { text in
      text.member("ok", isWell)
      text.object("lanes") { text in
        for lane in lanes { text.member("\(lane.route)", lane.state.words) }
      }
    }
    return HttpResponse(status: isWell ? 200 : 503, body: text.bytes)
  }

  static var validation: HttpResponse {
    HttpResponse(status: 200, body: Array(#"{"ok":true,"mode":"validation"}"#.utf8))
  }
}
