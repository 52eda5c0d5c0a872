import TestSupport

/// One frame and the address that it contains, if any.
struct MACVector: Sendable, CustomTestStringConvertible {
  var title: String
  var advertisement: Advertisement
  /// The MAC, with `??` for bytes that are not sent. Nil if the frame contains none.
  var mac: String?
  var rule: String
  var source: String
  var offset: Int
  var order: ByteOrder

  init(
    _ title: String, _ structures: [ADStructure], _ mac: String?, _ rule: String, _ source: String, at offset: Int, _ order: ByteOrder
  ) {
    self.title = title
    advertisement = Advertisement(structures: structures) ?? Advertisement([])
    self.mac = mac
    self.rule = rule
    self.source = source
    self.offset = offset
    self.order = order
  }

  init(_ title: String, ad hex: String, _ mac: String?, _ rule: String, _ source: String, at offset: Int, _ order: ByteOrder) {
    self.init(title, [], mac, rule, source, at: offset, order)
    advertisement = Advertisement(Hex.decode(hex) ?? [])
  }

  init(_ title: String, fe95 hex: String, _ mac: String?) {
    self.init(title, [svc(0xFE95, hex)], mac, "mibeacon", "service_data/fe95", at: 5, .little)
  }

  var testDescription: String { title }
}

func svc(_ uuid: UInt32, _ hex: String) -> ADStructure { .serviceData(UUID(uuid), Hex.decode(hex) ?? []) }
func mfg(_ company: UInt16, _ hex: String) -> ADStructure { .manufacturer(company, Hex.decode(hex) ?? []) }
func name(_ text: String) -> ADStructure { ADStructure(type: ADType.completeLocalName, data: Array(text.utf8)) }

extension MACVector {
  static let all: [Self] = xiaomi + environment + brands + posted + own

  private static let xiaomi: [Self] = [
    .init("LYWSDCGQ", fe95: "5020aa01da219335342d580d1004fe004802", "58:2D:34:35:93:21"),
    .init("LYWSD03MMC v5, encrypted", fe95: "58585b0501483cd438c1a49cf255cfdd0000002fae2ff2", "A4:C1:38:D4:3C:48"),
    .init("MiFlora", fe95: "7120980012f34f6b8d7cc40d041002c400", "C4:7C:8D:6B:4F:F3"),
    .init("Aqara N100 lock", fe95: "50449e0643918aeb441fd70b000920020001807c442f61", "D7:1F:44:EB:8A:91"),
    .init("the same lock, beacon", fe95: "30449e0695918aeb441fd72d0100", "D7:1F:44:EB:8A:91"),
    .init("Lockin S50F lock", fe95: "1055871d4467ea29d76b08", "08:6B:D7:29:EA:67"),
    .init("Lockin SV40 lock", fe95: "4855c211165068b6fe3c878095c8a5834f000000463221c6", nil),
    .init("XMZNMS08LM lock", fe95: "4855390e339c71c0241fffee8053000002b4c539", nil),
    .init("FE95 of eleven octets", fe95: "1055641bc1b68c2a15cd04", "04:CD:15:2A:8C:B6"),
    .init(
      "Mi Band", ad: "020104 1bff5701 020aff54ffffffffffffffffffffffffff03 c5093f890b4b", "C5:09:3F:89:0B:4B", "miband",
      "manufacturer_data/0157",
      at: 18, .big),
    .init(
      "Mi scale v1", ad: "020106 03021d18 09ff5701 c8478cc09589 0d161d18 a22044b20701010a1a15", "C8:47:8C:C0:95:89", "miscale",
      "manufacturer_data/0157", at: 0, .big),
    .init(
      "Qingping CGP1W", ad: "020106 1816cdfd 0809 6f1c40342d58 0104be000d0207027226020157", "58:2D:34:40:1C:6F", "qingping",
      "service_data/fdcd",
      at: 2, .little),
    .init(
      "Qingping CGH1", [svc(0xFDCD, "0804751060342d580201600f01420f0101")], "58:2D:34:60:10:75", "qingping", "service_data/fdcd", at: 2,
      .little),
  ]

  private static let environment: [Self] = [
    .init("ATC1441", ad: "10161a18 a4c1380283f4 00a22f5f0bf819", "A4:C1:38:02:83:F4", "atc1441", "service_data/181a", at: 0, .big),
    .init("pvvx", ad: "12161a18 f4830238c1a4 a9066911b60b58f70d", "A4:C1:38:02:83:F4", "pvvx", "service_data/181a", at: 0, .little),
    .init(
      "pvvx, another", [svc(0x181A, "b462c538c1a48a09c215bf0b590405")], "A4:C1:38:C5:62:B4", "pvvx", "service_data/181a", at: 0, .little),
    .init(
      "b-parasite v2", ad: "020104 15161a18 110b0aa1542cbca1ffff f0caf0ca0201 0042 05096e524635", "F0:CA:F0:CA:02:01", "b_parasite",
      "service_data/181a", at: 10, .big),
  ]

