extension Program {
  /// kill -9 to a program of ours; waits until it is gone.
  func kill() async {
    try? write(Array("kill".utf8))
    await stop()
  }
}
