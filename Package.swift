// swift-tools-version: 6.2
import PackageDescription

// Rooms, lowest first. An arrow may only point to a room above it in this file;
// `swift build --explicit-target-dependency-import-check error` and ArchitectureTests keep it so.

// `brew` for what a host on macOS needs: Swift then finds it wherever Homebrew keeps it.
func system(_ name: String, pkgConfig: String?, apt: String, brew: String? = nil) -> Target {
  .systemLibrary(
    name: name, path: "Sources/Shared/System/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt])] + (brew.map { [.brew([$0])] } ?? []))
}

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/Shared/\(name)")
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: "Sources/\(name)")
}

// `files` are cases that the tests read beside their source, which the build leaves alone.
func tests(_ name: String, _ dependencies: [Target.Dependency], files: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["Support"], path: "Tests/\(name)", exclude: files)
}

let package = Package(
  name: "push-gateway",
  platforms: [.macOS(.v26)],  // for PushHost; the gateway's own programs are for Linux
  products: [
    .library(name: "PushHost", targets: ["PushHost"]),
    .executable(name: "pushhost", targets: ["host"]),
  ],
  targets: [
    // C libraries, each imported by the rooms named beside it and by no other.
    system("CLinux", pkgConfig: nil, apt: "libc6-dev"),  // Loop, Http, Tls
    system("CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),  // Http
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),  // Keys, Tls
    system("CPostgres", pkgConfig: "libpq", apt: "libpq-dev"),  // Postgres
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),  // SQLite
    system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev", brew: "libsodium"),  // Proof

    // Pure: no I/O, no C.
    room("Json"),
    room("Contract", ["Json"]),

    // Cryptography: values in, values out.
    room("Keys", ["COpenSSL", "Contract", "Json"]),
    room("Proof", ["CSodium", "Contract"]),

    // The host's side, a library for others: Foundation, and none of the gateway's C libraries but libsodium.
    room("PushHost", ["Contract", "Json", "Proof"]),

    // The loop and what lives on it.
    room("Loop", ["CLinux"]),
    room("Tls", ["CLinux", "COpenSSL"]),
    room("Http", ["CLinux", "CNghttp2", "Loop", "Tls"]),
    room("Postgres", ["CPostgres", "Loop"]),
    room("SQLite", ["CSQLite", "Loop"]),

    // What the gateway is made of.
    room("Operations", ["CLinux", "Contract", "Http", "Json", "Keys", "Loop"]),
    room("Stores", ["Contract", "Keys", "Loop", "Operations", "Postgres", "SQLite"]),
    room("Providers", ["Contract", "Http", "Json", "Keys", "Loop", "Operations", "Tls"]),

    program("api", ["Contract", "Http", "Json", "Keys", "Loop", "Operations", "Postgres", "Proof", "Stores"]),
    program("worker", ["Contract", "Http", "Json", "Keys", "Loop", "Operations", "Providers", "Stores", "Tls"]),
    program("janitor", ["Contract", "Http", "Json", "Loop", "Operations", "Providers", "Stores", "Tls"]),
    program("sandbox", ["Contract", "Http", "Json", "Keys", "Loop", "Operations", "Tls"]),
    program("bench", ["Contract", "Http", "Keys", "Loop", "Postgres", "Stores", "Tls"]),
    program("host", ["Json", "PushHost"]),  // built as `pushhost`
    program("demo", ["Contract", "Http", "Json", "Keys", "Loop", "Operations", "PushHost"]),
    // The example of docs/hosts.md.
    .executableTarget(name: "bridge", dependencies: ["PushHost"], path: "docs/bridge"),

    .target(
      name: "Support", dependencies: ["Contract", "Http", "Json", "Loop", "Postgres", "Tls"], path: "Tests/Support"),
    tests("JsonTests", ["Json"], files: ["reference.py"]),
    tests(
      "ContractTests", ["Contract", "Json", "Keys", "Proof"],
      files: ["requests.json", "raw-bodies.json", "collapse-ids.json"]),
    tests("KeysTests", ["Keys", "Contract", "Json"]),
    tests("ProofTests", ["Proof", "Contract", "Json", "Keys"], files: ["proofs.json"]),
    tests("PushHostTests", ["PushHost", "Contract", "Json", "Proof"], files: ["proofs.json", "sealed.py"]),
    tests("LoopTests", ["Loop"]),
    tests("HttpTests", ["CLinux", "Http", "Loop", "Tls"], files: ["server_oracle.py"]),
    tests("PostgresTests", ["Postgres", "Loop"]),
    tests("SQLiteTests", ["SQLite", "Loop"]),
    tests("OperationsTests", ["Operations", "Contract", "Http", "Json", "Keys", "Loop"]),
    tests(
      "StoresTests", ["Stores", "Contract", "Keys", "Loop", "Operations", "Postgres", "SQLite"],
      files: [
        "schema-3-statements.sql", "schema-4-statements.sql", "schema-5-statements.sql",
        "schema-6-statements.sql", "schema-7-statements.sql", "schema-8-statements.sql",
      ]),
    tests(
      "ProvidersTests", ["Providers", "Contract", "Http", "Json", "Keys", "Loop", "Operations", "Tls"],
      files: ["collapse-ids.json", "provider-outcomes.json"]),
    tests(
      "ApiTests",
      ["api", "Contract", "Http", "Json", "Keys", "Loop", "Operations", "Postgres", "Proof", "SQLite", "Stores"]),
    tests(
      "WorkerTests",
      [
        "worker", "Contract", "Http", "Json", "Keys", "Loop", "Operations", "Postgres", "Providers", "SQLite", "Stores",
      ]),
    tests("JanitorTests", ["janitor", "Contract", "Http", "Json", "Loop", "Operations", "Stores"]),
    tests("SandboxTests", ["sandbox", "Contract", "Http", "Json", "Keys", "Loop", "Tls"]),
    tests(
      "EndToEndTests", ["Contract", "Http", "Json", "Keys", "Loop"], files: ["leash.py", "cutting_proxy.py", "openapi"]),
    tests("ChaosTests", []),
    tests("ArchitectureTests", ["Json"]),
  ],
  swiftLanguageModes: [.v6]
)

// `PUSH_TEST_ROOMS=HttpTests,ProvidersTests swift build --build-tests` builds those rooms' tests alone: all of them take
// minutes after a change in a low room.
if let rooms = Context.environment["PUSH_TEST_ROOMS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !rooms.contains($0.name) }
}

// `scripts/fuzz` alone builds these: they need libFuzzer's runtime and its instrumentation everywhere.
if Context.environment["PUSH_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CTime", path: "Fuzz/Time"),
    .executableTarget(
      name: "fuzz",
      dependencies: ["CTime", "Contract", "Http", "Json", "Keys", "Loop", "Operations", "Postgres", "Providers"],
      path: "Fuzz", exclude: ["Time", "seeds", "dictionaries"]),
  ]
}

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ]
}
// Untrusted bytes are read here: no unsafe construct without its mark.
for target in package.targets where ["Json", "Contract"].contains(target.name) {
  target.swiftSettings?.append(.strictMemorySafety())
}
