import Json
import Testing

/// Rulings 9.
@Suite struct MetricsTests {
  @Test func `Requests, sends and commits are counted by pattern, with nothing of the callers in it`() async throws {
    try await StoreKind.sqlite.use(["ORCA_PUSH_METRICS_PORT": "0"]) { gateway in
      let port = try await gateway.process.port("metricsPort")
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      _ = try await gateway.send(token, [phone, "unknown"], Body.notification(1))
      _ = try await gateway.send(token, [phone], Body.notification(2, kind: "dismiss"))
      _ = try await gateway.ask(Ask(method: "DELETE", path: "/v1/devices/some-id", bearer: token))
      _ = try await gateway.ask(.get("/private/path"))
      let text = try await Ask.get("/metrics").send(to: port).text
      for line in [
        #"orca_push_http_requests_total{route="/v1/send",status="200"} 2"#,
        #"orca_push_http_requests_total{route="/v1/devices/:registrationId",status="404"} 1"#,
        #"orca_push_http_requests_total{route="other",status="404"} 1"#,
        #"orca_push_http_request_seconds_count{route="/v1/send"} 2"#,
        #"orca_push_sends_total{kind="alert",result="queued"} 1"#,
        #"orca_push_sends_total{kind="alert",result="error"} 1"#,
        #"orca_push_sends_total{kind="dismiss",result="queued"} 1"#,
        "orca_push_admission_batch_size_count 2",
      ] {
        #expect(text.contains(line + "\n"), "\(line)")
      }
      #expect(text.contains("orca_push_build_info{"))
      for secret in [token, phone, "some-id", "private"] { #expect(!text.contains(secret)) }
      let ready = try await Ask.get("/ready").send(to: port)
      #expect(ready.json?["ok"]?.bool == true)
      // The public port has none of it.
      #expect(try await gateway.ask(.get("/metrics")).status == 404)
    }
  }

  @Test func `Connections to Postgres are shown`() async throws {
    try await StoreKind.postgres.use(["ORCA_PUSH_METRICS_PORT": "0"]) { gateway in
      let port = try await gateway.process.port("metricsPort")
      _ = try await gateway.bearer()
      let text = try await Ask.get("/metrics").send(to: port).text
      #expect(text.contains(#"orca_push_database_connections{state="idle"} "#))
    }
  }
}
