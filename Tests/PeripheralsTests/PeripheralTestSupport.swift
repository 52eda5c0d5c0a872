import BluetoothLESimulator
import Foundation
import TestSupport

/// A client that exchanges PDUs with a virtual peripheral directly, without a simulated air.
@LoopActor
final class PeripheralTestClient {
  /// The peripheral's channel. It does not retain the client, so that an unused client does not run forever in virtual time.
  @LoopActor private final class Wire: Channel {
    var handler: (@LoopActor (ChannelEvent) -> Void)?
    weak var client: PeripheralTestClient?

    func send(_ pdu: [UInt8]) { client?.send(pdu) }
    func waitUntilWritable(until _: LoopClock.Instant?) async throws -> Bool { true }
    func close() { client?.isClosed = true }
  }

  private let wire = Wire()
  /// The received PDUs with their times since the connection.
  private(set) var log: [(milliseconds: Int64, pdu: String)] = []
  private(set) var isClosed = false
  private let begin = EventLoop.shared.now
  /// Retained here, as the air would do.
  private let peripheral: VirtualPeripheral

  init(_ peripheral: VirtualPeripheral) {
    self.peripheral = peripheral
    wire.client = self
    peripheral.connected(wire)
  }

  private func send(_ pdu: [UInt8]) {
    log.append((begin.duration(to: EventLoop.shared.now).wholeNanoseconds / 1_000_000, Hex.encode(pdu)))
  }

  func write(_ hex: String) { wire.handler?(.received(Hex.decode(hex) ?? [])) }
  func write(_ bytes: [UInt8]) { wire.handler?(.received(bytes)) }
  /// Sends a request and returns the answer.
  func ask(_ hex: String) -> String {
    let before = log.count
    write(hex)
    return log.dropFirst(before).first?.pdu ?? ""
  }
  func drop() { wire.handler?(.closed(ControllerErrorCode.connectionTimeout)) }
  func take() -> [String] {
    defer { log = [] }
    return log.map(\.pdu)
  }
}

func little(_ handle: AttributeHandle) -> [UInt8] { [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)] }

extension PeripheralDescription {
  /// Returns the value handle of the characteristic with this UUID.
  func handle(_ uuid: String) -> AttributeHandle {
    database.attributes.first { attribute in
      if case .value = attribute.role { return attribute.type.description == uuid }
      return false
    }?.handle ?? 0
  }
  func hex(_ uuid: String) -> String { Hex.encode(little(handle(uuid))) }
  /// Returns the handle of its client configuration, in hex.
  func configuration(_ uuid: String) -> String { Hex.encode(little(handle(uuid).next)) }
}

/// The example files of man/examples.
enum ExampleFiles {
  static let all = [
    "challenge-lock.json", "wristband.json", "gate-lock.json", "band-7.json", "tracker.json", "slow-panel.json", "updatable.json",
  ]
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("man/examples")

  static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appendingPathComponent(name))) }

  /// The examples that are device files.
  static let devices = ["gate-lock.json", "band-7.json", "tracker.json"]

  static func read(_ name: String) throws -> PeripheralDescription { try PeripheralFile.parse(bytes(name), name: name)[0] }
}
