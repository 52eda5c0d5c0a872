import TestSupport

@testable import BluetoothLE
@testable import BluetoothLEDeviceFiles

@Suite(.timeLimit(.minutes(15))) struct DecodedDataTests {
  private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  private func fields(_ data: DecodedData?) -> String {
    func text(_ fields: [DecodedData.Field]) -> String {
      fields.map { field in
        switch field.value {
        case .text(let value): "\(field.name)=\(value)"
        case .integer(let value): "\(field.name)=\(value)"
        case .number(let value): "\(field.name)=\(value)"
        case .bool(let value): "\(field.name)=\(value)"
        case .texts(let values): "\(field.name)=\(values.joined(separator: "+"))"
        case .records(let records): "\(field.name)=[\(records.map(text).joined(separator: "; "))]"
        case .described(let value, _): "\(field.name)=\(value.plainText)"
        }
      }.joined(separator: " ")
    }
    return data.map { "\($0.format) \(text($0.fields))" } ?? "nil"
  }

  @Test(arguments: [
    (
      0x004C, "0215e2c56db5dffb48d2b060d0f5a71096e000010002c5",
      "ibeacon uuid=e2c56db5-dffb-48d2-b060-d0f5a71096e0 major=1 minor=2 tx_power=-59"
    ),
    (0x004C, "0215e2c56db5dffb48d2b060d0f5a71096e000010002", "nil"),
    (
      0x0118, "beac0102030405060708090a0b0c0d0e0f1011121314c501",
      "altbeacon id=0102030405060708090a0b0c0d0e0f1011121314 tx_power=-59 reserved=01"
    ),
    (0x004C, "100501181b2d34120200aa", "apple types=Nearby Info+Find My"), (0x004C, "1006010203", "nil"),
    (0x004C, "7f00", "apple types=0x7f"),
    (0x004C, "0100000000000000000000000000000080", "apple types=Overflow Area overflow_area=00000000000000000000000000000080"),
    (
      0x004C, "10020102 01 0f02aabb000000000000000000000080 0c0105",
      "apple types=Nearby Info+Overflow Area+Handoff overflow_area=0f02aabb000000000000000000000080"
    ),
    (0x004C, "01000000000000000000000000000000", "nil"),
    (0x0006, "030080", "microsoft types=Swift Pair"), (0x0006, "0109200251", "microsoft types=Device Beacon device=Windows 10 Desktop"),
    (0x0006, "", "nil"), (0x0305, "0102", "nil"),
  ]) func manufacturers(_ company: Int, _ hex: String, _ wanted: String) {
    #expect(fields(DecodedData.manufacturer(UInt16(company), bytes(hex))) == wanted)
  }

  @Test(arguments: [
    ("feaa", "00ee0102030405060708090aa1a2a3a4a5a60000", "eddystone_uid tx_power=-18 namespace=0102030405060708090a instance=a1a2a3a4a5a6"),
    ("feaa", "10ee03676f6f2e676c07", "eddystone_url tx_power=-18 url=https://goo.gl.com"),
    ("feaa", "10ee02676f6f2e676c2f61", "eddystone_url tx_power=-18 url=http://goo.gl/a"),
    ("feaa", "10ee00676f6f676c6507", "eddystone_url tx_power=-18 url=http://www.google.com"), ("feaa", "10ee04", "nil"),
    (
      "feaa", "20000bb816800000000a00000064",
      "eddystone_tlm encrypted=false battery_mv=3000 temperature_c=22.5 advertisements=10 uptime_s=10.0"
    ),
    ("feaa", "2000000080000000000a00000064", "eddystone_tlm encrypted=false advertisements=10 uptime_s=10.0"),
    ("feaa", "2001000102030405060708090a0b0c0d0e0f", "eddystone_tlm encrypted=true"),
    ("feaa", "30ee0102030405060708", "eddystone_eid tx_power=-18 eid=0102030405060708"), ("feaa", "", "nil"),
  ]) func eddystone(_ uuid: String, _ hex: String, _ wanted: String) {
    #expect(fields(UUID(uuid).flatMap { DecodedData.service($0, bytes(hex)) }) == wanted)
  }

  /// Formats the fields of each object as `name=value`, with its other members.
  private func objects(_ data: DecodedData?) -> String? {
    guard case .records(let objects)? = data?["objects"] else { return nil }
    return objects.map { object in
      let texts = object.map { String(fields(DecodedData("", [$0])).dropFirst(2 + $0.name.utf8.count)) }.filter { !$0.isEmpty }
      return ([texts.prefix(2).joined(separator: "=")] + texts.dropFirst(2)).joined(separator: " ")
    }.joined(separator: "; ")
  }

  /// Checks every example of bthome.io/format.
  @Test(arguments: [
    ("0009", "packet_id=9"), ("0161", "battery=97 %"), ("02ca09", "temperature=25.06 °C"), ("03bf13", "humidity=50.55 %"),
    ("04138a01", "pressure=1008.83 hPa"), ("05138a14", "illuminance=13460.67 lx"), ("065e1f", "mass=80.3 kg"),
    ("073e1d", "mass=74.86 lb"), ("08ca06", "dewpoint=17.38 °C"), ("0960", "count=96"), ("0a138a14", "energy=1346.067 kWh"),
    ("0b021b00", "power=69.14 W"), ("0c020c", "voltage=3.074 V"), ("0d120c", "pm2_5=3090 µg/m³"), ("0e021c", "pm10=7170 µg/m³"),
    ("0f01", "generic_boolean=true on"), ("1001", "power=true on"), ("1100", "opening=false closed"), ("12e204", "co2=1250 ppm"),
    ("133301", "tvoc=307 µg/m³"), ("14020c", "moisture=30.74 %"), ("1501", "battery=true low"),
    ("1601", "battery_charging=true charging"), ("1700", "carbon_monoxide=false not_detected"), ("1801", "cold=true cold"),
    ("1900", "connectivity=false disconnected"), ("1a00", "door=false closed"), ("1b01", "garage_door=true open"),
    ("1c01", "gas=true detected"), ("1d00", "heat=false normal"), ("1e01", "light=true light_detected"), ("1f01", "lock=true unlocked"),
    ("2001", "moisture=true wet"), ("2100", "motion=false clear"), ("2201", "moving=true moving"), ("2301", "occupancy=true detected"),
    ("2400", "plug=false unplugged"), ("2500", "presence=false away"), ("2601", "problem=true problem"),
    ("2701", "running=true running"), ("2800", "safety=false unsafe"), ("2901", "smoke=true detected"), ("2a00", "sound=false clear"),
    ("2b00", "tamper=false off"), ("2c01", "vibration=true detected"), ("2d01", "window=true open"), ("2e23", "humidity=35 %"),
    ("2f23", "moisture=35 %"), ("3d0960", "count=24585"), ("3e2a2c0960", "count=1611213866"), ("3f020c", "rotation=307.4 °"),
    ("400c00", "distance=12 mm"), ("414e00", "distance=7.8 m"), ("424e3400", "duration=13.39 s"), ("434e34", "current=13.39 A"),
    ("444e34", "speed=133.9 m/s"), ("451101", "temperature=27.3 °C"), ("4632", "uv_index=5.0"), ("478756", "volume=2215.1 L"),
    ("48dc87", "volume=34780 mL"), ("49dc87", "volume_flow_rate=34.78 m³/h"), ("4a020c", "voltage=307.4 V"),
    ("4b138a14", "gas=1346.067 m³"), ("4c41018a01", "gas=25821.505 m³"), ("4d12138a14", "energy=344593.17 kWh"),
    ("4e87562a01", "volume=19551.879 L"), ("4f87562a01", "water=19551.879 L"), ("505d396164", "timestamp=2023-05-14T19:41:17.000Z"),
    ("518756", "acceleration=22.151 m/s²"), ("528756", "gyroscope=22.151 °/s"), ("530c48656c6c6f20576f726c6421", "text=Hello World!"),
    ("540c48656c6c6f20576f726c6421", "raw=48656c6c6f20576f726c6421"), ("5587562a01", "volume_storage=19551.879 L"),
    ("56e803", "conductivity=1000 µS/cm"), ("57ea", "temperature=-22 °C"), ("58ea", "temperature=-7.7 °C"), ("59ea", "count=-22"),
    ("5aeaea", "count=-5398"), ("5bea0234ea", "count=-365690134"), ("5c02fbffff", "power=-12.78 W"), ("5d02ea", "current=-5.63 A"),
    ("5e9f8c", "direction=359.99 °"), ("5fa00f", "precipitation=400.0 mm"), ("6001", "channel=1"),
    ("61ac0d", "rotational_speed=3500 rpm"), ("624099dfff", "speed=-2.123456 m/s"), ("630057d0ff", "acceleration=-3.123456 m/s²"),
    ("6402", "light_level=2 bright"), ("6503", "settings_revision=3"), ("f00100", "device_type_id=1"),
    ("f100010204", "firmware_version=4.2.1.0"), ("f2000106", "firmware_version=6.1.0"), ("3a00", "button=none"),
    ("3a01", "button=press"), ("3a02", "button=double_press"), ("3a03", "button=triple_press"), ("3a04", "button=long_press"),
    ("3a05", "button=long_double_press"), ("3a06", "button=long_triple_press"), ("3a80", "button=hold_press"), ("3b0000", "command=off"),
    ("3b0001", "command=on"), ("3b0002", "command=toggle"), ("3b010305", "command=step_up 05 5"), ("3b010405", "command=step_down 05 5"),
    ("3c0000", "dimmer=none 0"), ("3c0103", "dimmer=rotate_left 3"), ("3c020a", "dimmer=rotate_right 10"),
  ]) func bthome(_ hex: String, _ wanted: String) {
    #expect(objects(DecodedData.service(UUID(0xFCD2), bytes("40" + hex))) == wanted)
  }

  /// The page has an example of every object in the table.
  @Test func everyObjectOfBTHomeIsThere() {
    #expect(BTHome.objects.count == 95)
    #expect(BTHome.objects.values.allSatisfy { !$0.name.isEmpty && $0.divisor >= 1 && $0.factor >= 1 })
  }

  @Test(arguments: [
    ("4002ca0903bf13", "temperature=25.06 °C; humidity=50.55 %"), ("440009", "packet_id=9"), ("4002", ""),
    ("40045d1b0a", "pressure=6623.65 hPa"), ("4001ff0f010f02", "battery=255 %; generic_boolean=true on; generic_boolean=true on"),
    ("4058f5", "temperature=-3.85 °C"), ("403a013a81", "button=press; button=hold_release"), ("403a07", "button=0x07"),
    ("403b0105aa", "command=0x05 aa"), ("403be103ff", "command=step_up ff 255"), ("403b0203ffff", "command=step_up ffff"),
    ("4053026869", "text=hi"), ("405300", "text"), ("405302ff0a", "text=\u{FFFD}\n"), ("6453", ""), ("406403", "light_level=3"),
    ("403effffffff", "count=4294967295"), ("405b00000080", "count=-2147483648"), ("406300000080", "acceleration=-2147.483648 m/s²"),
  ]) func more(_ hex: String, _ wanted: String) {
    #expect(objects(DecodedData.service(UUID(0xFCD2), bytes(hex))) ?? "" == wanted)
  }

  /// Checks the examples of bthome.io/encryption.
  @Test func encryptedBTHome() throws {
    let frame = bytes("41e445f3c9962b332211006c7c4519")
    let sender = try #require(Address("54:48:E6:8F:80:A5"))
    let (right, wrong) = (try #require(AES128(key: bytes("231d39c1d7cc1ab1aee224cd096db932"))), try #require(AES128(key: 0..<16)))
    func decoded(_ frame: [UInt8], _ sender: Address?, _ add: (inout BTHomeKeys) -> Void) -> DecodedData? {
      var keys = BTHomeKeys()
      add(&keys)
      return DecodedData.service(UUID(0xFCD2), frame, sender: sender, keys: keys)
    }
    let wanted = "temperature=25.06 °C; humidity=50.55 %"
    let own = decoded(frame, sender) { $0.add(right, of: sender) }
    #expect(objects(own) == wanted && own?["encrypted"] == .bool(true) && own?["counter"] == .integer(1_122_867) && own?.problem == nil)
    #expect(
      objects(
        decoded(frame, sender) {
          $0.add(wrong, of: nil); $0.add(right, of: nil)
        }) == wanted)
    // If the sender has its own key, no other key is tried.
    let other = decoded(frame, sender) {
      $0.add(wrong, of: sender); $0.add(right, of: nil)
    }
    #expect(other?.problem == .noKeyFits && objects(other) == nil && other?["counter"] == .integer(1_122_867))
    // A missing key is not a fault; without the sender's address no key helps.
    for data in [
      decoded(frame, sender) { _ in }, decoded(frame, nil) { $0.add(right, of: nil) },
      decoded(frame, sender) { $0.add(right, of: Address(rawValue: 1)) },
    ] { #expect(data != nil && data?.problem == nil && objects(data) == nil) }
    // If the sender is unknown, every key is tried.
    #expect(
      objects(
        decoded(frame, nil) {
          $0.add(wrong, of: Address(rawValue: 1)); $0.add(right, of: sender)
        }) == wanted)
    for count in 1..<frame.count {
      #expect(decoded(Array(frame[..<count]), sender) { $0.add(right, of: nil) }?.problem == (count > 9 ? .noKeyFits : .tooShort))
    }
    // The address before the ciphertext, least significant byte first, belongs to the nonce.
    #expect(decoded([0x43] + sender.littleEndianBytes + frame.dropFirst(), nil) { $0.add(right, of: sender) }?.problem == .noKeyFits)
  }

  @Test func bthomeSaysWhatItCannotRead() {
    func data(_ hex: String) -> DecodedData? { DecodedData.service(UUID(0xFCD2), bytes(hex)) }
    #expect(data("20") == nil && data("") == nil && data("60") == nil)
    #expect(data("400164ee02ca09")?["rest"] == .text("ee02ca09"))
    #expect(data("400164020a")?["rest"] == .text("020a"))
    #expect(data("46a1a2a3a4a5a60164")?["objects"] == data("400164")?["objects"])
    #expect(data("42a1a2")?["rest"] == .text("a1a2"))
    #expect(data("44")?["trigger"] == .bool(true))
  }

  @Test(arguments: [
    "0215e2c56db5dffb48d2b060d0f5a71096e000010002c5", "beac0102030405060708090a0b0c0d0e0f1011121314c501", "100501181b2d34120200aa",
    "0109200251",
    "00ee0102030405060708090aa1a2a3a4a5a60000", "10ee03676f6f2e676c07", "20000bb816800000000a00000064", "30ee0102030405060708",
    "4054050102030405", "403b010305", "40530548656c6c6f", "4002ca0903bf1350e8030000f100010204", "41e445f3c9962b332211006c7c4519",
    "43e445f3c9962b332211006c7c4519010203040506",
  ]) func everyTruncationIsReadOrNot(_ hex: String) {
    let whole = bytes(hex)
    for count in 0...whole.count {
      let data = Array(whole[..<count])
      for company: UInt16 in [0x004C, 0x0006, 0x0118] { _ = DecodedData.manufacturer(company, data) }
      for uuid: UInt32 in [0xFEAA, 0xFCD2] { _ = DecodedData.service(UUID(uuid), data, sender: Address(rawValue: 1)) }
      // An incomplete BTHome object is shown as it is.
      guard hex.hasPrefix("40"), count > 1, let decoded = DecodedData.service(UUID(0xFCD2), data) else { continue }
      if decoded["rest"] == nil { #expect(decoded["objects"] != .records([]), "\(hex) \(count)") }
    }
  }

  @Test func everythingIsReadOrNotButNothingTraps() {
    var random = SplitMix64(seed: 9)
    var keys = BTHomeKeys()
    if let key = AES128(key: 0..<16) { keys.add(key, of: nil) }
    for _ in 0..<20_000 {
      let start: [UInt8] =
        [[0x40], [0x41], [0x42], [0x43], [0x20, 0], [0x10], [0x02, 0x15], [0xBE, 0xAC], [], [0x01]].randomElement(using: &random) ?? []
      let data = start + (0..<Int.random(in: 0...28, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      for company: UInt16 in [0x004C, 0x0006, 0x0118] { _ = DecodedData.manufacturer(company, data) }
      for uuid: UInt32 in [0xFEAA, 0xFCD2] { _ = DecodedData.service(UUID(uuid), data, sender: Address(rawValue: 1), keys: keys) }
    }
  }
}
