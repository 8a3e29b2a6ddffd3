internal import Contract

/// Certificates that are trusted for the providers' servers beside the system's roots.
package struct CertificateAuthorities: Sendable {
  /// The file that they came from.
  package let path: String
  /// The file's text: one or more PEM certificates.
  package let pem: String

  private static let variable = "ORCA_PUSH_PROVIDER_CA_FILE"

  init?(_ settings: inout Settings) {
    guard let path = settings.text(Self.variable) else { return nil }
    self.path = path
    do throws(StartupFileFault) {
      pem = String(decoding: try StartupFile.read(path, limit: 1 << 20), as: UTF8.self)
    } catch {
      settings.refuse(Self.variable, "names a file that cannot be read\(AbsolutePath.place(of: path)): \(error.reason)")
      return nil
    }
    guard Self.holdsCertificates(pem) else {
      settings.refuse(Self.variable, "names a file without a whole PEM certificate")
      return nil
    }
  }

  /// At least one block, and every block base64 of what looks like DER. Whether they are certificates, TLS decides.
  private static func holdsCertificates(_ pem: String) -> Bool {
    var body: String?
    var found = false
    for line in pem.split(whereSeparator: \.isNewline) {
      switch (String(line).trimmingBlanks, body) {
      case ("-----BEGIN CERTIFICATE-----", nil): body = ""
      case ("-----END CERTIFICATE-----", let text?):
        guard let der = Base64.decode(text), der.first == 0x30 else { return false }
        found = true
        body = nil
      case (let text, let before?): body = before + text
      case (_, nil): continue
      }
    }
    return found && body == nil
  }
}
