/// A strict reader of Prometheus' text format 0.0.4, as far as the tests need one.
struct PrometheusText {
  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
  }
  struct Fault: Error { let line: String }

  private(set) var types: [String: String] = [:]
  private(set) var samples: [Sample: Double] = [:]

  subscript(_ name: String, _ labels: [String: String] = [:]) -> Double? { samples[Sample(name: name, labels: labels)] }

  init(_ text: String) throws {
    guard text.isEmpty || text.hasSuffix("\n") else { throw Fault(line: "no newline at the end") }
    var helped: String?
    var current = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) {
      if let match = line.wholeMatch(of: /# HELP ([a-z_]+) (.+)/) {
        helped = String(match.1)
      } else if let match = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge|histogram)/) {
        current = String(match.1)
        guard helped == current, types.updateValue(String(match.2), forKey: current) == nil else {
          throw Fault(line: line)
        }
      } else {
        try read(line, of: current)
      }
    }
    try checkHistograms()
  }

  private mutating func read(_ line: String, of metric: String) throws {
    let shape = /([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+)\})? (\S+)/
    guard let match = line.wholeMatch(of: shape) else { throw Fault(line: line) }
    let endings = types[metric] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
    guard endings.contains(where: { metric + $0 == match.1 }) else { throw Fault(line: line) }
    var labels: [String: String] = [:]
    for pair in (match.2 ?? "").matches(of: /([a-z_]+)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/) {
      guard labels.updateValue(String(pair.2), forKey: String(pair.1)) == nil else { throw Fault(line: line) }
    }
    let number =
      ["+Inf": Double.infinity, "-Inf": -Double.infinity, "NaN": Double.nan][String(match.3)] ?? Double(match.3)
    guard let number, samples.updateValue(number, forKey: Sample(name: String(match.1), labels: labels)) == nil else {
      throw Fault(line: line)
    }
  }

  /// Buckets rise, and the last of them is the count.
  private func checkHistograms() throws {
    for (name, type) in types where type == "histogram" {
      for (sample, count) in samples where sample.name == name + "_count" {
        let buckets = samples.filter { entry in
          entry.key.name == name + "_bucket" && entry.key.labels.filter { $0.key != "le" } == sample.labels
        }
        let rising = buckets.compactMap { entry -> (Double, Double)? in
          guard let text = entry.key.labels["le"], let le = text == "+Inf" ? .infinity : Double(text) else {
            return nil
          }
          return (le, entry.value)
        }.sorted { $0.0 < $1.0 }
        guard rising.count == buckets.count, rising.last?.0 == .infinity, rising.last?.1 == count,
          zip(rising, rising.dropFirst()).allSatisfy({ $0.1 <= $1.1 }), self[name + "_sum", sample.labels] != nil
        else { throw Fault(line: name) }
      }
    }
  }
}
