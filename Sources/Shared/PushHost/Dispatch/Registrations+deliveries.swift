extension Registrations {
  /// What became of an event at each phone, sealed ones too, which have an epoch of their own on the wire.
  public nonisolated func deliveries(of number: EventNumber) async -> Result<[DeliveryRecord], GatewayFault> {
    var epochs = [number.epoch]
    for phone in (try? await state.phones())?.registrations ?? [] {
      if let secret = phone.secret { epochs.append(PushNotification.sealedEpoch(number.epoch, for: secret)) }
    }
    var records: [DeliveryRecord] = []
    for epoch in epochs {
      switch await gateway.deliveries(of: EventNumber(epoch: epoch, seq: number.seq)) {
      case .success(let found): records += found
      case .failure(let fault): return .failure(fault)
      }
    }
    return .success(records)
  }
}
