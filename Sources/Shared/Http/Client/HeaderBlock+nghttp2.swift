internal import CNghttp2

extension HeaderBlock {
  /// Lends the fields in nghttp2's form for the time of the call.
  func withFields<R>(_ body: (UnsafeMutablePointer<nghttp2_nv>?, Int) -> R) -> R {
    bytes.withUnsafeBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { list in
        let base = UnsafeMutablePointer(mutating: bytes.baseAddress)
        for (place, field) in fields.enumerated() {
          let name = base.map { $0 + Int(field.start) }
          list.initializeElement(
            at: place,
            to: nghttp2_nv(
              name: name, value: name.map { $0 + Int(field.nameLength) }, namelen: Int(field.nameLength),
              valuelen: Int(field.valueLength), flags: field.indexed ? 0 : UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)))
        }
        return body(list.baseAddress, fields.count)
      }
    }
  }
}
