// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// How a simulated device pairs.
package struct DeviceSecurity: Sendable, Equatable {
  package var parameters = PairingParameters()
  /// The passkey that the device's user enters. A device with a display shows `parameters.passkey`.
  package var passkey: SixDigits?
  /// The reason with which the device refuses each pairing. Nil for a device that pairs.
  package var refusal: PairingFailedReason?
  /// Whether the device loses its keys when the link ends.
  package var forgets = false

  package init() {}

  package var acceptance: Pairing.Acceptance { refusal.map { .refuse($0) } ?? .accept(parameters) }
}

/// The user of a simulated device, who enters the device's passkey and agrees with each number.
final class DeviceUser: PairingUser {
  private let known: SixDigits?
  private let display: @LoopActor (SixDigits) -> Void

  init(passkey: SixDigits?, display: @escaping @LoopActor (SixDigits) -> Void) { (known, self.display) = (passkey, display) }

  func passkey() async -> SixDigits? { known }

  func show(_ passkey: SixDigits) { display(passkey) }

  func isSame(_ number: SixDigits) async -> Bool { true }
}
