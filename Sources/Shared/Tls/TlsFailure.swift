/// Why TLS did not come about or ended, for operators.
package struct TlsFailure: Error, Equatable, Sendable {
  /// What kind of fault it is.
  package enum Kind: Sendable {
    /// The peer's certificate is not trusted, expired, or made out to another name.
    case trust
    /// The two ends do not agree: version, cipher, ALPN, an alert, broken records.
    case negotiation
    /// The socket failed or closed under it.
    case io
    /// Certificates or keys given by the operator cannot be used.
    case configuration
  }

  package let kind: Kind
  /// One line, e.g. `certificate verify failed: unable to get local issuer certificate`. Holds no secrets.
  package let text: String

  package init(kind: Kind, text: String) {
    self.kind = kind
    self.text = text
  }
}
