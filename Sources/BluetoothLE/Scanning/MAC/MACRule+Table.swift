// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

extension MACRule {
  /// The rules for documented layouts. Length and content distinguish layouts with the same identifier. The rules' order has no meaning.
  ///
  /// A rule demands an exact length only if its source does, or if nothing else distinguishes two layouts.
  package static let known: [MACRule] = standard + xiaomi + environment181A + brands + counters + names

  private static let standard: [MACRule] = [
    MACRule("le_device_address", .structure(ADType.leDeviceAddress), 7...7, at: .deviceAddress, .little)
  ]

  private static let xiaomi: [MACRule] = [
    // Frame control (2), product (2), counter (1), then the address if frame control says so. Also Aqara, Lockin, Mijia and others.
    MACRule(
      "mibeacon", .service(0xFE95), 2...Int.max, flag: .byte(at: 0, mask: 0x10, value: 0x10),
      withoutFlag: "bit 4 of the frame control is clear",
      at: .offset(5), .little),
    // Bits 7 and 6 tell bound devices and events from others, bit 1 newer ones.
    MACRule("qingping", .service(0xFDCD), 8...Int.max, if: [.byte(at: 0, mask: 0x3D, value: 0x08)], at: .offset(2), .little),
    // Huami's company identifier stands for bands and scales, told apart by length.
    MACRule("miband", .manufacturer(0x0157), 24...24, at: .offset(18)),
    MACRule("miscale", .manufacturer(0x0157), 6...6, at: .offset(0)),
  ]

  /// The rules for Environmental Sensing service data (181A) of four firmwares. Length alone distinguishes two of the firmwares.
  private static let environment181A: [MACRule] = [
    MACRule("atc1441", .service(0x181A), 13...13, at: .offset(0)),
    MACRule("pvvx", .service(0x181A), 15...15, at: .offset(0), .little),
    MACRule("pvvx_encrypted", .service(0x181A), 11...11, at: .none("the data is encrypted (11 bytes)")),
    MACRule("atc_encrypted", .service(0x181A), 8...8, at: .none("the data is encrypted (8 bytes)")),
    MACRule("b_parasite", .service(0x181A), 16...Int.max, if: [.byte(at: 0, mask: 0xF0, value: 0x10)], at: .offset(10)),
    MACRule("b_parasite_v2", .service(0x181A), 16...Int.max, if: [.byte(at: 0, mask: 0xF0, value: 0x20)], at: .offset(10)),
  ]