  private static let brands: [Self] = [
    .init(
      "TTLock door lock", ad: "12ff0503 021240b000f4f953 65 7f8a43b9f0f7", "F7:F0:B9:43:8A:7F", "ttlock", "manufacturer_data/0305", at: 9,
      .little),
    .init(
      "SwitchBot Meter Plus", ad: "020106 0eff6909 c4f92675df22 dc030096a9 09163dfd 6900ba031938", "C4:F9:26:75:DF:22", "switchbot",
      "manufacturer_data/0969", at: 0, .big),
    .init(
      "SwitchBot lock", [mfg(0x0969, "c164b87d06050000000000")], "C1:64:B8:7D:06:05", "switchbot", "manufacturer_data/0969", at: 0, .big),
    .init(
      "Shelly BLU", [mfg(0x0BA9, "0101000b07000affee718f3938")], "38:39:8F:71:EE:FF", "shelly_blu", "manufacturer_data/0ba9", at: 7, .little
    ),
    .init(
      "Inkbird iBBQ-1", ad: "020106 0302f0ff 0dff0000 0000 28ec9a2e65d7 f000", "28:EC:9A:2E:65:D7", "inkbird", "manufacturer_data/0000",
      at: 2, .big),
    .init(
      "ThermoBeacon", ad: "020106 0302f0ff 15ff1100 0000 271600008806 3c0c8f01a103b9d70300", "06:88:00:00:16:27", "thermobeacon",
      "manufacturer_data/0011", at: 2, .little),
    .init(
      "T201", ad: "0509 54323031 020106 14ff55aa 0101 a4c13874b085 01070a1d10f0640001 00", "A4:C1:38:74:B0:85", "t201",
      "manufacturer_data/aa55",
      at: 2, .big),
    .init(
      "RuuviTag RAWv2", [mfg(0x0499, "0512fc5394c37c0004fffc040cac364200cdcbb8334c884f")], "CB:B8:33:4C:88:4F", "ruuvi_rawv2",
      "manufacturer_data/0499", at: 18, .big),
    .init("TPMS", [mfg(0x0100, "80eacaddeefff46503007c0c00003300")], "80:EA:CA:DD:EE:FF", "tpms", "manufacturer_data/0100", at: 0, .big),
    .init(
      "Holy-IOT",
      ad:
        "020106 1aff4c00 02159976aed5f58c49af85ebd0ac7281e3f6271b4cb924 0d0962696e2d747261636b657200 10164252 4164 c6b545f6f18e 060601ed25",
      "C6:B5:45:F6:F1:8E", "holy_iot", "service_data/5242", at: 2, .big),
    .init(
      "Jaalee JHT", ad: "020a00 030325f5 0e1625f5 64 4b1ecdb4f3d2 7420591a", "D2:F3:B4:CD:1E:4B", "jaalee", "service_data/f525", at: 1,
      .little),
    .init(
      "ABTemp", [mfg(0x004C, "0215b5b182c7eab14988aa99b5c1517008d90001641ac5"), svc(0xAB01, "7dac4915fed57dac530680")], "D5:FE:15:49:AC:7D",
      "abtemp", "service_data/ab01", at: 0, .little),
    .init(
      "Laica", ad: "020104 0303b0ff 0fffaca0 a02bbe5e91a0 a02c92140dbf 0709414141303032", "A0:91:5E:BE:2B:A0", "laica",
      "manufacturer_data/a0ac",
      at: 0, .little),
    .init("Xiaogui", ad: "10ffc0a3 0276138b000221 5f5a29e5e094", "5F:5A:29:E5:E0:94", "xiaogui", "manufacturer_data/a3c0", at: 7, .big),
    .init(
      "Telink mesh", ad: "020105 0d09 334142453236314644413232 09ff1102 1102 78732143", "??:??:43:21:73:78", "telink_mesh",
      "manufacturer_data/0211", at: 2, .little),
  ]

