/// The phones that asked for pushes: registered with the gateway, kept in the state folder, and forgotten again.
///
/// For one device registration, unregistration and deletes at the gateway go one after the other, in every process that uses
/// the folder, and a registration first settles the deletes that are still due. A delete that is due is on the disk from
/// the instant that the phone is gone from it, and stays there until the gateway has said yes (or that it knows no such
/// registration): it is tried when the host starts, whenever another falls due, and again after 30 s, doubling to 10 min.
public actor Registrations {
  let gateway: GatewayClient
  let state: StateFolder
  let clock: HostClock
  let locks: DeviceLocks
  let isPaired: @Sendable (String) async -> Bool
  private var rate = RegistrationRate()

  // The outbox (Registrations+outbox.swift).
  var draining: Task<Bool, Never>?
  var isDueAgain = false
  var backoff = Backoff()
  var retry: Task<Void, Never>?
  var isClosed = false
  // What the gateway took and the disk would not: lost with the process, like the disk.
  var unwritten: [PhoneBook.Farewell] = []

  /// - Parameters:
  ///   - gateway: where phones are registered.
  ///   - state: where they are kept.
  ///   - isPaired: whether a device is a phone that is paired with this host; asked before and after each registration.
  public init(
    gateway: GatewayClient, state: StateFolder, isPaired: @escaping @Sendable (String) async -> Bool = { _ in true }
  ) {
    self.init(gateway: gateway, state: state, clock: .system, isPaired: isPaired)
  }

  init(
    gateway: GatewayClient, state: StateFolder, clock: HostClock,
    isPaired: @escaping @Sendable (String) async -> Bool = { _ in true }
  ) {
    self.gateway = gateway
    self.state = state
    self.clock = clock
    self.isPaired = isPaired
    locks = DeviceLocks(state: state)
  }

  /// All phones, those whose lease has run out too. A failure where what the state folder has of them cannot be read: the
  /// next registration begins anew.
  public func all() async -> Result<[Registration], StateFault> {
    do throws(StateFault) {
      return .success(try await state.soundPhones().registrations)
    } catch {
      return .failure(error)
    }
  }

  /// Registers a phone, or renews its lease: to be called when the phone itself asks, in use, and at no other time.
  ///
  /// - Parameters:
  ///   - deviceId: who asks, from what the host knows of the connection; never from what the phone sends.
  ///   - secret: what host and phone alone know, for sealed pushes.
  public func register(
    deviceId: String, _ wish: RegistrationParameters, secret: DeviceSecret? = nil
  ) async -> RegistrationOutcome {
    guard rate.admit(deviceId, uptime: clock.uptime()) else { return .refused(.throttled) }
    guard await isPaired(deviceId) else { return .refused(.notMobile) }
    do throws(StateFault) {
      return try await locks.hold(deviceId) { () throws(StateFault) in
        try await self.registerInTurn(deviceId, wish, secret)
      }
    } catch {
      return .refused(.storageFailed)
    }
  }

  private func registerInTurn(
    _ deviceId: String, _ wish: RegistrationParameters, _ secret: DeviceSecret?
  ) async throws(StateFault) -> RegistrationOutcome {
    // The gateway's id for a device is always the same: a delete that came late would take the new registration away.
    for farewell in try await state.phones().farewells + unwritten where farewell.deviceId == deviceId {
      if let fault = try await settle(farewell) { return .refused(RegistrationRefusal(fault), fault) }
    }
    let id: String
    switch await gateway.register(deviceId: deviceId, token: wish.token) {
    case .failure(let fault): return .refused(RegistrationRefusal(fault), fault)
    case .success(let registrationId): id = registrationId
    }
    let isPaired = await isPaired(deviceId)
    let now = clock.wall()
    let registration = Registration(
      deviceId: deviceId, registrationId: id, platform: wish.token.platform, preferences: wish.preferences,
      registeredAt: now, expiresAt: now + Registration.lease, secret: secret)
    let farewell = PhoneBook.Farewell(registrationId: id, deviceId: deviceId)
    do throws(StateFault) {
      try await state.changePhones { book in
        if isPaired {
          book.keep(registration)
        } else if !book.part(with: deviceId) {
          book.owe(farewell)
        }
      }
    } catch {
      // An earlier registration has the same id and is still wanted.
      let isKnown = (try? await state.phones())?.registration(of: deviceId) != nil
      if !isKnown && !unwritten.contains(farewell) { unwritten.append(farewell) }
      drainSoon()
      return .refused(.storageFailed)
    }
    guard isPaired else {
      drainSoon()
      return .refused(.notMobile)
    }
    return .registered(id)
  }

  /// Lets a phone go; whether it was registered. From the moment of the answer the gateway's delete is on the disk and on
  /// its way.
  public func unregister(deviceId: String) async -> Result<Bool, StateFault> {
    do throws(StateFault) {
      let wasThere = try await locks.hold(deviceId) { () throws(StateFault) in
        try await self.state.changePhones { $0.part(with: deviceId) }
      }
      if wasThere { drainSoon() }
      return .success(wasThere)
    } catch {
      return .failure(error)
    }
  }

  /// Drops exactly the registration that was observed when the gateway called it dead: one that the phone has renewed since
  /// then stays.
  func drop(_ observed: Registration) async {
    _ = try? await state.changePhones { $0.drop(observed) }
  }
}
