import Testing

/// One advertisement with all its decoded fields. Fields that are not given must be absent.
struct AdvertisementSample: Sendable, CustomTestStringConvertible {
  var title: String
  var hex: String
  var flags: UInt8?
  var name: String?
  var isComplete: Bool
  var txPower: Int8?
  var appearance: UInt16?
  var services: [String]
  var solicited: [String]
  var manufacturer: [String]
  var serviceData: [String]
  var address: String?
  var errors: [String]

  /// - Parameters:
  ///   - name: As displayed after escaping.
  ///   - manufacturer: `company:hex`.
  ///   - serviceData: `uuid:hex`.
  init(
    _ title: String, _ hex: String, flags: UInt8? = nil, name: String? = nil, isComplete: Bool? = nil, txPower: Int8? = nil,
    appearance: UInt16? = nil, services: [String] = [], solicited: [String] = [], manufacturer: [String] = [], serviceData: [String] = [],
    address: String? = nil, errors: [String] = []
  ) {
    self.title = title
    self.hex = hex
    self.flags = flags
    self.name = name
    self.isComplete = isComplete ?? (name != nil)
    self.txPower = txPower
    self.appearance = appearance
    self.services = services
    self.solicited = solicited
    self.manufacturer = manufacturer
    self.serviceData = serviceData
    self.address = address
    self.errors = errors
  }

  var testDescription: String { title }
}

extension AdvertisementSample {
  static let all: [Self] = beacons + products + names + lists + values + damaged + extended

  private static let beacons: [Self] = [
    .init(
      "iBeacon", "02 01 06 1a ff 4c00 0215 fda50693a4e24fb1afcfc6eb07647825 0001 0002 c5", flags: 6,
      manufacturer: ["004c:0215fda50693a4e24fb1afcfc6eb0764782500010002c5"]),
    .init(
      "AltBeacon", "1b ff 1801 beac 00112233445566778899aabbccddeeff 0001 0002 c5 01",
      manufacturer: ["0118:beac00112233445566778899aabbccddeeff00010002c501"]),
    .init(
      "Eddystone UID", "020106 0303aafe 1716aafe 00 e7 00010203040506070809 aabbccddeeff 0000", flags: 6, services: ["feaa"],
      serviceData: ["feaa:00e700010203040506070809aabbccddeeff0000"]),
    .init(
      "Eddystone URL", "020106 0303aafe 0d16aafe 10 eb 02 6578616d706c 07", flags: 6, services: ["feaa"],
      serviceData: ["feaa:10eb026578616d706c07"]),
    .init(
      "Eddystone TLM", "020106 0303aafe 1116aafe 20 00 0bb8 1680 00001234 00005678", flags: 6, services: ["feaa"],
      serviceData: ["feaa:20000bb816800000123400005678"]),
    .init(
      "Eddystone EID", "020106 0303aafe 0d16aafe 30 f0 0123456789abcdef", flags: 6, services: ["feaa"],
      serviceData: ["feaa:30f00123456789abcdef"]),
    .init(
      "Exposure Notification", "02011a 03036ffd 17166ffd 000102030405060708090a0b0c0d0e0f 40414243", flags: 0x1A, services: ["fd6f"],
      serviceData: ["fd6f:000102030405060708090a0b0c0d0e0f40414243"]),
    .init("Apple nearby", "02011a 020a0c 0aff4c00 1005 011c a1b2c3", flags: 0x1A, txPower: 12, manufacturer: ["004c:1005011ca1b2c3"]),
    .init("Swift Pair", "06ff0600 030080", manufacturer: ["0006:030080"]),
    .init("Fast Pair", "06162cfe 123456", serviceData: ["fe2c:123456"]),
    .init("Mesh beacon", "182b 01 000102030405060708090a0b0c0d0e0f 0000 12345678"),
  ]

