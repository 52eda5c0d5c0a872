import Bluetooth
import GATT
import HCI

/// The commands that start and stop scanning beside a kernel and other programs that may scan too, as decisions only.
struct ScanProcedure: Equatable {
  enum Step: Equatable {
    case send(HCI.Command)
    /// Scanning, with our parameters.
    case started
    /// Someone else scans and the controller takes no other parameters: their reports reach us too, so use those, and touch nothing.
    case piggyBack
    case failed(HCI.Opcode, ControllerErrorCode)
  }

  private enum State { case disabling, configuring, enabling, done, listening }

  /// Whether the scan that is used is someone else's.
  var isPiggyBack: Bool { state == .listening }

  let stop: HCI.Command
  private let configure: HCI.Command
  private let enable: HCI.Command
  private var state = State.disabling

  /// - Parameters:
  ///   - extended: whether the controller has the extended commands; when it has, the kernel uses them, and legacy ones are refused.
  ///   - ownAddressType: random for a controller without a public address.
  init(_ parameters: ScanParameters, extended: Bool, ownAddressType: AddressType) {
    // Listening all the time: what is not heard cannot be found. 60 ms, so that a whole advertising event falls into one window.
    let window: UInt16 = 0x60
    if extended {
      let phys = parameters.phys.isEmpty ? [.le1M] : parameters.phys
      let timing = HCI.Command.ScanTiming(isActive: parameters.isActive, interval: window * UInt16(clamping: phys.count), window: window)
      configure = .leSetExtendedScanParameters(
        ownAddressType: ownAddressType.hciValue, filterPolicy: 0, phys: PHYMask(phys), phys.map { _ in timing })
      enable = .leSetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0)
      stop = .leSetExtendedScanEnable(false, filterDuplicates: 0, duration: 0, period: 0)
    } else {
      configure = .leSetScanParameters(
        HCI.Command.ScanTiming(isActive: parameters.isActive, interval: window, window: window), ownAddressType: ownAddressType.hciValue,
        filterPolicy: 0)
      enable = .leSetScanEnable(true, filterDuplicates: false)
      stop = .leSetScanEnable(false, filterDuplicates: false)
    }
  }

  /// Whether the controller has the extended scan commands: the kernel's own rule.
  static func usesExtended(_ commands: SupportedCommands) -> Bool {
    commands.contains(.leSetExtendedScanParameters) && commands.contains(.leSetExtendedScanEnable)
  }

  var first: Step { .send(stop) }

  /// - Parameter status: of the command of the step before.
  mutating func next(_ status: ControllerErrorCode) -> Step {
    switch state {
    case .disabling:
      // Whatever it says: most controllers refuse to disable what is not enabled. It heals after a program that was killed while scanning.
      state = .configuring
      return .send(configure)
    case .configuring:
      if status == .success {
        state = .enabling
        return .send(enable)
      }
      return refused(configure, status)
    case .enabling:
      guard status == .success else { return refused(enable, status) }
      state = .done
      return .started
    case .done: return .started
    case .listening: return .piggyBack
    }
  }

  private mutating func refused(_ command: HCI.Command, _ status: ControllerErrorCode) -> Step {
    state = status == .commandDisallowed ? .listening : .done
    return status == .commandDisallowed ? .piggyBack : .failed(command.opcode, status)
  }
}
