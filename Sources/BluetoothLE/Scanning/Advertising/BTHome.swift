// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The decoder for BTHome v2 (bthome.io/format, bthome.io/encryption), the service data of FCD2.
enum BTHome {
  /// Decodes BTHome data of version 2. Nil for other versions. The field `rest` has the data from the first unknown object on, in hex.
  static func decode(_ data: [UInt8], sender: Address?, keys: BTHomeKeys) -> DecodedData? {
    guard let information = data.first, information >> 5 == 2 else { return nil }
    let isEncrypted = information & 1 != 0
    var fields: [DecodedData.Field] = [
      .init("version", .integer(2)), .init("encrypted", .bool(isEncrypted)), .init("trigger", .bool(information & 4 != 0)),
    ]
    // Bit 1 is reserved. Firmwares that set it send their address before the objects.
    let hasAddress = information & 2 != 0 && data.count >= 7
    let payload = data.dropFirst(hasAddress ? 7 : 1)
    func decoded(_ payload: ArraySlice<UInt8>) -> DecodedData {
      let found = objects(payload)
      var data = DecodedData("bthome", fields + found.fields)
      data.objectIDs = found.ids
      return data
    }
    guard isEncrypted else { return decoded(payload) }
    guard payload.count > 8 else { return DecodedData("bthome", fields, .tooShort) }
    let (ciphertext, counter, mic) = (payload.dropLast(8), payload.suffix(8).prefix(4), payload.suffix(4))
    fields.append(.init("counter", .integer(Int(ByteOrder.little.number(counter)))))
    guard let candidates = keys.candidates(hasAddress ? Address(bigEndian: data[1..<7].reversed()) : sender) else {
      return DecodedData("bthome", fields)
    }
    for (address, key) in candidates {
      let nonce = address.bigEndianBytes + [0xD2, 0xFC, information] + counter
      if let message = CCM.open(ciphertext, mic: mic, nonce: nonce, key: key) { return decoded(message[...]) }
    }
    return DecodedData("bthome", fields, .noKeyFits)
  }

  /// Decodes the objects into the field `objects`. Bytes after the last known object become the field `rest`, in hex.
  private static func objects(_ payload: ArraySlice<UInt8>) -> (fields: [DecodedData.Field], ids: [UInt8]) {
    var (rest, ids) = (payload, [] as [UInt8])
    var objects: [[DecodedData.Field]] = []
    while let (size, object) = next(rest) {
      objects.append(object)
      ids += rest.prefix(1)
      rest = rest.dropFirst(size)
    }
    return ([.init("objects", .records(objects))] + (rest.isEmpty ? [] : [.init("rest", .text(Hex.encode(rest)))]), ids)
  }

  /// Decodes the first object and returns its size in bytes. Returns nil for unknown or incomplete objects.
  private static func next(_ data: ArraySlice<UInt8>) -> (size: Int, object: [DecodedData.Field])? {
    guard let id = data.first, let object = objects[id] else { return nil }
    var (head, count) = (1, 1)
    switch object.kind {
    case .number(let bytes, _), .version(let bytes): count = bytes
    case .time: count = 4
    case .dimmer: count = 2
    case .bool, .level, .button: break
    case .text, .raw, .command:
      guard let length = data.dropFirst().first else { return nil }
      // The code of a command precedes its arguments and does not count.
      (head, count) = (2, object.kind == .command ? 1 + Int(length & 0x1F) : Int(length))
    }
    guard data.count >= head + count else { return nil }
    let fields = [.init("name", .text(object.name))] + values(object, Array(data.dropFirst(head).prefix(count)))
    return (head + count, object.unit.map { fields + [.init("unit", .text($0))] } ?? fields)
  }

  private static func values(_ object: Object, _ data: [UInt8]) -> [DecodedData.Field] {
    func field(_ value: DecodedData.Value) -> [DecodedData.Field] { [.init("value", value)] }
    let first = data.first ?? 0
    switch object.kind {
    case .number(let bytes, let isSigned):
      let bits = 8 * min(4, max(1, bytes))
      var number = Int(ByteOrder.little.number(data.prefix(4)))
      if isSigned, number >> (bits - 1) == 1 { number -= 1 << bits }
      number *= object.factor
      return field(object.divisor == 1 ? .integer(number) : .number(Double(number) / object.divisor))
    case .bool:
      let state = object.states.dropFirst(first == 0 ? 0 : 1).first
      return field(.bool(first != 0)) + (state.map { [.init("state", .text($0))] } ?? [])
    case .level:
      return field(.integer(Int(first))) + (object.states.dropFirst(Int(first)).first.map { [.init("state", .text($0))] } ?? [])
    case .time: return field(.text(Timestamp.text(Int64(ByteOrder.little.number(data.prefix(4))) * 1_000_000_000)))
    case .text: return field(.text(String(decoding: data, as: UTF8.self)))
    case .raw: return field(.text(Hex.encode(data)))
    case .version: return field(.text(data.reversed().map(String.init).joined(separator: ".")))
    case .button: return field(.text(name(of: first, buttons)))
    case .dimmer: return field(.text(name(of: first, dimmers))) + [.init("steps", .integer(Int(data.last ?? 0)))]
    case .command:
      let steps = (first == 3 || first == 4) && data.count == 2 ? [DecodedData.Field("steps", .integer(Int(data[1])))] : []
      return field(.text(name(of: first, commands))) + [.init("arguments", .text(Hex.encode(data.dropFirst())))] + steps
    }
  }

  private static func name(of code: UInt8, _ names: [UInt8: String]) -> String { names[code] ?? "0x" + Hex.encode(code) }

  // The page of the format lacks the release, but the receiver of its authors knows it.
  static let buttons: [UInt8: String] = [
    0x00: "none", 0x01: "press", 0x02: "double_press", 0x03: "triple_press", 0x04: "long_press", 0x05: "long_double_press",
    0x06: "long_triple_press", 0x80: "hold_press", 0x81: "hold_release",
  ]
  static let dimmers: [UInt8: String] = [0: "none", 1: "rotate_left", 2: "rotate_right"]
  static let commands: [UInt8: String] = [0: "off", 1: "on", 2: "toggle", 3: "step_up", 4: "step_down"]
}

/// The AES-128 keys of encrypted BTHome sensors.
package struct BTHomeKeys: Sendable {
  private var own: [Address: [AES128]] = [:]
  private var shared: [AES128] = []

  package init() {}

  /// Adds a key.
  /// - Parameter address: The device that uses the key. Nil means all devices without a key of their own.
  package mutating func add(_ key: AES128, of address: Address?) {
    if let address { own[address, default: []].append(key) } else { shared.append(key) }
  }

  /// Returns the keys to try, each with the address for its nonce. Without `address`, returns the keys of all devices with their own key.
  /// - Returns: The addresses and keys. Nil without a key to try.
  fileprivate func candidates(_ address: Address?) -> [(Address, AES128)]? {
    guard let address else { return own.isEmpty ? nil : own.flatMap { address, keys in keys.map { (address, $0) } } }
    return own[address].map { keys in keys.map { (address, $0) } } ?? (shared.isEmpty ? nil : shared.map { (address, $0) })
  }
}
