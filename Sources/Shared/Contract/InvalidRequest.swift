/// A body that breaks the contract: answered 400 `invalid_request`.
package struct InvalidRequest: Error, Equatable {
  /// One line that names the member and the rule. Never holds anything from the request's own values; a name that it made up
  /// only where that is short and printable.
  package let detail: String

  package init(_ detail: String) { self.detail = detail }
}
