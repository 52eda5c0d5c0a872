import BluetoothLEFirmware
import BluetoothLESimulator
import TestSupport

/// A client that updates a simulated device with PDUs of its own, on the test's clock.
@LoopActor
final class UpdateTestClient {
  let peripheral: VirtualPeripheral
  let client: PeripheralTestClient
  private var sequence: UInt8 = 0

  /// Creates a device from the value of its `update`.
  static func device(_ update: String, more: String = "") throws -> VirtualPeripheral {
    let text = #"{"name": "T", "address": "D1:00:00:00:00:FF/random", "update": {\#(update)}\#(more)}"#
    return VirtualPeripheral(try PeripheralFile.parse(Array(text.utf8), name: "x")[0])
  }

  /// Connects with an MTU of 247, and subscribes to the answers of updates.
  init(_ peripheral: VirtualPeripheral) throws {
    try #require(peripheral.isRunning)
    (self.peripheral, client) = (peripheral, PeripheralTestClient(peripheral))
    #expect(client.ask("02f700").hasPrefix("03"))
    for uuid in [Self.smp, Self.control, Self.button] where peripheral.description.handle(uuid) != 0 {
      #expect(client.ask("12" + peripheral.description.configuration(uuid) + (uuid == Self.button ? "0200" : "0100")) == "13")
    }
    _ = client.take()
  }

  private static let smp = "da2e7828-fbce-4e01-ae9e-261174997c48"
  private static let control = "8ec90001-f315-4f60-9fb8-838830daea50"
  private static let packet = "8ec90002-f315-4f60-9fb8-838830daea50"
  private static let button = "8ec90003-f315-4f60-9fb8-838830daea50"

  // MARK: MCUmgr

  static func message(_ group: UInt8, _ command: UInt8, write: Bool, version: UInt8 = 1, sequence: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
    [version << 3 | (write ? 2 : 0), 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF), 0, group, sequence, command] + body
  }

  func send(_ message: [UInt8], size: Int = 244) {
    for start in stride(from: 0, to: message.count, by: size) {
      client.write([0x52] + little(peripheral.description.handle(Self.smp)) + message[start..<min(start + size, message.count)])
    }
  }

  /// Returns the messages that arrived, with their headers.
  func messages() -> [[UInt8]] {
    var (bytes, found): ([UInt8], [[UInt8]]) = (client.take().flatMap { (Hex.decode($0) ?? []).dropFirst(3) }, [])
    while bytes.count >= 8 {
      let length = 8 + Int(bytes[2]) << 8 + Int(bytes[3])
      found.append(Array(bytes.prefix(length)))
      bytes.removeFirst(min(length, bytes.count))
    }
    return found
  }

  /// Sends a request and returns the answer that came at once. Null without one.
  func ask(_ group: UInt8, _ command: UInt8, write: Bool = false, version: UInt8 = 1, _ body: CBOR = .map([CBOR.Member]())) throws -> CBOR {
    sequence &+= 1
    send(Self.message(group, command, write: write, version: version, sequence: sequence, body.encoded))
    guard let answer = messages().last else { return .null }
    #expect(answer[6] == sequence && answer[7] == command)
    return try CBOR(decoding: answer[8...])
  }

  /// Sends one piece of an image, and returns the offset in the answer. Nil without one.
  func piece(_ image: [UInt8], at offset: Int, size: Int = 256, sha: [UInt8]? = nil) throws -> Int? {
    let data = CBOR.bytes(Array(image[offset..<min(offset + size, image.count)]))
    guard offset == 0 else { return try ask(1, 1, write: true, .map(["off": .integer(offset), "data": data]))["off"]?.integer }
    let sha = CBOR.bytes(sha ?? SHA2.sha256.hash(image))
    let first: CBOR = .map(["image": .integer(0), "len": .integer(image.count), "off": .integer(0), "sha": sha, "data": data])
    return try ask(1, 1, write: true, first)["off"]?.integer
  }

  func upload(_ image: [UInt8]) throws {
    var offset = 0
    repeat { offset = try #require(try piece(image, at: offset)) } while offset < image.count
  }

  /// The images of the list: version, and the flags that are true.
  func list(_ answer: CBOR? = nil) throws -> [String] {
    try (answer ?? ask(1, 0))["images"]?.array?.map { image in
      let flags = ["active", "confirmed", "pending", "permanent"].filter { image[$0]?.bool ?? false }
      return ([image["version"]?.text ?? ""] + flags).joined(separator: " ")
    } ?? []
  }

  func mark(_ image: [UInt8], confirm: Bool = false) throws -> CBOR {
    try ask(1, 0, write: true, .map(["hash": .bytes(try ImageFile(image).hash ?? []), "confirm": .bool(confirm)]))
  }

  /// Restarts the device by its command.
  func reset() async throws -> UpdateTestClient {
    #expect(try ask(0, 5, write: true) == .map([CBOR.Member]()))
    return try await again()
  }

  /// Waits for the next start.
  func again() async throws -> UpdateTestClient {
    try await EventLoop.shared.sleep(for: .seconds(4))
    #expect(client.isClosed)
    return try UpdateTestClient(peripheral)
  }

  // MARK: Nordic

  /// Writes to the control point, or to the button, and returns the last answer.
  func request(_ hex: String) -> String {
    let (control, button) = (peripheral.description.hex(Self.control), peripheral.description.hex(Self.button))
    client.write("12" + (control == "0000" ? button : control) + hex)
    let answer = client.take().last ?? ""
    if answer.hasPrefix("1d") { client.write("1e") }
    return String(answer.dropFirst(6))
  }

  func packets(_ bytes: ArraySlice<UInt8>, size: Int = 244) {
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: size) {
      client.write([0x52] + little(peripheral.description.handle(Self.packet)) + bytes[start..<min(start + size, bytes.endIndex)])
    }
  }

  static func number(_ number: Int) -> String { Hex.encode((0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }) }

  func create(_ type: Int, _ size: Int) { client.write("12" + peripheral.description.hex(Self.control) + "010\(type)" + Self.number(size)) }

  /// Sends one object, and returns the answer to its execution.
  func object(_ type: Int, _ bytes: ArraySlice<UInt8>) -> String {
    let created = request("010\(type)" + Self.number(bytes.count))
    guard created == "600101" else { return created }
    packets(bytes)
    return request("04")
  }
}