  private static let products: [Self] = [
    .init(
      "MiBeacon with MAC", "020106 141695fe 7120 9800 12 f34f6b8d7cc4 0d 0410 02 c400", flags: 6,
      serviceData: ["fe95:7120980012f34f6b8d7cc40d041002c400"]),
    .init(
      "Mi Band", "020104 1bff5701 020aff54ffffffffffffffffffffffffff03 c5093f890b4b", flags: 4,
      manufacturer: ["0157:020aff54ffffffffffffffffffffffffff03c5093f890b4b"]),
    .init(
      "Mi scale", "020106 03021d18 09ff5701 c8478cc09589 0d161d18 a2 2044 b207 01 01 0a 1a 15", flags: 6, services: ["181d"],
      manufacturer: ["0157:c8478cc09589"], serviceData: ["181d:a22044b20701010a1a15"]),
    .init(
      "SwitchBot meter", "020106 0eff6909 c4f92675df22 dc030096a9 09163dfd 6900ba031938", flags: 6,
      manufacturer: ["0969:c4f92675df22dc030096a9"],
      serviceData: ["fd3d:6900ba031938"]),
    .init(
      "SwitchBot bot", "020106 09ff5900 e94fa6b27c10 1107 1bc5d5a50200b89fe6114d22000da2cb", flags: 6,
      services: ["cba20d00-224d-11e6-9fb8-0002a5d5c51b"], manufacturer: ["0059:e94fa6b27c10"]),
    .init("ATC1441", "10161a18 a4c1380283f4 00a2 2f 5f 0bf8 19", serviceData: ["181a:a4c1380283f400a22f5f0bf819"]),
    .init("pvvx", "12161a18 f4830238c1a4 a906 6911 b60b 58 f7 0d", serviceData: ["181a:f4830238c1a4a9066911b60b58f70d"]),
    .init(
      "BTHome v2, one octet short", "020106 0a16d2fc 40 00c8 02ca09 ", flags: 6,
      errors: ["the structure at byte 3 claims 10 bytes, but 9 are left"]),
    .init("BTHome v2 whole", "020106 0916d2fc 40 00c8 02ca09", flags: 6, serviceData: ["fcd2:4000c802ca09"]),
    .init(
      "BTHome with name", "020106 0b094449592d73656e736f72 0716d2fc40016403", flags: 6, name: "DIY-sensor", serviceData: ["fcd2:40016403"]),
    .init(
      "Shelly BLU", "020106 10ff a90b 0101000b07000affee718f3938", flags: 6, manufacturer: ["0ba9:0101000b07000affee718f3938"]),
    .init(
      "RuuviTag", "020106 1bff9904 05 12fc5394c37c0004fffc040cac364200cd cbb8334c884f", flags: 6,
      manufacturer: ["0499:0512fc5394c37c0004fffc040cac364200cdcbb8334c884f"]),
    .init(
      "door lock", "020106 0302e0ff 12ff0503 021240b000f4f953 65 7f8a43b9f0f7", flags: 6, services: ["ffe0"],
      manufacturer: ["0305:021240b000f4f953657f8a43b9f0f7"]),
    .init(
      "T201", "050954323031 020106 14ff55aa 0101a4c13874b08501070a1d10f0640001 00", flags: 6, name: "T201",
      manufacturer: ["aa55:0101a4c13874b08501070a1d10f0640001"]),
    .init(
      "Inkbird", "020106 0302f0ff 0dff0000 000028ec9a2e65d7f000", flags: 6, services: ["fff0"], manufacturer: ["0000:000028ec9a2e65d7f000"]),
    .init(
      "Govee", "0d09475648353037355f32373632 0303 88ec 020105 09ff88ec 0003519e6400", flags: 5, name: "GVH5075_2762",
      services: ["ec88"], manufacturer: ["ec88:0003519e6400"]),
    .init(
      "heart rate belt", "020106 0303 0d18 0319 4103 0809 48522042656c74", flags: 6, name: "HR Belt", appearance: 0x0341, services: ["180d"]
    ),
    .init("HID keyboard", "020106 0303 1218 0319 c103 0409 4b4244", flags: 6, name: "KBD", appearance: 0x03C1, services: ["1812"]),
    .init("Nordic UART", "020106 1107 9ecadc240ee5a9e093f3a3b50100406e", flags: 6, services: ["6e400001-b5a3-f393-e0a9-e50e24dcca9e"]),
    .init(
      "Telink light", "020105 0d0933414245323631464441323209 ff1102 1102 78732143", flags: 5, name: "3ABE261FDA22",
      manufacturer: ["0211:110278732143"]),
    .init(
      "Tile", "020106 0303edfe 0d16edfe 02 00 0123456789abcdef", flags: 6, services: ["feed"], serviceData: ["feed:02000123456789abcdef"]),
  ]