  private static let brands: [MACRule] = [
    // Version 2 in bits 7 to 5 of the device information.
    MACRule(
      "bthome", .service(0xFCD2), 1...Int.max, if: [.byte(at: 0, mask: 0xE0, value: 0x40)], flag: .byte(at: 0, mask: 0x02, value: 0x02),
      withoutFlag: "bit 1 of the device information is clear", at: .offset(1), .little),
    MACRule("switchbot", .manufacturer(0x0969), 6...Int.max, at: .offset(0)),
    // Older devices use the identifiers of the chip makers, as many others do.
    MACRule("switchbot_nordic", .manufacturer(0x0059), 6...6, at: .offset(0), confidence: .low),
    MACRule("switchbot_espressif", .manufacturer(0x02E5), 6...13, at: .offset(0), confidence: .low),
    MACRule("shelly_blu", .manufacturer(0x0BA9), 3...Int.max, at: .tag(0x0A, sizes: [0x01: 2, 0x0A: 6, 0x0B: 2]), .little),
    // The company identifier is a protocol type and version: 5.3 for locks, 0x34 0x12 for wristbands. Examples of all kinds use 0x1234.
    MACRule("ttlock", .manufacturer(0x0305), 6...Int.max, at: .offset(-6), .little, confidence: .medium),
    MACRule("ttlock_wristband", .manufacturer(0x1234), 6...Int.max, at: .offset(-6), .little, confidence: .low),
    MACRule(
      "ruuvi_rawv2", .manufacturer(0x0499), 24...Int.max, if: [.starts([0x05])], at: .offset(18)),
    MACRule("holy_iot", .service(0x5242), 13...13, if: [.starts([0x41])], at: .offset(2)),
    MACRule("jaalee", .service(0xF525), 11...12, at: .offset(1), .little),
    MACRule("jaalee_f51c", .service(0xF51C), 11...12, at: .offset(1), .little),
    // An iBeacon of April Brother's own UUID stands beside the service data.
    MACRule(
      "abtemp", .anyService, 11...11,
      if: [
        .manufacturer(
          0x004C, starts: [0x02, 0x15, 0xB5, 0xB1, 0x82, 0xC7, 0xEA, 0xB1, 0x49, 0x88, 0xAA, 0x99, 0xB5, 0xC1, 0x51, 0x70, 0x08, 0xD9])
      ], at: .offset(0), .little),
    MACRule("april_n03", .anyService, 15...15, if: [.starts([0xAB, 0x03])], at: .offset(2), confidence: .medium),
    MACRule("feasycom", .service(0xFFF0), 11...11, at: .offset(4), confidence: .medium),
    MACRule("telink_mesh", .manufacturer(0x0211), 6...Int.max, if: [.starts([0x11, 0x02])], at: .offset(2), .little, bytes: 4),
    // Televisions, and sound bars: the address, and the one of another role.
    MACRule(
      "samsung", .manufacturer(0x0075), 24...Int.max, if: [.starts([0x42, 0x04]), .addressAndItsLocalOne(at: 5, and: 11)], at: .offset(5)),
    MACRule(
      "samsung", .manufacturer(0x0075), 24...Int.max, if: [.starts([0x42, 0x04]), .addressAndItsLocalOne(at: 8, and: 16)], at: .offset(8)),
    MACRule(
      "govee", .manufacturer(0xEC88), 12...12, if: [.starts([0x01]), .byte(at: 10, mask: 0xFF, value: 0x01)], at: .offset(4),
      confidence: .medium),
    // No company identifier: the data is the address or begins with some of it.
    MACRule(
      "govee_h5055", .structure(ADType.manufacturerData), 22...22, if: [.advertises(UUID(0x5055))], at: .offset(0), bytes: 3,
      confidence: .medium),
    MACRule("whole_data", .structure(ADType.manufacturerData), 6...6, if: [.isSender], at: .offset(0), .little),
    MACRule("tuya", .service(0xFD50), 0...Int.max, at: .none("Tuya encrypts the data")),
    MACRule("tuya_manufacturer", .manufacturer(0x07D0), 0...Int.max, at: .none("Tuya encrypts the data")),
  ]

  /// The rules for vendors that use any company identifier, or use its bytes as a counter. Length and content identify each layout.
  private static let counters: [MACRule] =
    inkbird + thermoBeacon + [
      MACRule("t201", .manufacturer(0xAA55), 17...Int.max, if: [.starts([0x01])], at: .offset(2)),
      // Four sensors, one a wheel; addresses start with the sensor's number.
      MACRule(
        "tpms", .manufacturer(0x0100), 16...16,
        if: [.byte(at: 0, mask: 0xFC, value: 0x80), .byte(at: 1, mask: 0xFF, value: 0xEA), .byte(at: 2, mask: 0xFF, value: 0xCA)],
        at: .offset(0)),
      MACRule("senssun", .manufacturer(0x0100), 17...17, if: [.starts([0x02])], at: .offset(3), confidence: .medium),
      MACRule("jinou", .manufacturer(0x1200), 11...11, at: .offset(5), confidence: .medium),
      MACRule("laica", .manufacturer(0xA0AC), 12...12, at: .offset(0), .little, confidence: .medium),
      MACRule("xiaogui", .manufacturer(0x00C0, mask: 0x00FF), 13...13, at: .offset(7), confidence: .medium),
    ]

