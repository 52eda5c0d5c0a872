// SPDX-License-Identifier: Apache-2.0
@_exported public import BluetoothLE
import BluetoothLEDeviceFiles
@_exported public import BluetoothLEFirmware
import BluetoothLEText

/// A simulated radio with its devices, for tests and first steps without hardware.
///
/// It speaks HCI, so programs run on the same host as with a controller. Time is virtual: a wait of 16 s takes milliseconds, and every
/// run has the same result. All simulators of a process share one clock. A simulator in virtual time and a real adapter need two processes.
///
/// ```swift
/// let adapter = try await Adapter.open(Simulator.preset.adapter)
/// print(try await adapter.find("Band-7"))
/// ```
public final class Simulator: Sendable {
  private let isVirtual: Bool
  private let air: SharedAir

  /// Creates a simulator whose adapters cannot be opened if there are no descriptions.
  init(_ descriptions: Result<[PeripheralDescription], FileEntryError>, seed: UInt64, isVirtual: Bool) {
    (self.isVirtual, air) = (isVirtual, SharedAir(descriptions, seed: seed))
  }

  /// Creates a simulator with the devices of a peripheral file, which blectl-peripheral(5) describes.
  /// - Parameters:
  ///   - json: The text of the file: one device, or a list of devices. <doc:SimulatedDevices> has an example.
  ///   - seed: Determines all random events, such as the times of advertisements.
  ///   - isVirtual: Whether time is virtual. Use false beside a real adapter.
  /// - Throws: `BluetoothError` with the reason `invalidArgument`, and line, column and path of the first mistake.
  public convenience init(_ json: String, seed: UInt64 = 1, isVirtual: Bool = true) throws {
    do throws(FileEntryError) {
      let descriptions = try PeripheralFile.parse(Array(json.utf8), name: "simulator")
      self.init(.success(descriptions), seed: seed, isVirtual: isVirtual)
    } catch { throw BluetoothError(error) }
  }

  /// A new simulator with a lock (`GateLock`), a wristband (`Band-7`), a panel that takes pictures (`Panel`) and a lock that demands
  /// pairing (`SafeLock`). <doc:SimulatedDevices> describes them.
  public static var preset: Simulator { preset(isVirtual: true) }

  /// Returns a new simulator with the devices of ``preset``.
  /// - Parameter isVirtual: Whether time is virtual. Use false beside a real adapter.
  public static func preset(isVirtual: Bool) -> Simulator {
    Simulator(Result { () throws(FileEntryError) in try BuiltInDevices.peripherals() }, seed: 1, isVirtual: isVirtual)
  }

  /// A new simulator without devices, whose adapters hear each other.
  public static var empty: Simulator { Simulator(.success([]), seed: 1, isVirtual: true) }

  /// A radio of the simulator. Each `Adapter.open` makes another one, and all hear the same devices and each other. Each has the lowest
  /// address that no open adapter of the simulator has, from `00:00:5E:00:53:01` on.
  public var adapter: AdapterSource {
    AdapterSource("sim", isVirtual: isVirtual) { [air] bonds in
      let (air, controller) = try air.controller()
      let central = try await HostCentral.started(controller, name: "sim")
      // Without them, each process would have to pair again.
      for stored in try bonds.bonds(of: central.adapterInfo.ownAddress) { air.restore(stored.bond, with: central.adapterInfo.ownAddress) }
      return central
    }
  }
}

/// The radio environment of all adapters of a simulator, from the first use on.
@LoopActor
private final class SharedAir {
  private let descriptions: Result<[PeripheralDescription], FileEntryError>
  private let seed: UInt64
  private var made: Air?
  /// The controllers that may be open, by the last part of their addresses.
  private var controllers: [UInt64: Weak] = [:]
  private struct Weak { weak var controller: VirtualController? }

  nonisolated init(_ descriptions: Result<[PeripheralDescription], FileEntryError>, seed: UInt64) {
    (self.descriptions, self.seed) = (descriptions, seed)
  }

  /// Returns the radio environment. Makes it at the first call.
  private func air() throws(FileEntryError) -> Air {
    if let made { return made }
    let air = Air(seed: seed)
    air.add(try descriptions.get())
    made = air
    return air
  }

  /// Makes a controller with the lowest free address.
  func controller() throws(FileEntryError) -> (Air, VirtualController) {
    let air = try air()
    var number: UInt64 = 0
    while controllers[number]?.controller?.isClosed == false { number += 1 }
    let controller = VirtualController(air: air, address: Address(rawValue: VirtualController.defaultAddress.rawValue + number))
    controllers[number] = Weak(controller: controller)
    return (air, controller)
  }
}

extension FileEntryError: DescribedError {
  package var kind: BluetoothError.Reason { .invalidArgument }
  package var sentence: String { description }
}
