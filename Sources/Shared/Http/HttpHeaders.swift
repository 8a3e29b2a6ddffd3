/// Header fields in the order they came, names in lower case.
package struct HttpHeaders: Sendable, ExpressibleByDictionaryLiteral {
  package private(set) var fields: [(name: String, value: String)]

  package init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

  package init(dictionaryLiteral elements: (String, String)...) { fields = elements.map { (name: $0.0, value: $0.1) } }

  /// The first value of `name` (given in lower case).
  package subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Every value of `name`, in order.
  package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// Adds a field; `name` must be in lower case.
  package mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }
}
