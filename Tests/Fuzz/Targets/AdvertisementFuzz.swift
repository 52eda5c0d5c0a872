import BluetoothLE
import BluetoothLEDeviceFiles

extension FuzzTarget {
  /// AD structures after the sender's address, read in every way.
  static let advertisement = FuzzTarget("advertisement") { bytes in
    var tape = Tape(bytes)
    guard let address = Address(bigEndian: tape.bytes(6)) else { return }
    let sender = PeerAddress(address, bytes.count & 1 == 0 ? .public : .random)
    let advertisement = Advertisement(Array(tape.rest))
    _ = (advertisement.flags, advertisement.txPower, advertisement.appearance, advertisement.displayName, advertisement.errors)
    _ = (advertisement.serviceUUIDs, advertisement.solicitedUUIDs, advertisement.leDeviceAddressPlace)
    if let again = Advertisement(structures: advertisement.structures) {
      expect(again.structures == advertisement.structures, "what is written of AD structures is read as others")
    }
    let (manufacturer, service) = (advertisement.manufacturerData, advertisement.serviceData)
    for formats in formats { _ = formats.all(manufacturerData: manufacturer, serviceData: service, sender: address) }
    search(advertisement, sender)
  }

  private static let formats: [AdvertisingFormats] = {
    var keys = BTHomeKeys()
    if let key = AES128(key: Array(0..<16)) { keys.add(key, of: nil) }
    let devices = files("man/examples", [".json"]).compactMap { try? DeviceFile.parse($0, name: "seed") }.filter { $0.advertisement != nil }
    return [AdvertisingFormats(keys: keys)] + devices.map { AdvertisingFormats(device: $0) }
  }()

  private static func search(_ advertisement: Advertisement, _ sender: PeerAddress) {
    if case .found(let macs) = MACFinder.find(in: advertisement, sender: sender) { expect(!macs.isEmpty, "nothing is found") }
    for mac in MACFinder.learn(in: advertisement, sender: sender.address) {
      // A learned rule finds the same address again.
      guard let rule = try? MACRule(mac.rule) else { return expect(false, "\(mac.rule) is no rule") }
      _ = MACFinder.find(in: advertisement, sender: sender, rules: [rule])
    }
    _ = MACFinder.fromSystemID(Array(advertisement.bytes.prefix(8)), sender: sender)
    for way in [MACSearch.Way.rules(MACRule.known), .learn()] {
      var search = MACSearch(way)
      _ = (search.add(advertisement.bytes, sender: sender), search.add(advertisement.bytes, sender: nil), search.problem)
    }
  }

  /// Lines of recorded advertisements, and of the files that keep devices and transfers.
  static let lines = FuzzTarget(
    "lines",
    seeds: [
      "020106", "C0:FF:EE:00:00:07 0201060303e1ff", "C0:FF:EE:00:00:07/random -58 dBm ADV_IND 020106", "anonymous ? 020106",
      #"{"raw":"020106","address":"C0:FF:EE:00:00:07","address_type":"random"}"#,
      #"{"peer":"C0:FF:EE:00:00:07/random","name":"a","connected":"2026-01-01T00:00:00.000Z"}"#,
      #"{"alias":"b","peer":"name:a*","air":"sim"}"#,
      #"{"peer":"C0:FF:EE:00:00:07/random","handle":18,"offset":5,"crc32":7}"#,
      #"{"peer":"C0:FF:EE:00:00:07/random","handle":18,"gap_us":5,"interval_us":7500,"air_us":3}"#,
      #"{"heard":1,"air":"sim","devices":[{"peer":"C0:FF:EE:00:00:07/random","name":"a","rssi":-5}]}"#,
      #"{"air":"sim","peer":"C0:FF:EE:00:00:07/random","attributes":[{"service":"180f","uuid":"2a19","handle":3,"properties":2}]}"#,
    ].map { Array($0.utf8) },
    words: [
      "\"raw\"", "\"address\"", "\"address_type\"", "\"peer\"", "\"name\"", "\"alias\"", "\"connected\"", "\"attribute\"", "\"offset\"",
      "\"crc32\"", "\"air\"", "\"heard\"", "\"devices\"", "\"rssi\"", "\"found_by\"", "\"attributes\"", "\"service\"", "\"uuid\"",
      "\"handle\"", "\"properties\"", "\"gap_us\"", "\"interval_us\"", "\"air_us\"", "C0:FF:EE:00:00:07/random", "null",
    ]
  ) { bytes in
    for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      _ = try? OfflineAdvertisement.parse(line, number: number + 1)
    }
    let devices = KnownDevices(parsing: bytes)
    expect(KnownDevices(parsing: devices.log) == devices, "what is written of known devices is read as others")
    expect(KnownDevices.last(in: bytes)?.peer == devices.devices(on: nil).last?.peer, "another device is the last one")
    let memory = TransferMemory(parsing: bytes)
    expect(TransferMemory(parsing: memory.log).log == memory.log, "what is written of transfers is read as others")
    let heard = HeardDevices(parsing: bytes)
    expect(HeardDevices(parsing: heard.log) == heard, "what is written of heard devices is read as others")
    let attributes = KnownAttributes(parsing: bytes)
    expect(KnownAttributes(parsing: attributes.log) == attributes, "what is written of attributes is read as others")
  }
}
