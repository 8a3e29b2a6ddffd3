internal import Json

/// Holds a body to the API's description, as Google's common layer does before FCM sees it.
enum FcmReader {
  /// The value with every name in camelCase and nulls left out; at the first fault, what Google says of it.
  static func read(_ bytes: [UInt8]) throws(FcmFault) -> JsonValue {
    let json: JsonValue
    do throws(JsonFault) {
      json = try JsonReader.read(bytes)
    } catch {
      throw .malformed("", "Invalid JSON payload received. \(error)")
    }
    return try check(json, .request, at: "")
  }

  private static func check(_ value: JsonValue, _ type: FcmType, at field: String) throws(FcmFault) -> JsonValue {
    switch (type, value) {
    case (.string, .string), (.bool, .bool), (.anything, .object), (.number, .integer), (.number, .number):
      return value
    case (.integer, .integer(let number)) where Int32(exactly: number) != nil:
      return value
    case (.integer, .string(let text)):
      guard let number = Int32(text) else { throw invalid(field, type, value) }
      return .integer(Int64(number))
    case (.duration, .string(let text)):
      guard FcmDuration.seconds(text) != nil else { throw invalid(field, type, value) }
      return value
    case (.timestamp, .string(let text)):
      guard text.utf8.count >= 20, text.hasSuffix("Z") || text.contains("+") else { throw invalid(field, type, value) }
      return value
    case (.word(let words), .string(let text)):
      guard let word = words.first(where: { $0 == text || $0.lowercased() == text }) else {
        throw invalid(field, type, value)
      }
      return .string(word)
    case (.word(let words), .integer(let number)) where words.indices.contains(Int(clamping: number)):
      return .string(words[Int(number)])
    case (.list(let element), .array(let values)):
      var list: [JsonValue] = []
      for (place, value) in values.enumerated() { list.append(try check(value, element, at: "\(field)[\(place)]")) }
      return .array(list)
    case (.texts, .object(let object)):
      for (place, member) in object.members.enumerated() where member.value.string == nil {
        throw invalid("\(field)[\(place)].value", .string, member.value)
      }
      return value
    case (.object(let fields), .object(let object)):
      return .object(try check(object, fields, at: field))
    default:
      throw invalid(field, type, value)
    }
  }

  private static func check(
    _ object: JsonObject, _ fields: [(name: String, type: FcmType)], at parent: String
  ) throws(FcmFault) -> JsonObject {
    var members: [(key: String, value: JsonValue)] = []
    for (key, value) in object.members {
      guard let field = fields.first(where: { $0.name == key || snake($0.name) == key }) else {
        let place = parent.isEmpty ? "" : " at '\(parent)'"
        throw .malformed(
          parent, "Invalid JSON payload received. Unknown name \"\(key)\"\(place): Cannot find field.")
      }
      let path = parent.isEmpty ? key : "\(parent).\(snake(field.name))"
      guard !members.contains(where: { $0.key == field.name }) else {
        throw .malformed(path, "Invalid value at '\(path)': the field came under both of its names.")
      }
      if case .null = value { continue }
      members.append((field.name, try check(value, field.type, at: path)))
    }
    return JsonObject(members)
  }

  private static func invalid(_ field: String, _ type: FcmType, _ value: JsonValue) -> FcmFault {
    let due =
      switch type {
      case .string: "(TYPE_STRING)"
      case .bool: "(TYPE_BOOL)"
      case .integer: "(TYPE_INT32)"
      case .number: "(TYPE_FLOAT)"
      case .duration:
        "(type.googleapis.com/google.protobuf.Duration), Illegal duration format; duration must end with 's'"
      case .timestamp: "(type.googleapis.com/google.protobuf.Timestamp)"
      case .word: "(TYPE_ENUM)"
      case .list, .texts, .anything, .object: "(an object or a list is due)"
      }
    // Only what is short and plain is repeated, as in Google's own message.
    let shown: String? =
      switch value {
      case .integer(let number): "\(number)"
      case .bool(let flag): "\(flag)"
      default: nil
      }
    return .malformed(field, "Invalid value at '\(field)' \(due)" + (shown.map { ", \($0)" } ?? ""))
  }

  /// `channelId` as `channel_id`: the other name that each field has.
  static func snake(_ camel: String) -> String {
    var text = ""
    for character in camel {
      if character.isUppercase { text.append("_") }
      text.append(contentsOf: character.lowercased())
    }
    return text
  }
}

/// Durations as JSON writes them.
enum FcmDuration {
  /// Whole seconds of e.g. `300s` or `1.5s`; nil for anything else.
  static func seconds(_ text: String) -> Int64? {
    guard text.utf8.last == UInt8(ascii: "s") else { return nil }
    let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
    let isDigits = { (part: Substring) in part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    guard let whole = parts.first, (1...12).contains(whole.utf8.count), isDigits(whole), parts.count <= 2,
      parts.count == 1 || ((1...9).contains(parts[1].utf8.count) && isDigits(parts[1]))
    else { return nil }
    return Int64(whole)
  }
}
