internal import Contract

/// What is wrong with a gateway's address.
public struct GatewayAddressFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// To be read after the name of where it was written, for instance "must begin with https:// (or http://)".
  public let reason: String

  /// For instance "the gateway's address must begin with https:// (or http://)".
  public var description: String { "the gateway's address \(reason)" }
}

/// Reads the address that a user wrote.
enum GatewayAddress {
  /// The origin, spelled as the gateway spells it in what it seals.
  static func origin(_ text: String) throws(GatewayAddressFault) -> String {
    let origin: Origin
    do throws(OriginFault) {
      origin = try Origin(text)
    } catch {
      throw GatewayAddressFault(reason: error.description)
    }
    guard origin.isPrivate else {
      throw GatewayAddressFault(
        reason: "must be https: http can be read on the way, unless it stays on this machine")
    }
    return origin.text
  }
}
