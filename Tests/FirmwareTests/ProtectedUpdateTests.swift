import BluetoothLEFirmware
import BluetoothLESimulator
import TestSupport

/// Updates of simulated devices that take them from paired clients only.
@Suite(.timeLimit(.minutes(15))) struct ProtectedUpdateTests {
  private static let devices: [(String, String, ErrorCode)] = [
    (#""mcumgr": {"access": "encrypted"}"#, "", .insufficientEncryption),
    (#""mcumgr": {"access": "authenticated"}"#, #""passkey": "123456""#, .insufficientAuthentication),
    (#""dfu": {"buttonless": "bonds"}"#, "", .insufficientEncryption),
  ]

  /// Without pairing, the error is that of a missing bond, and nothing has changed. A command that may pair does so once. The bond is used
  /// after each restart, also by the bootloader.
  @Test(arguments: devices) func pairingIsNeeded(_ update: String, _ passkey: String, _ code: ErrorCode) async throws {
    try await onLoop {
      let isManagement = update.contains("mcumgr")
      let file = isManagement ? UpdateAir.image(2) : Fixture.package()
      let air = try await UpdateAir(update, #", "security": {\#(passkey)}"#)
      do {
        try await air.update(file)
        Issue.record("no error")
      } catch GATTError.errorResponse(let refusal, to: _, on: _) { #expect(refusal == code) }
      #expect(air.lacksBond && air.pairings == 0 && air.ledger.received == 0 && air.ledger.restarts == 0)
      air.pairs = true
      for _ in 1...2 {
        try await air.update(file)
        #expect(air.pairings == 1 && air.bonds.stored.count == 1 && air.isSecure)
      }
      let device = air.device.peripheral
      let isNew =
        isManagement ? device.management?.images.running?.version.major == 2 : device.bootloader?.application == Fixture.application
      #expect(isNew)
      #expect(air.ledger.restarts == (isManagement ? 1 : 4) && air.ledger.received > 0)
      await air.session.close()
    }
  }
}
