/// What notification text is made into before it is sent. Pure.
enum Text {
  /// How much of a text is looked at, Unicode scalars: what is shown is found in its first few hundred.
  static let most = 4_096

  /// A text's beginning, so that a log that somebody took for a title does not wait in memory.
  static func bounded(_ text: String) -> String {
    // The cheap count settles most.
    text.utf8.count <= most ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(most)))
  }

  /// Runs of white space become one space, and none is left at the ends.
  static func tidied(_ text: String) -> String {
    var tidy = ""
    var isGap = false
    for character in text {
      if character.isWhitespace {
        isGap = true
        continue
      }
      if isGap, !tidy.isEmpty { tidy.append(" ") }
      isGap = false
      tidy.append(character)
    }
    return tidy
  }

  /// At most `limit` UTF-16 units: what is longer is cut after a whole character and ends with an ellipsis.
  static func clipped(_ text: String, to limit: Int) -> String {
    if text.utf16.count <= limit { return text }
    var clipped = ""
    var units = 0
    for character in text {
      units += character.utf16.count
      // One unit is the ellipsis's.
      if units > limit - 1 { break }
      clipped.append(character)
    }
    while clipped.last == " " { clipped.removeLast() }
    return clipped + "…"
  }
}
