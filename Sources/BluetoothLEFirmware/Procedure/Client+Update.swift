// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension Subscription {
  /// Ends the subscription, also in a canceled task, within 1 s: a link that goes on, as in a session, would keep it. An error changes nothing.
  func close() async {
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { try await self.cancel() }
    }
  }
}

/// An error that the device answered, or that its answers caused. The end of the link is none.
protocol ProcedureError: Error {}

extension Client {
  /// Returns whether an operation failed because the link ended.
  func isLost(by error: any Error) -> Bool { closed != nil && !(error is any ProcedureError) && !(error is CancellationError) }

  /// Reads the Firmware Revision String (2A26). Returns nil if the device has none.
  func firmwareRevision() async throws -> String? {
    guard let text = try await discover().characteristics.first(where: { $0.uuid == UUID(0x2A26) }) else { return nil }
    return String(decoding: try await read(text.valueHandle), as: UTF8.self)
  }
}
