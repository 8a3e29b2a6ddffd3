internal import CLinux
internal import Glibc
internal import Loop

/// What every program shows of itself.
package enum ProcessMetrics {
  /// Shows the build, the log's losses and the process's memory, time and descriptors.
  @LoopActor
  package static func show(in metrics: Metrics, build: BuildIdentity, log: Log) {
    metrics.sampledGauge(
      "orca_push_build_info", "The build that runs, always 1.", MetricLabel("version", [build.version]),
      MetricLabel("revision", [build.revision])
    ) { [([build.version, build.revision], 1)] }
    metrics.sampledCounter("orca_push_log_lines_dropped_total", "Log lines that nobody took in time.") {
      Double(log.dropped)
    }
    let started = Double(WallClock.milliseconds) / 1000
    metrics.sampledGauge("process_start_time_seconds", "Start of the process since the Unix epoch.") { started }
    metrics.sampledCounter("process_cpu_seconds_total", "Processor time spent.") { Double(lx_cpu_ns()) / 1e9 }
    metrics.sampledGauge("process_resident_memory_bytes", "Resident memory.") { residentBytes() }
    metrics.sampledGauge("process_open_fds", "Open descriptors.") { openDescriptors() }
  }

  /// Shows `orca_push_database_connections{state}`.
  @LoopActor
  package static func showDatabaseConnections(
    in metrics: Metrics, _ sample: @escaping @LoopActor () -> (idle: Int, busy: Int, connecting: Int)
  ) {
    metrics.sampledGauge(
      "orca_push_database_connections", "Database connections.", MetricLabel("state", ["idle", "busy", "connecting"])
    ) {
      let now = sample()
      return [(["idle"], Double(now.idle)), (["busy"], Double(now.busy)), (["connecting"], Double(now.connecting))]
    }
  }

  private static func residentBytes() -> Double? {
    guard let bytes = try? StartupFile.read("/proc/self/statm", limit: 4096) else { return nil }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func openDescriptors() -> Double? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Without the two dots and the descriptor that reads.
    return Double(count - 3)
  }
}
