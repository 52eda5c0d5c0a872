package import BluetoothLE
import BluetoothLESimulator
import CommandLine

/// The device that a session serves to centrals while its commands run.
@LoopActor
package final class SessionPeripheral {
  /// The served device, also after its adapter failed. Nil if the session serves none.
  package private(set) var running: RunningPeripheral?
  private unowned let shell: Shell
  /// The number of events that the session dropped because the output had no room.
  private var dropped = 0

  init(_ shell: Shell) { self.shell = shell }

  /// Serves the device of a file.
  /// - Parameter adapter: The adapter. Nil uses that of the session.
  /// - Throws: Failure if the session serves a device; the errors of the file and of `RunningPeripheral.start`.
  func start(_ file: String, on adapter: AdapterSpec?, _ options: ServingOptions, _ context: Context) async throws {
    if let running, running.failure == nil { throw Failure(.usage, "\(running.title) is served already. End it: peripheral off") }
    await end()
    let description = try RunningPeripheral.only(try await AdapterSpec.peripherals(in: file), in: file)
    let title = DisplayText.escape(description.name)
    let output = shell.output(of: nil)
    let running = try await RunningPeripheral.start(
      description, options, on: try await context.process.servingRadio(adapter), context.process, note: { output.note("\(title): \($0)") },
      onEvent: { [weak self] in if !$0.offer(of: title, to: output) { self?.dropped += 1 } },
      onFailure: { output.note("\(title) is no longer served: \(Failure($0).message)") })
    // Only scripts have expectations.
    running.events.limit = context.caller == .script ? 1 << 16 : 0
    self.running = running
    try await running.announce("To end it: peripheral off", context.output)
  }

  /// Returns the served device.
  /// - Throws: Failure if the session serves none.
  package func present() throws -> RunningPeripheral {
    guard let running else { throw Failure(.usage, "No device is served. Start one: peripheral FILE") }
    return running
  }

  /// Ends the served device, if any, and before it the session's own connection to it. Works in a canceled task.
  package func end() async {
    guard let running else { return }
    self.running = nil
    for device in shell.devices where device.connection.map({ $0.peer == running.address }) ?? false {
      await shell.disconnect(device)
      if shell.current === device { shell.use(nil) }
    }
    await running.end()
    if dropped > 0, !process.output.isBroken {
      process.output.note("Dropped \(dropped.counted("event")) of \(running.title): the output was not read in time.")
    }
    dropped = 0
  }

  private var process: ProcessContext { shell.process }
}