  /// Captured frames that people published together with the device's address.
  private static let posted: [Self] = [
    .init(
      "Qingping CGP22C", ad: "020106 1816cdfd 0a5d c11b86342d58 0104ff00af0102016413024702", "58:2D:34:86:1B:C1", "qingping",
      "service_data/fdcd", at: 2, .little),
    .init(
      "Qingping, bound", [svc(0xFDCD, "8a5dc11b86342d580104ff00af01020164")], "58:2D:34:86:1B:C1", "qingping", "service_data/fdcd", at: 2,
      .little),
    .init(
      "ThermoBeacon with another first octet", [mfg(0x0011, "0a00271600008806 3c0c8f01a103b9d70300")], "06:88:00:00:16:27", "thermobeacon",
      "manufacturer_data/0011", at: 2, .little),
    .init(
      "Samsung television", [mfg(0x0075, "420401016154bd79bce8cc56bd79bce8cbff3e3f00000000")], "54:BD:79:BC:E8:CC", "samsung",
      "manufacturer_data/0075", at: 5, .big),
    .init(
      "Samsung sound bar", [mfg(0x0075, "42048340112207031c869a6ff61b00011e869a6ff61a0106")], "1C:86:9A:6F:F6:1B", "samsung",
      "manufacturer_data/0075", at: 8, .big),
    .init(
      "Inkbird ITH-11-B", ad: "0303f0ff 13ff4924 0812005e ffff520364006408 00000000", "49:24:08:12:00:5E", "inkbird_ith", "ad/ff", at: 0,
      .big),
    .init(
      "Inkbird IBS-P02B", ad: "13ff4924 11180065 760100006000000100000000", "49:24:11:18:00:65", "inkbird_ith", "ad/ff", at: 0, .big),
    .init(
      "Inkbird IAM-T2", [mfg(0x3254, "006200a13e2c6a4202d001be025f72")], "62:00:A1:3E:2C:6A", "inkbird_iam_t2", "manufacturer_data/3254",
      at: 1,
      .big),
    .init(
      "Inkbird IAM-T1", ad: "12ff 543141432d 36323030613133636165 0000", "62:00:A1:3C:AE:??", "inkbird_iam_t1", "ad/ff", at: 5, .big),
    .init(
      "Inkbird IHT-2PB", ad: "12ff 4948325042 363230306131333539633462", "62:00:A1:35:9C:4B", "inkbird_iht_2pb", "ad/ff", at: 5, .big),
    .init(
      "Inkbird INT-11I-B", [mfg(0x4488, "196a6588c938c1a42100236400640000")], "A4:C1:38:C9:88:65", "inkbird_int_11i",
      "manufacturer_data/4488",
      at: 2, .little),
    .init("Govee H5122", [mfg(0xEC88, "0108f30ad232393756340105")], "D2:32:39:37:56:34", "govee", "manufacturer_data/ec88", at: 4, .big),
    .init(
      "Govee H5055", ad: "03035550 17ff1cea350064012034 00ffffffff203200ffffffff0000", "??:??:??:1C:EA:35", "govee_h5055", "ad/ff", at: 0,
      .big),
  ]

