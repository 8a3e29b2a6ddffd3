import Foundation
import Json

/// What the command says: lines for people, or one JSON object for scripts. Notes go to standard error.
struct Output: Sendable {
  let isJson: Bool

  /// The outcome.
  func tell(_ lines: [String], _ members: (inout JsonText) -> Void) {
    if isJson {
      var text = JsonText()
      text.object(members)
      print(String(decoding: text.bytes, as: UTF8.self))
    } else {
      for line in lines { print(line) }
    }
  }

  /// Why there is none.
  func tell(_ failure: Failure) {
    if failure.isHelp { return print(failure.message) }
    if isJson {
      var text = JsonText()
      text.object {
        $0.object("error") {
          $0.member("reason", failure.reason)
          $0.member("message", failure.message)
        }
      }
      print(String(decoding: text.bytes, as: UTF8.self))
    }
    note("pushhost: " + failure.message)
  }

  func note(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

  /// Does something that may take long, and says so to whoever watches a terminal once it has taken a second.
  func during<Value: Sendable>(_ what: String, _ body: () async -> Value) async -> Value {
    guard isatty(2) == 1 else { return await body() }
    let watch = Task {
      guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      note("\(what) …")
    }
    defer { watch.cancel() }
    return await body()
  }
}

extension String {
  /// Without anything that could move a terminal's cursor.
  var plain: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{fffd}" : $0 }))
  }
}
