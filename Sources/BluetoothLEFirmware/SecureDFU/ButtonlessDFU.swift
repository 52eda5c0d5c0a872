// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

extension UUID {
  /// Creates a UUID of Nordic's DFU from its first four bytes.
  package static func dfu(_ number: UInt64) -> Self { Self(high: number << 32 | 0xF315_4F60, low: 0x9FB8_8388_30DA_EA50) }
}

extension DFUTarget {
  private nonisolated static let experimental = UUID.dfu(0x8E40_0001)
  /// The bootloader of this characteristic keeps the bond and the address of the application.
  nonisolated static let bonded = UUID.dfu(0x8EC9_0004)
  /// The bootloader of this characteristic has no bonds, and takes a name from the application (nRF5 SDK 14 and later).
  private nonisolated static let unbonded = UUID.dfu(0x8EC9_0003)

  /// Returns whether the device runs an application that can start its bootloader.
  package nonisolated static func isButtonless(_ table: AttributeTable) -> Bool { button(table) != nil }

  /// The characteristic with which an application starts its bootloader.
  nonisolated static func button(_ table: AttributeTable) -> Characteristic? {
    table.services.filter { $0.uuid == service || $0.uuid == experimental }.flatMap(\.characteristics)
      .first { [unbonded, bonded, experimental].contains($0.uuid) }
  }

  /// Starts the bootloader, which ends the link. A link that ends before the answer is success. Applications of nRF5 SDK 12 notify.
  /// - Returns: The name with which the bootloader advertises. Nil if the application takes none, so that it is `DfuTarg`, as that of others.
  static func enterBootloader(_ client: Client, _ button: Characteristic) async throws -> String? {
    let answers = try await client.subscribe(button, kind: button.uuid == experimental ? .notification : .indication)
    do {
      let name = button.uuid == unbonded ? try await setName(client, button, answers) : nil
      let limit = Duration.seconds(10)
      do {
        try await client.writeRequest([1], to: button.valueHandle)
        guard let result = try await answer(to: 1, answers, within: limit) else { throw DFUError.noAnswer(nil, after: limit) }
        guard result == .success else { throw DFUError.buttonlessRefused(result) }
      } catch  where client.isLost(by: error) {}
      return name
    } catch {
      await answers.close()
      throw error
    }
  }

  /// Gives the bootloader a random name. Returns nil if the application refuses it, or does not answer within 3 s.
  private static func setName(_ client: Client, _ button: Characteristic, _ answers: Subscription) async throws -> String? {
    let name = "Dfu" + String(Int.random(in: 0x10000...0xFFFFF), radix: 16, uppercase: true)
    do { try await client.writeRequest([2, UInt8(name.utf8.count)] + name.utf8, to: button.valueHandle) } catch GATTError.errorResponse {
      return nil
    }
    return try await answer(to: 2, answers, within: .seconds(3)) == .success ? name : nil
  }

  /// Waits for an answer: 0x20, the opcode, the result. Drops others. Returns nil after the limit.
  private static func answer(to opcode: UInt8, _ answers: Subscription, within limit: Duration) async throws -> ButtonlessResult? {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    while let value = try await answers.next(until: deadline)?.value {
      if value.count >= 3, value[0] == 0x20, value[1] == opcode { return ButtonlessResult(value[2]) }
    }
    return nil
  }
}
