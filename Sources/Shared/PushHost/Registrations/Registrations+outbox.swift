extension Registrations {
  /// Begins with what an earlier run left: to be called once when the host starts.
  public func start() { drainSoon() }

  /// Stops trying. What is still due stays in the state folder, for the next start.
  public func close() {
    isClosed = true
    retry?.cancel()
  }

  /// Tries everything that is due, once; whether nothing is left.
  @discardableResult
  public func drain() async -> Bool {
    if let draining {
      isDueAgain = true
      return await draining.value
    }
    retry?.cancel()
    let task = Task { await self.drainAll() }
    draining = task
    return await task.value
  }

  /// The same, without waiting for it.
  func drainSoon() {
    guard !isClosed else { return }
    Task { await self.drain() }
  }

  private func drainAll() async -> Bool {
    var isClear = true
    repeat {
      isDueAgain = false
      isClear = await pass()
      // What fell due meanwhile goes with this round, unless the gateway is away.
    } while isDueAgain && isClear
    draining = nil
    if isClear {
      backoff.reset()
    } else if !isClosed {
      let pause = backoff.next()
      retry = Task {
        guard (try? await clock.sleep(pause)) != nil else { return }
        await self.drain()
      }
    }
    return isClear
  }

  /// Tries each delete once, reading anew before each, so that one that falls due meanwhile is seen.
  private func pass() async -> Bool {
    var tried: [PhoneBook.Farewell] = []
    var isClear = true
    while true {
      let due: [PhoneBook.Farewell]
      do throws(StateFault) { due = try await state.phones().farewells + unwritten } catch { return false }
      guard let next = due.first(where: { !tried.contains($0) }) else { return isClear }
      tried.append(next)
      do throws(StateFault) {
        let fault = try await locks.hold(next.deviceId) { () throws(StateFault) in try await self.settleIfDue(next) }
        guard let fault else { continue }
        isClear = false
        // What is wrong with the gateway or with the session is wrong for all; nothing is dropped for it.
        if case .rejected(let why) = fault, let status = why.status, status != 401, status != 403 { continue }
        return false
      } catch {
        return false
      }
    }
  }

  private func settleIfDue(_ farewell: PhoneBook.Farewell) async throws(StateFault) -> GatewayFault? {
    // While this waited for its turn the phone may have come back, or another process may have been here.
    let isDue = try await state.phones().farewells.contains(farewell) || unwritten.contains(farewell)
    return isDue ? try await settle(farewell) : nil
  }

  /// Has the gateway forget a registration, and then forgets that it was to. Only in the device's turn.
  func settle(_ farewell: PhoneBook.Farewell) async throws(StateFault) -> GatewayFault? {
    switch await gateway.unregister(farewell.registrationId) {
    case .success: break
    // An id that the gateway cannot even read names nothing.
    case .failure(.rejected(let why)) where why.status == 400 && why.reason == "invalid_request": break
    case .failure(let fault): return fault
    }
    unwritten.removeAll { $0 == farewell }
    try await state.changePhones { $0.settle(farewell) }
    return nil
  }
}
