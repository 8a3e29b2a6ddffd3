internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension Unreachable {
  /// What Foundation says of a request that came to nothing.
  init(_ error: any Error) {
    guard let code = (error as? URLError)?.code else {
      self = .noConnection
      return
    }
    self =
      switch code {
      case .cannotFindHost, .dnsLookupFailed: .unknownName
      case .cannotConnectToHost: .refused
      case .timedOut: .deadline
      case .serverCertificateHasBadDate, .serverCertificateNotYetValid: .tls(.outdated)
      case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .tls(.untrusted)
      case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: .tls(.noAgreement)
      case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: .garbled
      // Foundation on Linux has no code of its own for what its libcurl says of TLS.
      case .unknown: TlsTrouble(curl: (error as NSError).localizedDescription).map { .tls($0) } ?? .noConnection
      default: .noConnection
      }
  }
}

extension TlsTrouble {
  /// What libcurl's words mean; nil when they are about something else than TLS.
  init?(curl words: String) {
    guard words.contains("SSL") || words.contains("TLS") else { return nil }
    self =
      if words.contains("certificate has expired") || words.contains("certificate is not yet valid") {
        .outdated
      } else if words.contains("subject name") {
        .otherName
      } else if words.contains("certificate") {
        .untrusted
      } else {
        .noAgreement
      }
  }
}
