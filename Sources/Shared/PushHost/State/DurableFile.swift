internal import Foundation

/// A small file that is replaced as a whole: what is read is always one whole version, whenever the writer was killed.
///
/// A version is written beside it, brought to the disk and renamed onto it; then the folder is brought to the disk. Only one
/// may write at a time (``FolderLock``). Owner-only. Every call blocks.
struct DurableFile {
  let folder: String
  let name: String
  let steps: FileSteps

  var path: String { "\(folder)/\(name)" }

  /// The content; nil when there is no such file. At most `limit` bytes.
  func read(limit: Int = 8 << 20) throws(StateFault) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw StateFault(path: path)
    }
    defer { close(descriptor) }
    try Self.requireOwn(descriptor, path)
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Foundation.read(descriptor, &chunk, chunk.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw StateFault(path: path)
      }
      if count == 0 { return content }
      content += chunk[..<count]
      if content.count > limit { throw StateFault(path: path, reason: "is longer than it can be") }
    }
  }

  /// Puts another content in its place.
  func replace(with content: [UInt8]) throws(StateFault) {
    let fresh = try write(content)
    guard rename(fresh, path) == 0 else { throw StateFault(path: path) }
    try steps(.renamed, name)
    try syncFolder()
    try steps(.folderSynced, name)
  }

  /// Makes it, unless it is there already; whether it was made.
  func create(with content: [UInt8]) throws(StateFault) -> Bool {
    let fresh = try write(content)
    defer { unlink(fresh) }
    // A link takes no name that is taken, which a rename would.
    if link(fresh, path) != 0 {
      if errno == EEXIST { return false }
      throw StateFault(path: path)
    }
    try steps(.renamed, name)
    try syncFolder()
    try steps(.folderSynced, name)
    return true
  }

  /// Writes content beside it, safe on the disk; where.
  private func write(_ content: [UInt8]) throws(StateFault) -> String {
    let fresh = "\(folder)/.\(name).new"
    let descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StateFault(path: fresh) }
    defer { close(descriptor) }
    try steps(.opened, name)
    try Self.writeAll(content, to: descriptor, fresh)
    try steps(.written, name)
    try Self.sync(descriptor, fresh)
    try steps(.synced, name)
    return fresh
  }

  // MARK: What others here use too

  static func writeAll(_ content: [UInt8], to descriptor: Int32, _ path: String) throws(StateFault) {
    var rest = content[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        throw StateFault(path: path)
      }
      rest = rest.dropFirst(count)
    }
  }

  static func sync(_ descriptor: Int32, _ path: String) throws(StateFault) {
    #if canImport(Darwin)
      // fsync leaves it in the drive's own memory there.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(descriptor) == 0 else { throw StateFault(path: path) }
  }

  func syncFolder() throws(StateFault) {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StateFault(path: folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StateFault(path: folder) }
  }

  /// Throws unless it is a file of ours that nobody else may read.
  static func requireOwn(_ descriptor: Int32, _ path: String) throws(StateFault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StateFault(path: path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw StateFault(path: path, reason: "is no file") }
    guard status.st_uid == geteuid() else { throw StateFault(path: path, reason: "belongs to somebody else") }
    guard status.st_mode & 0o077 == 0 else {
      throw StateFault(path: path, reason: "may be read by others: chmod 600 it")
    }
  }
}
