import Loop
import Testing

@testable import Operations

@LoopActor
private final class Level {
  var now: Double?
}

@Suite @LoopActor struct MetricsTests {
  @Test func `Counters grow by series and show what is foreseen from the start`() throws {
    let metrics = Metrics()
    let sends = metrics.counter("sends_total", "Sends.", MetricLabel("kind", ["alert", "dismiss"]))
    let alerts = sends.at("alert")
    alerts.increment()
    alerts.increment(by: 4)
    alerts.increment(by: -3)
    sends.increment("alert")
    let text = try PrometheusText(metrics.exposition())
    #expect(text.types == ["sends_total": "counter"])
    #expect(text["sends_total", ["kind": "alert"]] == 6)
    #expect(text["sends_total", ["kind": "dismiss"]] == 0)
    #expect(text.samples.count == 2)
    #expect(alerts.value == 6)
  }

  @Test func `A value that was not foreseen counts as other`() throws {
    let metrics = Metrics()
    let requests = metrics.counter("r_total", "R.", MetricLabel("route", ["/a"]), MetricLabel("status", ["200"]))
    requests.increment("/b", "200")
    requests.increment("/c", "999", by: 2)
    requests.increment("/a\"}\n", "200")
    let text = try PrometheusText(metrics.exposition())
    #expect(text["r_total", ["route": "other", "status": "200"]] == 2)
    #expect(text["r_total", ["route": "other", "status": "other"]] == 2)
    #expect(text["r_total", ["route": "/a", "status": "200"]] == 0)
    #expect(text.samples.count == 3)
  }

  @Test func `A metric of many series shows those that were counted`() throws {
    let metrics = Metrics()
    let many = metrics.counter("many_total", "M.", MetricLabel("a", (0..<100).map(String.init)))
    many.increment("7")
    #expect(try PrometheusText(metrics.exposition()).samples.count == 1)
  }

  @Test func `Gauges are shown once they are set`() throws {
    let metrics = Metrics()
    let parked = metrics.gauge("parked", "P.", MetricLabel("provider", ["apns", "fcm"]))
    #expect(try PrometheusText(metrics.exposition()).samples.isEmpty)
    parked.at("apns").set(true)
    parked.at("fcm").set(2.25)
    parked.at("fcm").add(-1)
    var text = try PrometheusText(metrics.exposition())
    #expect(text["parked", ["provider": "apns"]] == 1 && text["parked", ["provider": "fcm"]] == 1.25)
    parked.at("apns").clear()
    text = try PrometheusText(metrics.exposition())
    #expect(text.samples.count == 1)
  }

  @Test func `Sampled metrics are asked for at each reading`() throws {
    let metrics = Metrics()
    let depth = Level()
    metrics.sampledGauge("depth", "D.") { depth.now }
    metrics.sampledGauge("age", "A.", MetricLabel("p", ["x"])) { [(["x"], 1), (["y"], 2), (["z"], 3)] }
    #expect(try PrometheusText(metrics.exposition())["depth"] == nil)
    depth.now = 1e-7
    let text = try PrometheusText(metrics.exposition())
    #expect(text["depth"] == 1e-7)
    #expect(text["age", ["p": "x"]] == 1 && text["age", ["p": "other"]] == 5)
  }

  @Test func `A value at a bound falls into the bound's bucket`() throws {
    let metrics = Metrics()
    let seconds = metrics.histogram("s", "S.", MetricLabel("p", ["x"]), bounds: [0.1, 1, 10])
    let x = seconds.at("x")
    for value in [0, 0.1, 0.100001, 1, 9.5, 11, .infinity] { x.observe(value) }
    seconds.observe(3, "y")
    let text = try PrometheusText(metrics.exposition())
    let buckets = ["0.1", "1", "10", "+Inf"].map { text["s_bucket", ["p": "x", "le": $0]] }
    #expect(buckets == [2, 4, 5, 7])
    #expect(text["s_count", ["p": "x"]] == 7 && x.count == 7)
    #expect(text["s_sum", ["p": "x"]] == .infinity)
    #expect(text["s_sum", ["p": "other"]] == 3)
  }

  @Test func `Labels and help are escaped`() throws {
    let metrics = Metrics()
    metrics.counter("c_total", "One\nline \\ \"help\".", MetricLabel("l", ["a\"b\\c\nd"])).increment("a\"b\\c\nd")
    let text = metrics.exposition()
    #expect(text.hasPrefix("# HELP c_total One\\nline \\\\ \"help\".\n# TYPE c_total counter\n"))
    #expect(text.contains(#"c_total{l="a\"b\\c\nd"} 1"#))
    #expect(try PrometheusText(text).samples.count == 1)
  }