  private static let names: [Self] = [
    .init("name only", "0409 414243", name: "ABC"),
    .init("shortened name", "0408 414243", name: "ABC", isComplete: false),
    .init("short, then complete", "0208 41 0409 414243", name: "ABC"),
    .init("complete, then short", "0409 414243 0208 41", name: "ABC"),
    .init("two complete names: the last", "0209 41 0209 42", name: "B"),
    .init("two shortened names: the last", "0208 41 0208 42", name: "B", isComplete: false),
    .init("empty complete name", "0109", name: ""),
    .init("name with NUL", "0509 41004200", name: "A\\x00B\\x00"),
    .init("name with ESC", "0609 1b5b334a41", name: "\\x1b[3JA"),
    .init("name with line feed", "0409 410a42", name: "A\\x0aB"),
    .init("name with C1 control", "0409 c29b41", name: "\\u{9b}A"),
    .init("name in Latin-1", "0509 4be46d65", name: "K\\xe4me"),
    .init("name ends inside a scalar", "0409 41e282", name: "A\\xe2\\x82"),
    .init("name with overlong slash", "0309 c0af", name: "\\xc0\\xaf"),
    .init("name above U+10FFFF", "0509 f4908080", name: "\\xf4\\x90\\x80\\x80"),
    .init("name with right-to-left override", "0609 41e280ae42", name: "A\\u{202e}B"),
    .init("name with backslash", "0409 415c42", name: "A\\\\B"),
    .init("Japanese name", "0709 e6b8a9e5baa6", name: "温度"),
    .init("name with blanks at both ends", "0409 204120", name: " A "),
    .init("name with private use", "0409 ee8080", name: "\\u{e000}"),
    .init("name with byte order mark", "0509 efbbbf41", name: "\\u{feff}A"),
    .init("name with line separator", "0409 e280a8", name: "\\u{2028}"),
  ]

  private static let lists: [Self] = [
    .init("16-bit list, incomplete", "0502 0f18 0a18", services: ["180f", "180a"]),
    .init("16-bit list, repeated", "0303 0f18 0303 0f18", services: ["180f", "180f"]),
    .init("empty 16-bit list", "0103"),
    .init("odd 16-bit list", "0403 0f18 0a", services: ["180f"], errors: ["AD type 0x03: 16-bit UUID list has an odd octet"]),
    .init("32-bit list", "0905 78563412 0f180000", services: ["12345678", "180f"]),
    .init(
      "32-bit list of six octets", "0705 78563412 0f18", services: ["12345678"],
      errors: ["AD type 0x05: 32-bit UUID list is not a multiple of 4"]),
    .init(
      "128-bit list of two", "2106 0f0e0d0c0b0a09080706050403020100 fb349b5f80000080001000000f180000",
      services: ["00010203-0405-0607-0809-0a0b0c0d0e0f", "180f"]),
    .init(
      "128-bit list of 17", "1207 0f0e0d0c0b0a09080706050403020100 ff", services: ["00010203-0405-0607-0809-0a0b0c0d0e0f"],
      errors: ["AD type 0x07: 128-bit UUID list is not a multiple of 16"]),
    .init(
      "all three widths", "0303 0f18 0504 78563412 1107 0f0e0d0c0b0a09080706050403020100",
      services: ["180f", "12345678", "00010203-0405-0607-0809-0a0b0c0d0e0f"]),
    .init(
      "solicitation is no offer", "0314 0d18 051f 78563412 1115 0f0e0d0c0b0a09080706050403020100",
      solicited: ["180d", "12345678", "00010203-0405-0607-0809-0a0b0c0d0e0f"]),
    .init("odd solicitation", "0214 0d", errors: ["AD type 0x14: 16-bit UUID list has an odd octet"]),
    .init("two companies", "05ff 4c00 0102 04ff 5900 03", manufacturer: ["004c:0102", "0059:03"]),
    .init("one company twice", "04ff 5900 01 04ff 5900 02", manufacturer: ["0059:01", "0059:02"]),
    .init("company without data", "03ff 5900", manufacturer: ["0059:"]),
    .init("half a company", "02ff 59", errors: ["AD type 0xff: manufacturer data shorter than the company id"]),
    .init(
      "service data of all widths", "0416 0f18 3c 0620 78563412 01 1221 0f0e0d0c0b0a09080706050403020100 02",
      serviceData: ["180f:3c", "12345678:01", "00010203-0405-0607-0809-0a0b0c0d0e0f:02"]),
    .init("service data without data", "0316 0f18", serviceData: ["180f:"]),
    .init("service data of one octet", "0216 0f", errors: ["AD type 0x16: service data shorter than its UUID"]),
    .init("32-bit service data of three", "0420 010203", errors: ["AD type 0x20: service data shorter than its UUID"]),
    .init(
      "128-bit service data of 15", "1021 0e0d0c0b0a09080706050403020100", errors: ["AD type 0x21: service data shorter than its UUID"]),
  ]

