import Foundation
import Loop

/// What curl says of a request, by a client that is not ours.
enum ServerCurl {
  private static let calls = BlockingCalls(name: "curl")

  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") }

  /// Status, protocol version and body of each reply, a line each: `200 2` after its body.
  static func lines(_ arguments: [String], body: [UInt8] = []) async -> [String] {
    await calls.run {
      let curl = Process()
      let output = Pipe()
      let input = Pipe()
      curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
      curl.arguments = ["-s", "--max-time", "60", "-w", "%{http_code} %{http_version}\n"] + arguments
      curl.standardInput = input
      curl.standardOutput = output
      curl.standardError = FileHandle.nullDevice
      guard (try? curl.run()) != nil else { return [] }
      // Less than a pipe holds.
      input.fileHandleForWriting.write(Data(body))
      input.fileHandleForWriting.closeFile()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      curl.waitUntilExit()
      return text.split(separator: "\n").map(String.init)
    }
  }
}
