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

  /// Returns whether the device runs an application that can start its bootloader.
  package nonisolated static func isButtonless(_ table: AttributeTable) -> Bool { button(table) != nil }

  /// The characteristic with which an application starts its bootloader.
  nonisolated static func button(_ table: AttributeTable) -> Characteristic? {
    table.services.filter { $0.uuid == service || $0.uuid == experimental }.flatMap(\.characteristics)
      .first { [.dfu(0x8EC9_0003), bonded, experimental].contains($0.uuid) }
  }

  /// Starts the bootloader, which ends the link. A link that ends before the answer is success. Applications of nRF5 SDK 12 notify.
  static func enterBootloader(_ client: Client, _ button: Characteristic) async throws {
    let answers = try await client.subscribe(button, kind: button.uuid == experimental ? .notification : .indication)
    let limit = Duration.seconds(10)
    let deadline = EventLoop.shared.now.advanced(by: limit)
    do {
      try await client.writeRequest([1], to: button.valueHandle)
      while let value = try await answers.next(until: deadline)?.value {
        guard value.count >= 3, value[0] == 0x20, value[1] == 1 else { continue }
        guard value[2] == 1 else { throw DFUError.buttonlessRefused(ButtonlessResult(value[2])) }
        return
      }
      throw DFUError.noAnswer(nil, after: limit)
    } catch  where DFUError.isLostLink(error, client) {}
  }
}

extension DFUError {
  /// Whether an operation failed because its link ended.
  @LoopActor static func isLostLink(_ error: any Error, _ client: Client) -> Bool {
    client.closed != nil && !(error is DFUError) && !(error is CancellationError)
  }
}