  /// Frames built from descriptions of layouts, and frames that must not match.
  private static let own: [Self] = [
    .init(
      "wristband of the lock's protocol", [mfg(0x1234, "000102223344556677")], "77:66:55:44:33:22", "ttlock_wristband",
      "manufacturer_data/1234",
      at: 3, .little),
    .init(
      "SwitchBot, Nordic's identifier", [mfg(0x0059, "fe02349ea6ba")], "FE:02:34:9E:A6:BA", "switchbot_nordic", "manufacturer_data/0059",
      at: 0, .big),
    .init("another device of Nordic's identifier", [mfg(0x0059, "fe02349ea6ba01")], nil, "", "", at: 0, .big),
    .init(
      "Senssun", [mfg(0x0100, "020311187a93c1b333021a4500b4a1ab61")], "18:7A:93:C1:B3:33", "senssun", "manufacturer_data/0100", at: 3, .big),
    .init("Jinou", [mfg(0x1200, "0700360264f881d2be0693")], "F8:81:D2:BE:06:93", "jinou", "manufacturer_data/1200", at: 5, .big),
    .init(
      "Inkbird 2X", [mfg(0x0001, "0000ffeeddccbbaa4c014f01")], "AA:BB:CC:DD:EE:FF", "inkbird_2x", "manufacturer_data/0001", at: 2, .little),
    .init("Feasycom", [svc(0xFFF0, "15000001dc0d30aabbcc64")], "DC:0D:30:AA:BB:CC", "feasycom", "service_data/fff0", at: 4, .big),
    .init("April N03", [svc(0x5242, "ab03aabbccddeeff64c800900a0500")], "AA:BB:CC:DD:EE:FF", "april_n03", "service_data/5242", at: 2, .big),
    .init("address structure", ad: "081b 221100 38c1a4 00", "A4:C1:38:00:11:22", "le_device_address", "ad/1b", at: 0, .little),
    .init("address structure, type first", ad: "081b 00 d93519d7ba4c", "4C:BA:D7:19:35:D9", "le_device_address", "ad/1b", at: 1, .little),
    .init("ATC name", [name("ATC_C562B4")], "??:??:??:C5:62:B4", "atc_name", "name", at: 4, .big),
    .init("Govee name", [name("GVH5075_2762")], "??:??:??:??:27:62", "govee_name", "name", at: 8, .big),
    .init("whole address in a name", [name("Prodigio_C1DD9272E8C1")], "C1:DD:92:72:E8:C1", "name_mac", "name", at: 9, .big),
    .init(
      "a whole address beats a part", [name("ATC_C562B4"), svc(0x181A, "b462c538c1a48a09c215bf0b590405")], "A4:C1:38:C5:62:B4", "pvvx",
      "service_data/181a", at: 0, .little),
    .init(
      "UUID as a name", [name("6e400001-b5a3-11f0-e0a9-e50e24dcca9e")], "E5:0E:24:DC:CA:9E", "name_uuid", "name", at: 24, .big),
    .init(
      "BTHome 2, address included", ad: "0e16d2fc 42 b2188d38c1a4 04138a01", "A4:C1:38:8D:18:B2", "bthome", "service_data/fcd2", at: 1,
      .little),
    .init(
      "BTHome 2, encrypted and triggered", [svc(0xFCD2, "47b2188d38c1a4a1b2c3d4e5f60011223344")], "A4:C1:38:8D:18:B2", "bthome",
      "service_data/fcd2", at: 1, .little),
    .init("BTHome of another version", [svc(0xFCD2, "22b2188d38c1a404138a01")], nil, "", "", at: 0, .little),
    .init(
      "T201 with more at its end", [mfg(0xAA55, "0101a4c13874b08501070a1d10f064000100")], "A4:C1:38:74:B0:85", "t201",
      "manufacturer_data/aa55", at: 2, .big),
    .init(
      "RuuviTag with more at its end", [mfg(0x0499, "0512fc5394c37c0004fffc040cac364200cdcbb8334c884f00")], "CB:B8:33:4C:88:4F",
      "ruuvi_rawv2",
      "manufacturer_data/0499", at: 18, .big),
    .init(
      "ThermoBeacon with more at its end", [mfg(0x0010, "0000271600008806 3c0c8f01a103b9d70300 00")], "06:88:00:00:16:27", "thermobeacon",
      "manufacturer_data/0010", at: 2, .little),
    .init(
      "Samsung with more at its end", [mfg(0x0075, "420401016154bd79bce8cc56bd79bce8cbff3e3f0000000000")], "54:BD:79:BC:E8:CC", "samsung",
      "manufacturer_data/0075", at: 5, .big),
    .init("digits that may be anything", [name("Sensor_2762")], nil, "", "", at: 0, .big),
    .init(
      "Samsung without a pair of addresses", [mfg(0x0075, "42040120611707000000000000000000000000000000000000")], nil, "", "", at: 0, .big),
    .init("Samsung, two that are no pair", [mfg(0x0075, "420401016154bd79bce8cc56bd79bce8ccff3e3f00000000")], nil, "", "", at: 0, .big),
    .init("Inkbird's T2 with another first octet", [mfg(0x3254, "016200a13e2c6a4202d001be025f72")], nil, "", "", at: 0, .big),
    .init("Govee of another frame", [mfg(0xEC88, "0008f30ad232393756340105")], nil, "", "", at: 0, .big),
    .init("no hex digits after Inkbird's letters", ad: "12ff 4948325042 36323030613133353963347a", nil, "", "", at: 0, .big),
    .init("Qingping of another version", [svc(0xFDCD, "0c5dc11b86342d580104ff00af010201")], nil, "", "", at: 0, .big),
    .init("twelve digits without a separator", [name("3ABE261FDA22")], nil, "", "", at: 0, .big),
    .init("iBeacon", [mfg(0x004C, "0215fda50693a4e24fb1afcfc6eb0764782500010002c5")], nil, "", "", at: 0, .big),
    .init("pvvx, encrypted", [svc(0x181A, "b462c538c1a48a09c215bf")], nil, "", "", at: 0, .big),
    .init("ATC, encrypted", [svc(0x181A, "b462c538c1a48a09")], nil, "", "", at: 0, .big),
    .init(
      "181A of another length", [svc(0x181A, "0102030405060708090a")], nil, "", "",
      at: 0, .big),
    .init("Ruuvi without address", [mfg(0x0499, "0512fc5394c37c0004fffc040cac364200cdffffffffffff")], nil, "", "", at: 0, .big),
    .init("MiBeacon cut short", fe95: "5020aa01da2193", nil),
    .init("Shelly without the address tag", [mfg(0x0BA9, "0101000b0700")], nil, "", "", at: 0, .big),
    .init("Tuya", [svc(0xFD50, "000102030405060708")], nil, "", "", at: 0, .big),
    .init("all zero", [mfg(0x0969, "000000000000dc030096a9")], nil, "", "", at: 0, .big),
    .init("nothing", ad: "", nil, "", "", at: 0, .big),
  ]
}
