import Testing

@testable import Operations

@Suite struct CertificateTests {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBdDCCARugAwIBAgIUVodhEbyuhWZkO04B3B8dwCTNSaswCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMzAxMDQ0NDBaGA8yMTI2MTEwNjEwNDQ0
    MFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNtY
    WJ5cwtjfj2/c9ZppPaD1N+gI3QTROZf5n04xCYjKXhYUJqbpzt12RsAMZgD74y87
    t8vE1PjZ5ZMu0Heg3DGjUzBRMB0GA1UdDgQWBBRxJ46Q89ayq9lHQC2/RcFdlHRx
    KzAfBgNVHSMEGDAWgBRxJ46Q89ayq9lHQC2/RcFdlHRxKzAPBgNVHRMBAf8EBTAD
    AQH/MAoGCCqGSM49BAMCA0cAMEQCIFW+bqleJX9JE7FpYNQs8wgR0abtZXGG5b95
    kCRAdfQCAiBYsM8wbXHzliafyeWFPq/k5rj7HY1i7ROwJG5EW0Crsw==
    -----END CERTIFICATE-----
    """

  private func read(_ text: String) throws -> (CertificateAuthorities?, Bool) {
    let file = try ScratchFile(text)
    var settings = Settings(["ORCA_PUSH_PROVIDER_CA_FILE": file.path])
    let read = CertificateAuthorities(&settings)
    return (read, faults { () throws(ConfigurationFaults) in try settings.finish() }.isEmpty)
  }

  @Test(arguments: [
    certificate, certificate + "\n" + certificate, "# a comment\n" + certificate + "\n# another\n",
    certificate.split(separator: "\n").joined(separator: "\r\n"),
  ])
  func `Whole PEM certificates are taken`(text: String) throws {
    let (read, good) = try read(text)
    #expect(good)
    #expect(read?.pem == text)
  }

  @Test(arguments: [
    "", "hello", String(certificate.dropLast(5)), certificate.replacing("MII", with: "!!!"),
    certificate.replacing("CERTIFICATE", with: "PRIVATE KEY"), certificate + "\n-----BEGIN CERTIFICATE-----\nMII",
  ])
  func `Anything else is refused`(text: String) throws {
    let (read, good) = try read(text)
    #expect(!good)
    #expect(read == nil)
  }
}
