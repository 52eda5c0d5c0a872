import BluetoothLESimulator
import TestSupport

/// Updates for users of the library: their events, outcomes and errors.
@Suite(.timeLimit(.minutes(15))) struct FirmwareUpdatingTests {
  init() { startLoop() }

  private func opened(_ update: String) async throws -> (Adapter, Peripheral) {
    let text = #"{"name": "Sensor", "address": "D1:00:00:00:00:51/random", "advertisement": {"name": "Sensor"}, "update": {\#(update)}}"#
    let adapter = try await Adapter.open(Simulator(text).adapter)
    return (adapter, try await adapter.find("Sensor"))
  }

  private static let rows: [(update: String, file: [UInt8], steps: [UpdateStep], versions: [String?], bytes: Int)] = [
    (
      #""mcumgr": {}"#, UpdateAir.image(2, size: 30_000), [.upload(0, of: 1), .test, .restart, .compare, .confirm], ["1.0.0", "2.0.0"],
      30_072
    ),
    (
      #""dfu": {"buttonless": "no_bonds"}"#, SecureDFUTests.combinedFile,
      [.enterBootloader, .upload(0, of: 2), .restart, .upload(1, of: 2), .restart], [nil, nil], 1300
    ),
  ]

  @Test func theStepsAndTheProgressFollowEachOther() async throws {
    for row in Self.rows {
      let (adapter, device) = try await opened(row.update)
      var (steps, confirmed, last): ([UpdateStep], [Int], UpdateEvent?) = ([], [], nil)
      for try await event in adapter.updateFirmware(of: device, with: row.file) {
        if case .began(let step) = event { (steps, confirmed) = (steps + [step], []) }
        if case .progress(_, let count, _) = event { confirmed.append(count) }
        #expect(confirmed == confirmed.sorted() && confirmed.count < 250)
        last = event
      }
      #expect(steps == row.steps)
      guard case .finished(let outcome)? = last else {
        Issue.record("\(last.map { "\($0)" } ?? "no event")")
        continue
      }
      #expect([outcome.versionBefore, outcome.versionAfter] == row.versions && outcome.bytes == row.bytes)
      // The update has closed its connection.
      try await adapter.withConnection(to: try await adapter.find("Sensor")) { _ = try await $0.services() }
    }
  }

  /// Who stops reading stops the update. The device keeps its image, and the next update continues.
  @Test func theEndOfTheIterationCancelsTheUpdate() async throws {
    let (adapter, device) = try await opened(#""mcumgr": {}"#)
    let file = UpdateAir.image(2, size: 30_000)
    for try await case .progress(_, let confirmed, _) in adapter.updateFirmware(of: device, with: file) where confirmed > 10_000 { break }
    try await EventLoop.shared.call { try await EventLoop.shared.sleep(for: .seconds(60)) }
    for bytes in [1..<20_100, 0..<1] {
      for try await case .finished(let outcome) in adapter.updateFirmware(of: device, with: file) {
        #expect(outcome.versionBefore == (bytes.contains(0) ? "2.0.0" : "1.0.0") && outcome.versionAfter == "2.0.0")
        #expect(bytes.contains(outcome.bytes), "\(outcome.bytes)")
      }
    }
  }

  private static let failures: [(update: String, file: [UInt8], reason: BluetoothError.Reason, sentence: String)] = [
    (#""mcumgr": {}"#, Array("text".utf8), .invalidArgument, "unknownFormat("),
    (#""mcumgr": {}"#, Fixture.package(), .invalidArgument, "packageForMCUmgr."),
    (#""mcumgr": {"no_downgrade": true}"#, UpdateAir.image(0, 9), .invalidArgument, "downgradeForbidden(running: 1.0.0, file: 0.9.0)."),
    (#""mcumgr": {"mode": 0}"#, UpdateAir.image(2), .unsupported, "refused(ManagementOperation.upload, ManagementRefusal(group:"),
    (
      #""dfu": {"buttonless": "no_bonds", "hardware_version": 51}"#, Fixture.package(), .unsupported,
      "refused(DFUOperation.execute, DFUResult.extended,"
    ),
  ]

  @Test func errorsHaveAReasonAndASentence() async throws {
    for row in Self.failures {
      let (adapter, device) = try await opened(row.update)
      do {
        for try await _ in adapter.updateFirmware(of: device, with: row.file) {}
        Issue.record("no error: \(row.sentence)")
      } catch let error as BluetoothError {
        #expect(error.reason == row.reason && error.description.hasPrefix("The update failed: \(row.sentence)"), "\(error)")
      }
    }
  }
}