  /// The rules for Inkbird devices with one, two, four or six probes of two bytes each. The rarer byte order requires the sender's address.
  private static let inkbird: [MACRule] =
    [10, 12, 16, 20].flatMap { count in
      [
        MACRule("inkbird", .manufacturer(0x0000), count...count, if: [.starts([0, 0])], at: .offset(2), confidence: .medium),
        MACRule("inkbird_reversed", .manufacturer(0x0000), count...count, if: [.starts([0, 0]), .isSender], at: .offset(2), .little),
      ]
    } + [
      // ITH and IBS-P02B: no company identifier, and their addresses begin with 49:24.
      MACRule(
        "inkbird_ith", .structure(ADType.manufacturerData), 18...18, if: [.starts([0x49, 0x24])], at: .offset(0), confidence: .medium),
      // "T2", "T1AC-" and "IH2PB" stand where the company identifier would.
      MACRule("inkbird_iam_t2", .manufacturer(0x3254), 15...15, if: [.starts([0])], at: .offset(1), confidence: .medium),
      MACRule(
        "inkbird_iam_t1", .structure(ADType.manufacturerData), 17...Int.max, if: [.starts(Array("T1AC-".utf8))],
        at: .digits(at: 5, count: 10)),
      MACRule(
        "inkbird_iht_2pb", .structure(ADType.manufacturerData), 17...Int.max, if: [.starts(Array("IH2PB".utf8))],
        at: .digits(at: 5, count: 12)),
      MACRule(
        "inkbird_int_11i", .manufacturer(0x4488), 16...Int.max, if: [.starts([0x19, 0x6A])], at: .offset(2), .little, confidence: .medium),
      MACRule("inkbird_2x", .manufacturer(0x0001), 12...12, if: [.starts([0, 0])], at: .offset(2), .little, confidence: .medium),
      MACRule("inkbird_2x_reversed", .manufacturer(0x0001), 12...12, if: [.starts([0, 0]), .isSender], at: .offset(2)),
    ]

  private static let thermoBeacon: [MACRule] = [0x0010, 0x0011, 0x0014, 0x0015, 0x0018, 0x001B, 0x0030].map { company in
    // The second byte is the button.
    MACRule(
      "thermobeacon", .manufacturer(company), 18...Int.max, if: [.byte(at: 1, mask: 0x7F, value: 0)], at: .offset(2), .little,
      confidence: .medium)
  }

  private static let names: [MACRule] = [
    MACRule("name_mac", .name, 14...Int.max, if: [.isUUID(false)], at: .lastDigits(12), confidence: .medium),
    // UUIDs of version 1 end with somebody's address.
    MACRule("name_uuid", .name, 36...36, if: [.isUUID(true)], at: .lastDigits(12), confidence: .low),
    MACRule("govee_name", .name, 8...Int.max, if: [.starts(Array("GV".utf8))], at: .lastDigits(4), bytes: 2, confidence: .medium),
    MACRule("govee_name", .name, 8...Int.max, if: [.starts(Array("Govee_".utf8))], at: .lastDigits(4), bytes: 2, confidence: .medium),
    MACRule("govee_name", .name, 8...Int.max, if: [.starts(Array("ihoment_".utf8))], at: .lastDigits(4), bytes: 2, confidence: .medium),
    MACRule("atc_name", .name, 10...10, if: [.starts(Array("ATC_".utf8))], at: .lastDigits(6), bytes: 3, confidence: .medium),
    MACRule("cgg_name", .name, 10...10, if: [.starts(Array("CGG_".utf8))], at: .lastDigits(6), bytes: 3, confidence: .medium),
    MACRule("name_suffix", .name, 6...Int.max, if: [.isSender], at: .lastDigits(6), bytes: 3, confidence: .medium),
    MACRule("name_suffix", .name, 5...Int.max, if: [.isSender], at: .lastDigits(4), bytes: 2, confidence: .medium),
    MACRule("name_prefix", .name, 8...8, if: [.isSender], at: .firstDigits(8), bytes: 4, confidence: .medium),
  ]
}
