internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Stores

/// What `/ready` says of a worker. Ready while every lane that has a credential may send, and outcomes can be written down;
/// what is amiss is named.
enum WorkerReadiness {
  /// How long the database may take to answer, in ms.
  static let patience = 2_000

  /// How the queue is.
  enum DatabaseState {
    case well
    case unreachable
    /// Reads are answered, and nothing can be written: what is sent stays in the queue. With the reason.
    case unwritable(String)
    /// It has become another build's, with what to mend.
    case schema(String)

    /// In plain words; nil when nothing is amiss.
    var words: String? {
      switch self {
      case .well: nil
      case .unreachable: "the database does not answer"
      case .unwritable(let why), .schema(let why): why
      }
    }
  }

  /// Looks at the database now.
  static func state(of store: any Store) async -> DatabaseState {
    do throws(StoreFailure) {
      if let mismatch = Schema.mismatch(found: try await store.schemaVersion()) { return .schema(mismatch) }
      try await store.ping()
      return .well
    } catch {
      return error.whyUnwritable.map(DatabaseState.unwritable) ?? .unreachable
    }
  }

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

  static func report(_ lanes: [(route: Route, state: LaneState)], database: DatabaseState) -> HttpResponse {
    let isWell = lanes.allSatisfy(\.state.isWell) && database.words == nil
    var text = JsonText()
    text.object { text in
      text.member("ok", isWell)
      text.member("database", ifPresent: database.words)
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
