import Contract

@testable import Keys

/// The text of a private key, as people paste it: what is taken has one form, which is taken as it is, and it is the key
/// that OpenSSL reads.
enum KeyTexts: Target {
  private static let pem = (try? Es256Key.generate())?.privateKeyPem() ?? ""

  static func run(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let text: [UInt8]
    // Most inputs begin from a key that is in order, in one of the forms that are met.
    let form = input.byte()
    switch form % 5 {
    case 0: text = Array(input.rest)
    case 1: text = Array(pem.utf8).changed(by: &input)
    case 2: text = Array(pem.split(separator: "\n").joined(separator: "\\n").utf8).changed(by: &input)
    case 3: text = Array(Base64.encode(Array(pem.utf8)).utf8).changed(by: &input)
    default: text = Array(Base64.encode(Array(pem.utf8).changed(by: &input)).utf8)
    }
    guard let normal = try? PemText.normalise(bytes: text) else { return }
    require(normal.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 10 }, "control bytes")
    require((try? PemText.normalise(normal)) == normal, "its form has another form: \(normal)")
    // OpenSSL signs with each key that it reads, which takes longer than all the rest.
    guard form & 0xc0 == 0 else { return }
    if let key = try? Es256Key(pem: text.text) {
      require((try? Es256Key(pem: normal))?.publicKeyPem() == key.publicKeyPem(), "its form is another key: \(normal)")
    }
  }
}
