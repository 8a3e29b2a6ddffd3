internal import Foundation

extension StateFolder {
  private var phoneFile: DurableFile { file("phones.json") }

  /// The phones as they are now; none where the file is no such thing, so that phones may register all the same.
  func phones() async throws(StateFault) -> PhoneBook { try await storedPhones() ?? PhoneBook() }

  /// The phones as they are now, for whoever would take a file that is no such thing for a host without phones.
  func soundPhones() async throws(StateFault) -> PhoneBook {
    guard let book = try await storedPhones() else {
      throw StateFault(path: phoneFile.path, reason: "is damaged: register the phones again")
    }
    return book
  }

  /// Nil for a file that is no such thing.
  private func storedPhones() async throws(StateFault) -> PhoneBook? {
    let file = phoneFile
    return try await blocking { () throws(StateFault) in
      // Renaming makes versions whole, so a reader needs no lock.
      guard let content = try file.read() else { return PhoneBook() }
      return PhoneBook(stored: content)
    }
  }

  /// Changes the phones; what `change` returns is told once the change is on the disk.
  func changePhones<Value: Sendable>(
    _ change: @escaping @Sendable (inout PhoneBook) -> Value
  ) async throws(StateFault) -> Value {
    let file = phoneFile
    return try await locked { () throws(StateFault) in
      var book = PhoneBook()
      if let content = try file.read() {
        if let kept = PhoneBook(stored: content) {
          book = kept
        } else {
          // Not ours to mend: it is put aside, and the phones register again when they are next used.
          guard rename(file.path, file.path + ".broken") == 0 else { throw StateFault(path: file.path) }
        }
      }
      let before = book
      let value = change(&book)
      if book != before { try file.replace(with: book.stored) }
      return value
    }
  }
}
