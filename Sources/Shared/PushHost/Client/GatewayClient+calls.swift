internal import Contract
internal import Json

extension GatewayClient {
  /// The most registrations that one send may name.
  public static let recipientsPerSend = Limits.registrationsPerSend

  /// Registers a phone, or renews its registration; its registration id, which stays when the token changes.
  public func register(deviceId: String, token: PhoneToken) async -> Result<String, GatewayFault> {
    await outcome { () async throws(GatewayFault) in
      let body = try Self.checked { () throws(InvalidRequest) in try token.request(deviceId: deviceId) }
      let reply = try await self.ask(HttpCall("POST", "/v1/devices", body: body)).members()
      return try reply.text("registrationId")
    }
  }

  /// Deletes a registration; false when the gateway does not know it, which comes to the same.
  public func unregister(_ registrationId: String) async -> Result<Bool, GatewayFault> {
    await outcome { () async throws(GatewayFault) in
      let path = "/v1/devices/" + Self.escaped(registrationId)
      let reply = try await self.ask(HttpCall("DELETE", path))
      if reply.status == 404 { return false }
      if let fault = reply.fault(expecting: 204) { throw fault }
      return true
    }
  }

  /// All phones that are registered for this host, oldest first.
  public func devices() async -> Result<[ListedPhone], GatewayFault> {
    await outcome { () async throws(GatewayFault) in
      let reply = try await self.ask(HttpCall("GET", "/v1/devices")).members()
      guard let rows = reply["devices"]?.array, rows.count <= 1_024 else { throw .unreachable(.garbled) }
      var phones: [ListedPhone] = []
      for row in rows {
        guard let row = row.object, let isDead = row["dead"]?.bool else { throw .unreachable(.garbled) }
        phones.append(
          ListedPhone(
            registrationId: try row.text("registrationId"), deviceId: try row.text("deviceId"),
            platform: try row.text("platform"), isDead: isDead))
      }
      return phones
    }
  }

  /// Sends to 1 to 20 registrations; one result each, in their order, repeats folded.
  ///
  /// Where the outcome is unknown (`unreachable`), send the very same again: whoever has it does not get it twice.
  public func send(_ notification: PushNotification, to registrationIds: [String]) async -> Result<
    [SendResult], GatewayFault
  > {
    await outcome { () async throws(GatewayFault) in
      let body = try Self.checked { () throws(InvalidRequest) in try notification.request(to: registrationIds) }
      let reply = try await self.ask(HttpCall("POST", "/v1/send", body: body)).members()
      guard let rows = reply["results"]?.array, rows.count <= Limits.registrationsPerSend
      else { throw .unreachable(.garbled) }
      var results: [SendResult] = []
      for row in rows {
        guard let row = row.object, let word = row["status"]?.string,
          // A word of a later contract is no success.
          let id = row["registrationId"]?.string, registrationIds.contains(id)
        else { throw .unreachable(.garbled) }
        results.append(SendResult(registrationId: id, status: SendResult.Status(rawValue: word) ?? .error))
      }
      return results
    }
  }

  // MARK: How

  func outcome<Value: Sendable>(
    _ body: () async throws(GatewayFault) -> Value
  ) async -> Result<Value, GatewayFault> {
    do throws(GatewayFault) { return .success(try await body()) } catch { return .failure(error) }
  }

  /// What the contract has against a request is found here, without asking anyone.
  private static func checked(_ body: () throws(InvalidRequest) -> [UInt8]) throws(GatewayFault) -> [UInt8] {
    do throws(InvalidRequest) {
      return try body()
    } catch {
      throw .rejected(Rejection(reason: ErrorCode.invalidRequest.rawValue, detail: error.detail))
    }
  }

  /// An id as one segment of a path.
  static func escaped(_ id: String) -> String {
    var path: [UInt8] = []
    for byte in id.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"): path.append(byte)
      default: path += Array("%".utf8) + Array(Hex.encode([byte]).uppercased().utf8)
      }
    }
    return String(decoding: path, as: UTF8.self)
  }
}
