import Foundation

/// Runs the real executable as a user's shell would.
package enum Blectl {
  package typealias Result = ProcessResult

  /// The path in `BLECTL_EXECUTABLE`, else the executable of this build, next to the test bundle.
  package static let path =
    ProcessInfo.processInfo.environment["BLECTL_EXECUTABLE"]
    ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("blectl").path

  /// Returns the adapter that simulates the devices of a file with this text.
  package static func simulator(_ devices: String) throws -> String { "sim:\(try TemporaryFolder.file(devices))" }

  /// Runs to the end. Standard input is /dev/null, or a pipe with `input`.
  /// Uses the simulated air in virtual time, unless `arguments` or `environment` differ.
  package static func run(
    _ arguments: [String], input: [UInt8]? = nil, environment: [String: String] = [:], folder: String? = nil, adapter: String? = "sim",
    virtual: Bool = true
  ) throws -> Result {
    let running = try start(
      arguments, environment: environment, folder: folder, adapter: adapter, virtual: virtual, hasInput: input != nil)
    running.send(input ?? [])
    return running.finish()
  }

  package static func run(_ arguments: String..., input: [UInt8]? = nil, adapter: String? = "sim") throws -> Result {
    try run(arguments, input: input, adapter: adapter)
  }

  package static func start(
    _ arguments: [String], environment: [String: String] = [:], folder: String? = nil, adapter: String? = "sim", virtual: Bool = true,
    hasInput: Bool = true, reading: RunningProcess.Reading = .everything
  ) throws -> RunningProcess {
    var variables = ["PATH": "/usr/bin:/bin", "HOME": "/dev/null", "TERM": "xterm"]
    if let adapter { variables["BLECTL_ADAPTER"] = adapter }
    if virtual { variables["BLECTL_CLOCK"] = "virtual" }
    let running = try RunningProcess(
      [path] + arguments, environment: variables.merging(environment) { $1 }, folder: folder, hasInput: hasInput, reading: reading)
    if arguments.contains("--json") { running.keptArguments = arguments }
    return running
  }
}
