import BluetoothLEFirmware
import BluetoothLESimulator
import TestSupport

@testable import BluetoothLE

/// An update for users of the library: an asynchronous sequence of its events.
@Suite(.timeLimit(.minutes(15))) struct UpdateProgressTests {
  @LoopActor private static func device() async throws -> (LinkedUpdateDevice, VirtualPeripheral) {
    let file = try PeripheralFile.parse(Array("[\(UpdateTests.sensor), \"update\": {\"mcumgr\": {}}}]".utf8), name: "test")
    let (peripheral, air) = (VirtualPeripheral(try #require(file.first)), Air())
    air.add(peripheral)
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    let session = Session { central }
    let device = LinkedUpdateDevice(OneShotLinks(session, SilentReporter(), nil), LinkRequest(.name("Sensor"))) {
      await session.disconnect($0)
    }
    return (device, peripheral)
  }

  @Test func theStepsAndTheProgressFollowEachOther() async throws {
    try await onLoop {
      let (device, peripheral) = try await Self.device()
      let update = FirmwareUpdate(try FirmwareFile.recognize(UpdateTests.image))
      var (steps, confirmed): ([UpdateStep], [Int]) = ([], [])
      for try await event in update.progress(device) {
        switch event {
        case .began(let step): steps.append(step)
        case .progress(_, let count, let total):
          #expect(total == UpdateTests.image.count)
          confirmed.append(count)
        case .resumed, .note: Issue.record("\(event)")
        }
      }
      #expect(steps == [.upload(0, of: 1), .test, .restart, .compare, .confirm])
      #expect(confirmed.first == 0 && confirmed.last == UpdateTests.image.count && confirmed == confirmed.sorted())
      #expect(update.outcome?.isConfirmed == true && update.kind == .mcumgr)
      #expect(peripheral.management?.images.running?.version.description == "2.0.0+7")
    }
  }

  /// Who stops reading stops the update. The device keeps its image.
  @Test func theEndOfTheIterationCancelsTheUpdate() async throws {
    try await onLoop {
      let (device, peripheral) = try await Self.device()
      let update = FirmwareUpdate(try FirmwareFile.recognize(UpdateTests.image))
      for try await event in update.progress(device) {
        if case .progress(_, let count, _) = event, count > 1000 { break }
      }
      try await EventLoop.shared.sleep(for: .seconds(60))
      #expect(update.outcome == nil)
      let received = peripheral.management?.ledger.received ?? 0
      #expect(received > 1000 && received < UpdateTests.image.count, "\(received)")
      #expect(peripheral.management?.images.running?.version.description == "1.0.0")
    }
  }
}
