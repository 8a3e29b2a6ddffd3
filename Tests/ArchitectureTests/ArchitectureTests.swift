import Testing

@Suite struct ArchitectureTests {
  @Test("Package.swift declares the rooms and programs of the plan, and no others")
  func roomsAreThoseOfThePlan() {
    let declared = SourceTree.declared("room") + SourceTree.declared("program")
    #expect(Set(declared) == Set(Plan.floors.joined()))
    #expect(Set(SourceTree.declared("system")) == Set(Plan.owners.keys))
  }

  @Test("Each room has files", arguments: Plan.floors.flatMap { $0 })
  func roomsHaveFiles(room: String) {
    #expect(SourceTree.sources.contains { $0.target == room })
  }

  @Test("Files import what their floor may know: rooms below it and their own C library")
  func importsPointDown() {
    var imports = 0
    for file in SourceTree.sources {
      let allowed = Plan.allowed(file.target)
      for name in file.imports {
        imports += 1
        #expect(allowed.contains(name), "\(file.path) imports \(name)")
      }
    }
    #expect(imports > 100, "the imports could not be read")
  }

  @Test("A file is one idea: none has more than 400 lines")
  func filesAreShort() {
    for file in SourceTree.sources {
      #expect(file.lines <= 400, "\(file.path) has \(file.lines) lines")
    }
  }

  @Test("A program is entered in one place")
  func programsHaveOneEntry() {
    for program in Plan.floors.last ?? [] {
      let entries = SourceTree.sources.filter { $0.target == program && "\n\($0.text)".contains("\n@main") }
      #expect(entries.count == 1, "\(program) has \(entries.count) files with @main")
    }
  }

  @Test(
    "Imports are read from every spelling",
    arguments: [
      ("import Json", ["Json"]), ("internal import Loop", ["Loop"]), ("package import Contract", ["Contract"]),
      ("@testable import api", ["api"]), ("@_spi(X) public import struct Http.Url", ["Http"]),
      ("// import Json", []), ("let text = \"import Json\"", []),
    ])
  func importsAreRead(line: String, expected: [String]) {
    #expect(SourceTree.File(path: "", target: "", text: "// one\n\(line)\n").imports == expected)
  }
}
