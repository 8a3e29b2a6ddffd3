internal import Contract

/// What is wrong with a gateway's address, made to follow the name of where it was written.
public struct GatewayAddressFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// For instance "must begin with https:// (or http://)".
  public let description: String
}

/// Reads the address that a user wrote.
enum GatewayAddress {
  /// The origin, spelled as the gateway spells it in what it seals.
  static func origin(_ text: String) throws(GatewayAddressFault) -> String {
    let origin: Origin
    do throws(OriginFault) {
      origin = try Origin(text)
    } catch {
      throw GatewayAddressFault(description: error.description)
    }
    guard origin.isPrivate else {
      throw GatewayAddressFault(
        description: "must be https: http can be read on the way, unless it stays on this machine")
    }
    return origin.text
  }
}
