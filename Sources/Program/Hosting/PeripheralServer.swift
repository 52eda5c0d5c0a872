import BluetoothLELinux
import BluetoothLESimulator
import CommandLine

/// The device of the command `peripheral`: it prints what the centrals do, and performs the lines of standard input.
@LoopActor
final class PeripheralServer {
  private let description: PeripheralDescription
  private let options: ServingOptions
  private let endsWithCentral: Bool
  private let context: Context
  private var output: Output { context.output }
  private let over = Wait<Void>()
  private var centrals = 0
  /// The number of records that the server dropped because the output had no room.
  private var dropped = 0

  /// The longest line of standard input in bytes.
  private static let lineLimit = 1 << 16

  init(_ description: PeripheralDescription, _ options: ServingOptions, endsWithCentral: Bool, _ context: Context) {
    (self.description, self.options, self.endsWithCentral, self.context) = (description, options, endsWithCentral, context)
  }

  /// Serves until the time limit, the end of the last central with `--once`, or the failure of the adapter.
  /// - Throws: the errors of the adapter, of the output and of standard input; CancellationError.
  func run(for limit: Duration?) async throws {
    let device = try await RunningPeripheral.start(
      description, options, on: try await context.process.servingRadio(nil), context.process, note: { [output] in output.note($0) },
      onEvent: { [weak self] in self?.take($0) }, onFailure: { [over] in over.resume(throwing: $0) })
    device.events.limit = 0
    let outcome: Result<Void, any Error>
    do {
      try await device.announce("Press Ctrl-C to stop.", output)
      _ = try await withDeadline(limit.map { EventLoop.shared.now.advanced(by: $0) }) {
        try await race({ try await self.over.value() }, { try await self.readLines(device) })
      }
      outcome = .success(())
    } catch { outcome = .failure(error) }
    await device.end()
    if dropped > 0 { context.reportDropped(dropped) }
    try outcome.get()
  }

  private func take(_ record: ServedRecord) {
    if !record.offer(to: output) { dropped += 1 }
    // Who closed the pipe wants no more events.
    if let failure = output.resultFailure { over.resume(throwing: failure) }
    switch record.event.kind {
    case .connected: centrals += 1
    case .disconnected:
      centrals -= 1
      if endsWithCentral, centrals == 0 { over.resume(returning: ()) }
    default: break
    }
  }

  // MARK: Standard input

  /// Performs the lines of standard input. After its end, nothing changes.
  private func readLines(_ device: RunningPeripheral) async throws {
    guard StandardInput.isFed || StandardInput.isTerminal else { return try await Self.forever() }
    let reader = LineReader(limit: Self.lineLimit)
    while let line = try await reader.next() {
      switch line {
      case .tooLong: output.note("Skipped a line of more than \(Self.lineLimit) bytes.")
      case .bytes(let bytes):
        guard let text = String(validating: bytes, as: UTF8.self) else {
          output.note("Skipped a line that is not UTF-8.")
          continue
        }
        perform(text, device)
      }
    }
    try await Self.forever()
  }

  private static func forever() async throws { try await Wait<Void>().value() }

  private func perform(_ text: String, _ device: RunningPeripheral) {
    do {
      guard let line = try PeripheralLineParser.parse(text) else { return }
      if try device.perform(line) == 0 { output.note("No central has subscribed, so none got the value: \(text)") }
    } catch { output.note("Skipped the line \(DisplayText.quote(DisplayText.clip(text, to: 60))): \(Failure(error).message)") }
  }
}
