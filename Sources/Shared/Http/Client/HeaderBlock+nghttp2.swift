internal import CNghttp2

extension HeaderBlock {
  /// Lends the fields in nghttp2's form for the time of the call.
  func withFields<R>(_ body: (UnsafeMutablePointer<nghttp2_nv>?, Int) -> R) -> R {
    bytes.withUnsafeBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) { list in
        let base = UnsafeMutablePointer(mutating: bytes.baseAddress)
        var place = 0
        forEach { field in
          list.initializeElement(
            at: place,
            to: nghttp2_nv(
              name: base.map { $0 + field.name.lowerBound }, value: base.map { $0 + field.value.lowerBound },
              namelen: field.name.count, valuelen: field.value.count,
              flags: field.indexed ? 0 : UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)))
          place += 1
        }
        return body(list.baseAddress, count)
      }
    }
  }
}
