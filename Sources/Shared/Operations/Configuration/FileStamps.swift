internal import Glibc

/// What tells that files may have changed: which file a path leads to, its size, and when it was written.
package struct FileStamps: Equatable, Sendable {
  private struct Stamp: Equatable {
    let device: UInt
    let inode: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  private let stamps: [Stamp?]

  /// Looks at the files now, through links; one that cannot be looked at counts as another state. Blocks as long as the
  /// file system does.
  package init(_ paths: [String]) {
    stamps = paths.map { path in
      var found = stat()
      guard stat(path, &found) == 0 else { return nil }
      return Stamp(
        device: UInt(found.st_dev), inode: UInt(found.st_ino), size: Int(found.st_size),
        seconds: Int(found.st_mtim.tv_sec), nanoseconds: Int(found.st_mtim.tv_nsec))
    }
  }
}
