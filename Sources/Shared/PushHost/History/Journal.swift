internal import Foundation

/// A file of lines that only grows, until it is written anew. Others may add to it too: each looks at what was added since
/// it last looked. Only under the folder's lock. Every call blocks.
///
/// `@unchecked Sendable`: only touched under the folder's lock, by the one history that owns it.
final class Journal: @unchecked Sendable {
  private let file: DurableFile
  private var records = HistoryRecords()
  private var inode: UInt64?
  private var offset = 0
  private var lines = 0

  /// How many lines there may be before they are written anew.
  private static let mostLines = 3 * HistoryRecords.most
  /// The longest file that is read, bytes.
  private static let mostBytes = 64 << 20

  init(_ file: DurableFile) { self.file = file }

  /// The records, as of now.
  func current(now: Int64) throws(StateFault) -> HistoryRecords {
    try catchUp()
    records.forget(before: now)
    return records
  }

  /// Adds an entry, on the disk when this returns.
  func add(_ entry: HistoryRecords.Entry) throws(StateFault) {
    try catchUp()
    records.forget(before: entry.at)
    records.add(entry)
    if lines >= Self.mostLines { return try rewrite() }
    let descriptor = open(file.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StateFault(path: file.path) }
    defer { close(descriptor) }
    // Whoever was killed while writing left half a line: it must not swallow this one.
    var last: UInt8 = 10
    let isTorn = offset > 0 && pread(descriptor, &last, 1, off_t(offset - 1)) == 1 && last != 10
    let line = (isTorn ? [10] : []) + entry.line
    try file.steps(.opened, file.name)
    try DurableFile.writeAll(line, to: descriptor, file.path)
    try file.steps(.written, file.name)
    try DurableFile.sync(descriptor, file.path)
    try file.steps(.synced, file.name)
    if inode == nil { try file.syncFolder() }
    offset += line.count
    lines += 1
    inode = try Self.inode(descriptor, file.path)
  }

  private func rewrite() throws(StateFault) {
    let entries = records.entries
    let content = entries.flatMap(\.line)
    try file.replace(with: content)
    lines = entries.count
    offset = content.count
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw StateFault(path: file.path) }
    defer { close(descriptor) }
    inode = try Self.inode(descriptor, file.path)
  }

  /// Takes in what was added since the last look; all of it when the file is another one.
  private func catchUp() throws(StateFault) {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 {
      guard errno == ENOENT else { throw StateFault(path: file.path) }
      start()
      return
    }
    defer { close(descriptor) }
    try DurableFile.requireOwn(descriptor, file.path)
    let found = try Self.inode(descriptor, file.path)
    let length = lseek(descriptor, 0, SEEK_END)
    guard length <= Self.mostBytes else { throw StateFault(path: file.path, reason: "is longer than it can be") }
    if found != inode || length < offset { start() }
    inode = found
    guard length > offset else { return }
    var bytes = [UInt8](repeating: 0, count: Int(length) - offset)
    let count = pread(descriptor, &bytes, bytes.count, off_t(offset))
    guard count >= 0 else { throw StateFault(path: file.path) }
    offset += count
    for line in bytes[..<count].split(separator: 10) {
      lines += 1
      // A torn line was told to nobody.
      if let entry = HistoryRecords.Entry(line: Array(line)) { records.add(entry) }
    }
  }

  private func start() {
    records = HistoryRecords()
    (inode, offset, lines) = (nil, 0, 0)
  }

  private static func inode(_ descriptor: Int32, _ path: String) throws(StateFault) -> UInt64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StateFault(path: path) }
    return UInt64(status.st_ino)
  }
}
