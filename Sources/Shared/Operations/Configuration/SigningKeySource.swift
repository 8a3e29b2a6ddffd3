/// Where one of Apple's keys comes from: a variable that holds it (`ORCA_PUSH_APNS_KEY`), or one that names its file
/// (`ORCA_PUSH_APNS_KEY_FILE`), which can be replaced while the program runs.
struct SigningKeySource {
  /// The one that is set; that of the key itself when neither is.
  let variable: String
  /// Names the key's id, where the file does not tell it.
  let idVariable: String
  let text: String?
  let file: SigningKeyFile?
  let isPresent: Bool

  /// One of the variables that come together or not at all.
  struct Part {
    let variable: String
    let isSet: Bool
    /// What would do instead of it.
    var instead: String?
  }

  /// The variables that come together or not at all. That for the id is not due when the file tells it, and goes behind the
  /// file: another key has another id, and a variable cannot change. Of a file that cannot be read nobody knows.
  func parts(_ settings: inout Settings) -> [Part] {
    let key = Part(variable: variable, isSet: isPresent, instead: isPresent ? nil : "nor is \(variable)_FILE")
    if file?.keyId != nil || (isPresent && text == nil) { return [key] }
    let isSet = settings.text(idVariable) != nil
    return [
      key, Part(variable: idVariable, isSet: isSet, instead: file.map { _ in "nor is the file named AuthKey_ID.p8" }),
    ]
  }

  init(_ name: String, _ settings: inout Settings) {
    idVariable = name + "_ID"
    let own = settings.text(name)
    guard let path = settings.text(name + "_FILE") else {
      (variable, text, file, isPresent) = (name, own, nil, own != nil)
      return
    }
    variable = name + "_FILE"
    isPresent = true
    if own != nil { settings.refuse(variable, "is set beside \(name): leave one of them out") }
    if path.hasPrefix("-----BEGIN") {
      settings.refuse(variable, "holds a key's text: set the file's path, or \(name)")
      (text, file) = (nil, nil)
      return
    }
    do throws(StartupFileFault) {
      let file = try SigningKeyFile(path: path)
      (text, self.file) = (file.text, file)
    } catch {
      settings.refuse(variable, "names a file that cannot be read\(AbsolutePath.place(of: path)): \(error.reason)")
      (text, file) = (nil, nil)
    }
  }
}
