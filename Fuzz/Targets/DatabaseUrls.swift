@testable import Postgres

/// Connection texts: no complaint about one, and no description of one, tells the password.
enum DatabaseUrls: Target {
  private static let password = "Zq7-hunter2-xY"

  static func run(_ bytes: [UInt8]) {
    // A byte that no text holds stands for the password.
    let text = bytes.split(separator: 0xff, omittingEmptySubsequences: false).map { Array($0).text }
      .joined(separator: password)
    do throws(PostgresUrl.Fault) {
      let url = try PostgresUrl(text)
      for port in url.settings["port"]?.split(separator: ",") ?? [] { require(UInt16(port) != nil, "the port \(port)") }
      guard url.settings["password"]?.contains(password) == true else { return }
      let others = ["host", "hostaddr", "dbname"].compactMap { url.settings[$0] }
      require(others.contains { $0.contains(password) } || !"\(url)".contains(password), "\(url)")
    } catch {
      require(!error.reason.contains(password), error.reason)
      require(!error.reason.isEmpty && !error.reason.contains("\n"), error.reason.debugDescription)
    }
  }
}
