/// What a push is for, which decides what its topic must end in.
enum ApnsPushType: String, CaseIterable, Sendable {
  case alert, background, liveactivity, controls, widgets, location, voip, pushtotalk, complication, fileprovider, mdm

  /// What follows the app's bundle id in the topic.
  var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .liveactivity: ".push-type.liveactivity"
    case .controls: ".push-type.controls"
    case .widgets: ".push-type.widgets"
    case .location: ".location-query"
    case .voip: ".voip"
    case .pushtotalk: ".voip-ptt"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    }
  }

  /// The largest payload, in bytes.
  var payloadLimit: Int { self == .voip ? 5_120 : 4_096 }
}
