import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct CharacteristicDescriptionTests {
  static func description(_ uuid: String) throws -> CharacteristicDescription {
    let uuid = try #require(UUID(uuid))
    return try #require(CharacteristicDescription(uuid))
  }

  /// Formats every field as `name=value unit`.
  static func show(_ decoded: DecodedValue) -> [String] {
    decoded.fields.map { field in
      let value =
        switch field.content {
        case .number(let number): "\(number)"
        case .numbers(let numbers): numbers.map(\.description).joined(separator: " ")
        case .real(let number): "\(number)"
        case .choice(let raw, let name): "\(raw)(\(name))"
        case .noNumber(let name): "(\(name))"
        case .flags(let value, let flags): "\(value)" + flags.filter { $0.value > 0 }.map { "[\($0.meaning ?? $0.name)]" }.joined()
        case .text(let text), .date(let text): text
        case .uuid(let uuid): "\(uuid)"
        case .bytes(let bytes), .identifier(let bytes): Hex.encode(bytes)
        }
      return "\(field.key)=\(value)\(field.unit ?? "")"
    }
  }

  @Test(
    arguments: [
      ("2a37", "16 48 55 03", "flags=22[contact] heart_rate=72bpm rr=833.0078125ms"),
      ("2a37", "00 48", "flags=0 heart_rate=72bpm"),
      ("2a37", "09 2c 01 10 00", "flags=9 heart_rate=300bpm energy_expended=16kJ"),
      ("2a19", "3c", "battery_level=60%"),
      ("2a6e", "34 08", "temperature=21°C"),
      ("2a6e", "00 80", "temperature=(not known)°C"),
      ("2a6e", "0f fe", "temperature=-4.97°C"),
      (
        "2a1c", "06 6c 01 00 ff ea 07 0b 16 04 05 06 02",
        "flags=6 temperature=36.4°C time_stamp=2026-11-22T04:05:06 temperature_type=2(Body (general))"
      ),
      ("2a35", "00 78 00 50 00 5d 00", "flags=0 systolic=120mmHg diastolic=80mmHg mean_arterial_pressure=93mmHg"),
      ("2a35", "00 ff 07 00 08 fe 07", "flags=0 systolic=(NaN)mmHg diastolic=(NRes)mmHg mean_arterial_pressure=(+INFINITY)mmHg"),
      (
        "2a2b", "ea 07 0b 16 04 05 06 07 80 01",
        "date_time=2026-11-22T04:05:06 day_of_week=7(Sunday) fractions256=0.5s adjust_reason=1[Manual Time Update]"
      ),
      ("2a08", "00 00 0b 16 04 05 06", "date_time=????-11-22T04:05:06"),
      ("2a08", "00 00 00 00 00 00 00", "date_time=(not known)"),
      ("2a38", "01", "body_sensor_location=1(Chest)"),
      (
        "290c", "00 00 01 3c 00 00 00 00 00 21 05",
        "flags=0 sampling_function=1(instantaneous) measurement_period=60s update_interval=(not in use)s application=33(solar) "
          + "measurement_uncertainty=2.5%"
      ),
      (
        "290c", "00 00 07 00 00 00 ff ff ff 22 ff",
        "flags=0 sampling_function=7(count) measurement_period=(not in use)s update_interval=16777215s application=34 "
          + "measurement_uncertainty=(not available)%"
      ),
      ("290d", "00", "condition=0(inactive)"), ("290d", "01 0a 00 00", "condition=1(fixed time interval) time=10s"),
      ("290d", "02 10 0e 00", "condition=2(no less than the specified time between transmissions) time=3600s"),
      ("290d", "03", "condition=3(when the value changes)"),
      ("290d", "06 c4 09", "condition=6(while greater than the specified value) operand=c409"),
      ("290e", "01", "trigger_logic=1(any condition)"),
      ("2a47", "05", "category_id_bit_mask=5[Simple Alert][News]"),
      ("2a47", "00 02", "category_id_bit_mask=0 category_id_bit_mask_2=2[Instant Message]"),
      ("2acd", "01 02 32", "flags=513 metabolic_equivalent=5MET"), ("2aea", "ff ff", "count=(not known)"),
      ("2a01", "c1 03", "appearance=961(Keyboard)"),
      (
        "2a50", "01 4c 00 01 00 10 01",
        "vendor_id_source=1(Bluetooth SIG) "
          + "vendor_id=76(Apple, Inc.) product_id=1 product_version=272"
      ),
      (
        "2a50", "02 4c 00 01 00 10 01",
        "vendor_id_source=2(USB Implementer’s Forum) "
          + "vendor_id=76 product_id=1 product_version=272"
      ),
      ("2a29", "41 63 6d 65 00", "manufacturer_name=Acme"),
      (
        "2a5b", "03 01 00 00 00 00 04 02 00 00 02",
        "flags=3 cumulative_wheel_revolutions=1 last_wheel_event_time=1s cumulative_crank_revolutions=2 last_crank_event_time=0.5s"
      ),
      ("2a9d", "00 48 3a", "flags=0 weight=74.6kg"),
      ("2a9d", "01 48 3a", "flags=1 weight=149.2lb"),
      (
        "2a04", "06 00 0c 00 00 00 c8 00",
        "minimum_connection_interval=7.5ms maximum_connection_interval=15ms peripheral_latency=0 supervision_timeout=2000ms"
      ),
      (
        "2aa7", "06 00 64 00 05 00 06 00 65 00 06 00",
        "size=6 flags=0 cgm_glucose_concentration=100mg/dL time_offset=5min size_2=6 flags_2=0 cgm_glucose_concentration_2=101mg/dL time_offset_2=6min"
      ),
      ("2aed", "01 00 00", "date=1970-01-02"), ("2aed", "00 00 00", "date=(not known)"),
      ("2b13", "00", "time_exponential_8=0.0s"), ("2b13", "40", "time_exponential_8=1.0s"),
      ("2b13", "fe", "time_exponential_8=(the total life of the device)s"),
      (
        "2c27", "18 00 01 00 01 0a 00 e8 03 f6",
        "flags=24 cooking_step_index=1 cooking_process_type=1(Preheating) duration=10 temperature=100°C temperature_gradient=-1K/s"
      ),
      ("2c22", "05", "contact_status_8=5[contact 0 closed][contact 2 closed]"),
      ("2bec", "01 00 00 01 00 00", "flags=1 battery_features=0 battery_manufacture_date=1970-01-02"),
      ("2bed", "00 01 10", "flags=0 power_state=4097[Battery Present][Charging Fault Reason: Battery]"),
      ("2a23", "56 34 12 ff fe cd ab 00", "eui_64=00abcdfeff123456"),
    ] as [(String, String, String)]) func decodes(_ uuid: String, _ hex: String, _ shown: String) throws
  {
    let value = try #require(Hex.decode(hex))
    #expect(Self.show(try Self.description(uuid).decode(value)).joined(separator: " ") == shown)
  }

  @Test(arguments: [
    ("2a37", "", ValueMismatch.tooShort(field: "Flags", bytes: 0)), ("2a37", "00", .tooShort(field: "Heart Rate", bytes: 1)),
    ("2a37", "10 48 55", .tooShort(field: "RR", bytes: 3)), ("2a37", "00 48 01", .tooLong(by: 1)),
    ("2a19", "3c 3c", .tooLong(by: 1)), ("2a29", "ff", .notText(field: "Manufacturer Name")),
    ("2a08", "ea 07 0d 01 00 00 00", .notADate(field: "Date Time")), ("2a08", "ea 07 0c 20 00 00 00", .notADate(field: "Date Time")),
    ("2aa7", "07 00 64 00 05 00", .recordLength(7)), ("2aa7", "", .tooShort(field: "Size", bytes: 0)),
  ]) func saysWhyBytesDoNotFit(_ uuid: String, _ hex: String, _ mismatch: ValueMismatch) throws {
    let value = try #require(Hex.decode(hex))
    #expect(throws: mismatch) { try Self.description(uuid).decode(value) }
  }

  @Test func everyRecordOfTheTableIsReadAndFound() throws {
    let all = CharacteristicDescription.all
    #expect(all.count >= 280)
    for uuid in all { #expect(CharacteristicDescription(uuid) != nil, "\(uuid)") }
    for text in ["0000", "ffff", "2a03", "ffe1"] {
      let uuid = try #require(UUID(text))
      #expect(CharacteristicDescription(uuid) == nil, "\(text)")
    }
  }

  /// A truncated value gives shorter text or a mismatch. No bytes cause a trap.
  @Test func noBytesTrap() throws {
    var random = SplitMix64(seed: 9)
    let descriptions = CharacteristicDescription.all.compactMap { CharacteristicDescription($0) }
    var fitting = 0
    for description in descriptions {
      for length in 0...64 {
        let value = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        if (try? description.decode(value)) != nil { fitting += 1 }
      }
    }
    for round in 0..<100_000 {
      let description = descriptions[round % descriptions.count]
      var value = [UInt8](repeating: round.isMultiple(of: 2) ? 0 : 0xFF, count: Int(random.next() % 24))
      for _ in 0..<4 where !value.isEmpty { value[Int(random.next() % UInt64(value.count))] = UInt8(truncatingIfNeeded: random.next()) }
      if (try? description.decode(value)) != nil { fitting += 1 }
    }
    #expect(fitting > 1000)
  }

  @Test(
    arguments: [
      (0x0078, "120"), (0xF16C, "36.4"), (0xF001, "0.1"), (0x8001, "0.00000001"), (0x7001, "10000000"), (0x0FFF, "-1"), (0xFFFF, "-0.1"),
      (0x07FD, "2045"), (0x17FF, "20470"), (0x0000, "0"), (0xF000, "0"), (0x0803, "-2045"),
    ] as [(UInt16, String)]) func shortFloats(_ bits: UInt16, _ shown: String)
  {
    guard case .number(let number) = IEEE11073Float(short: bits) else {
      Issue.record("no number")
      return
    }
    #expect(number.description == shown)
  }

  @Test func specialFloats() {
    let short: [(UInt16, String)] = [
      (0x07FF, "NaN"), (0x0800, "NRes"), (0x07FE, "+INFINITY"), (0x0802, "-INFINITY"), (0x0801, "reserved"),
    ]
    for (bits, name) in short { #expect(IEEE11073Float(short: bits) == .special(name)) }
    let long: [(UInt32, String)] = [
      (0x007F_FFFF, "NaN"), (0x0080_0000, "NRes"), (0x007F_FFFE, "+INFINITY"), (0x0080_0002, "-INFINITY"), (0x0080_0001, "reserved"),
    ]
    for (bits, name) in long { #expect(IEEE11073Float(long: bits) == .special(name)) }
    #expect(IEEE11073Float(long: 0xFF00_016C) == .number(DecimalNumber(magnitude: 364, exponent: -1)))
    #expect(IEEE11073Float(long: 0x7F00_0001) == .number(DecimalNumber(magnitude: 1, exponent: 127)))
    #expect(DecimalNumber(magnitude: 12, exponent: 127).description == "1.2e128")
    #expect(DecimalNumber(isNegative: true, magnitude: 12, exponent: -128).description == "-1.2e-127")
  }

  @Test func roundsOnlyWhatADivisionByTwoMadeLong() {
    #expect(DecimalNumber(853, scale: Scale(multiplier: 1000, binaryExponent: -10))?.rounded == "833")
    #expect(DecimalNumber(853, scale: Scale(binaryExponent: -10))?.rounded == "0.833")
    #expect(DecimalNumber(1, scale: Scale(binaryExponent: -16))?.rounded == "0.00001526")
    #expect(DecimalNumber(123_456_789, scale: Scale(decimalExponent: -7))?.rounded == "12.3456789")
    #expect(DecimalNumber(Int128(UInt64.max), scale: Scale(multiplier: 1000, binaryExponent: -16))?.rounded == "281474976710656000")
  }
}
