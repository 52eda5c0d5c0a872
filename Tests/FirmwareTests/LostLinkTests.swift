import BluetoothLESimulator
import TestSupport

@testable import BluetoothLEFirmware

/// Updates of simulated devices over links that are lost.
@Suite(.timeLimit(.minutes(15))) struct LostLinkTests {
  /// The files of 200 kB, what their devices are, and the bytes of an object or of a window: three requests with a header and a map.
  private static let image = UpdateAir.image(2, size: 200_000)
  private static let binary = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
  private static func files(_ isManagement: Bool) -> (file: [UInt8], device: String, limit: Int) {
    isManagement ? (image, #""mcumgr": {}"#, 3 * 360) : (Fixture.package(binary: binary), #""dfu": {"buttonless": "no_bonds"}"#, 4096)
  }

  /// One update loses its link a hundred times. After each, it sends at most one object or one window again.
  @Test(arguments: [true, false]) func aLinkIsLostAtEachPercent(_ isManagement: Bool) async throws {
    try await onLoop {
      let (file, device, limit) = Self.files(isManagement)
      let air = try await UpdateAir(device)
      var (cuts, highest, repeated, resumptions) = (0, 0, 0, 0)
      let outcome = try await air.update(file) { event in
        if case .resumed(let offset) = event {
          resumptions += 1
          #expect(highest - offset <= limit && air.ledger.repeated - repeated <= limit, "cut \(cuts)")
          repeated = air.ledger.repeated
        }
        guard case .progress(let sent, _, let total) = event else { return }
        highest = max(highest, sent)
        if sent * 100 >= (cuts + 1) * total, air.device.cut() { cuts += 1 }
      }
      // After the last one, the device has all bytes, and MCUmgr sends none.
      #expect(cuts == 100 && resumptions >= 99 && outcome.resumptions == 100 && air.ledger.repeated - repeated <= limit)
      if let images = air.device.peripheral.management?.images {
        #expect(try images.running?.hash == ImageFile(file).hash && !images.isOnTrial && outcome.versionAfter == "2.0.0")
      } else {
        let bootloader = air.device.peripheral.bootloader
        #expect(bootloader?.application == Self.binary && bootloader?.applicationVersion == 10203)
      }
      await air.session.close()
    }
  }
}