  @Test(
    arguments: [
      (0.0, "0"), (1, "1"), (-3, "-3"), (0.005, "0.005"), (2.5, "2.5"), (1e300, "1e+300"), (.infinity, "+Inf"),
      (-.infinity, "-Inf"), (.nan, "NaN"), (1_700_000_000.123, "1700000000.123"), (123_456_789_012, "123456789012"),
    ] as [(Double, String)])
  func `Numbers are written as Prometheus reads them`(number: Double, text: String) {
    #expect(Exposition.number(number) == text)
  }

  @Test func `Every name and label that others build on is there`() throws {
    let metrics = Metrics()
    let api = ApiMetrics(metrics)
    let worker = WorkerMetrics(metrics)
    let janitor = JanitorMetrics(metrics, tables: ["push_challenges"])
    worker.showCredentialAge { $0 == "apns" ? 12.5 : nil }
    ProcessMetrics.show(in: metrics, build: BuildIdentity(environment: ["K_REVISION": "r-1"]), log: Log(program: "x"))
    ProcessMetrics.showDatabaseConnections(in: metrics) { (1, 2, 3) }
    api.requests.increment("/v1/send", "200")
    api.requestSeconds.observe(0.1, "/v1/send")
    api.sends.increment("alert", "queued")
    api.admissionBatchSize.observe(3)
    worker.deliveries.increment("fcm", "sent")
    worker.attempts.increment("apns", "BadDeviceToken")
    worker.deliverySeconds.observe(1, "apns")
    worker.providerRequestSeconds.observe(1, "fcm")
    worker.inFlight.at("apns").add(1)
    worker.queueDepth.set(7)
    worker.queueOldestDueSeconds.set(0.5)
    worker.laneParked.at("apns", "sandbox").set(true)
    worker.invalidationPaused.at("fcm").set(false)
    worker.leasesLost.increment()
    worker.providerConnections.at("apns").set(2)
    janitor.deleted.increment("push_challenges", by: 2000)
    let text = try PrometheusText(metrics.exposition())
    let expected: [(String, [String: String], Double)] = [
      ("orca_push_http_requests_total", ["route": "/v1/send", "status": "200"], 1),
      ("orca_push_http_request_seconds_count", ["route": "/v1/send"], 1),
      ("orca_push_sends_total", ["kind": "alert", "result": "queued"], 1),
      ("orca_push_sends_total", ["kind": "dismiss", "result": "rate_limited"], 0),
      ("orca_push_admission_batch_size_count", [:], 1),
      ("orca_push_deliveries_total", ["provider": "fcm", "outcome": "sent"], 1),
      ("orca_push_deliveries_total", ["provider": "apns", "outcome": "cancelled"], 0),
      ("orca_push_attempts_total", ["provider": "apns", "reason": "BadDeviceToken"], 1),
      ("orca_push_delivery_seconds_count", ["provider": "apns"], 1),
      ("orca_push_provider_request_seconds_count", ["provider": "fcm"], 1),
      ("orca_push_in_flight", ["provider": "apns"], 1),
      ("orca_push_queue_depth", [:], 7),
      ("orca_push_queue_oldest_due_seconds", [:], 0.5),
      ("orca_push_lane_parked", ["provider": "apns", "environment": "sandbox"], 1),
      ("orca_push_invalidation_paused", ["provider": "fcm"], 0),
      ("orca_push_leases_lost_total", [:], 1),
      ("orca_push_provider_connections", ["provider": "apns"], 2),
      ("orca_push_database_connections", ["state": "busy"], 2),
      ("orca_push_credential_age_seconds", ["provider": "apns"], 12.5),
      ("orca_push_janitor_deleted_total", ["table": "push_challenges"], 2000),
      ("orca_push_build_info", ["version": "0.1.0", "revision": "r-1"], 1),
      ("orca_push_log_lines_dropped_total", [:], 0),
    ]
    for (name, labels, value) in expected { #expect(text[name, labels] == value, "\(name)") }
    for name in ["process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"] {
      #expect((text[name] ?? 0) > 0, "\(name)")
    }
    #expect((text["process_start_time_seconds"] ?? 0) > 1_700_000_000)
  }

  @Test(
    arguments: [
      ([:], "unknown"), (["K_REVISION": "push-00042-abc"], "push-00042-abc"),
      (["CLOUD_RUN_WORKER_POOL_REVISION": "w-1"], "w-1"), (["ORCA_PUSH_REVISION": "", "K_REVISION": "k"], "k"),
      (["ORCA_PUSH_REVISION": "deadbeef", "K_REVISION": "k"], "deadbeef"),
    ] as [([String: String], String)])
  func `The revision is the deployment's, else the platform's`(environment: [String: String], revision: String) {
    #expect(BuildIdentity(environment: environment).revision == revision)
  }
}
