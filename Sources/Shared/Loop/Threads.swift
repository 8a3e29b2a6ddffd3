internal import CLinux
internal import Glibc

private final class ThreadBody {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// Starts a detached thread and returns once it runs.
func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> pthread_t {
  let boxed = ThreadBody {
    _ = lx_name_thread(name)
    body()
  }
  var id = pthread_t()
  let status = pthread_create(
    &id, nil,
    { raw in
      guard let raw else { return nil }
      Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue().run()
      return nil
    }, Unmanaged.passRetained(boxed).toOpaque())
  precondition(status == 0, "the system refuses another thread")
  pthread_detach(id)
  return id
}