  private static let values: [Self] = [
    .init("flags of two octets", "0301 06 05", flags: 6),
    .init("no flags octet", "0101", errors: ["AD type 0x01: empty flags"]),
    .init("flags twice: the last", "020104 020106", flags: 6),
    .init("negative power", "020a ec", txPower: -20),
    .init("no power octet", "010a", errors: ["AD type 0x0a: empty TX power level"]),
    .init("appearance of one octet", "0219 41", errors: ["AD type 0x19: appearance shorter than 2"]),
    .init("address, public", "081b 221100 38c1a4 00", address: "A4:C1:38:00:11:22/public"),
    .init("address, random", "081b 010000 0000d1 01", address: "D1:00:00:00:00:01/random"),
    .init("address, type first", "081b 01 020000 0000d1", address: "D1:00:00:00:00:02/random"),
    .init("address of six octets", "071b 221100 38c1a4", errors: ["AD type 0x1b: LE device address has 6 bytes instead of 7"]),
    .init("reserved type 0", "0300 aabb"),
    .init("URI and unknown types", "0624 17 2f2f62 61 03fe 0102"),
    .init("connection interval range", "0512 0600 0c00"),
  ]

  private static let damaged: [Self] = [
    .init("nothing", ""),
    .init("one zero", "00"),
    .init("all zero", String(repeating: "00", count: 31)),
    .init("zero padding", "020106 00000000", flags: 6),
    .init(
      "data after padding", "020106 0000 0409 414243", flags: 6, errors: ["non-zero octets after the zero-length terminator at offset 3"]),
    .init("only a length", "05", errors: ["the structure at byte 0 claims 5 bytes, but none are left"]),
    .init("length 255 of 3", "ff0901", errors: ["the structure at byte 0 claims 255 bytes, but 2 are left"]),
    .init("one octet short", "020106 0409 4142", flags: 6, errors: ["the structure at byte 3 claims 4 bytes, but 3 are left"]),
    .init(
      "one octet too many", "020106 0309 4142 43", flags: 6, name: "AB",
      errors: ["the structure at byte 7 claims 67 bytes, but none are left"]),
    .init(
      "two defects", "0219 41 02ff 59",
      errors: [
        "AD type 0x19: appearance shorter than 2", "AD type 0xff: manufacturer data shorter than the company id",
      ]),
    .init(
      "a stop and a defect", "0219 41 09",
      errors: ["the structure at byte 3 claims 9 bytes, but none are left", "AD type 0x19: appearance shorter than 2"]),
  ]

  private static let extended: [Self] = [
    .init("name of 254 octets", "ff09" + String(repeating: "41", count: 254), name: String(repeating: "A", count: 254)),
    .init(
      "manufacturer data of 252", "ffff5900" + String(repeating: "07", count: 252),
      manufacturer: ["0059:" + String(repeating: "07", count: 252)]),
    .init("1650 octets", String(repeating: "020106", count: 550), flags: 6),
    .init(
      "1650 octets of services", String(repeating: "03030f18", count: 412) + "0109", name: "",
      services: Array(repeating: "180f", count: 412)),
  ]
}
