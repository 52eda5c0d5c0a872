import Bluetooth
import GATT
import Text

/// The file format of virtual peripherals: blectl-peripheral(5).
package enum PeripheralFile {
  /// Larger files are refused.
  package static let maximumLength = 4 << 20
  package static let maximumPeripherals = 64

  /// - Parameters:
  ///   - bytes: the file: one peripheral (an object) or several (a list of objects), JSON with comments.
  ///   - name: what errors call the file.
  /// - Throws: with file, line, path of the offending entry and what is wrong with it.
  package static func parse(_ bytes: [UInt8], name: String) throws(PeripheralFileError) -> [PeripheralDescription] {
    guard bytes.count <= maximumLength else {
      throw PeripheralFileError(file: name, reason: "\(bytes.count) octets: a peripheral file has at most \(maximumLength)")
    }
    let tree: JSONTree
    do { tree = try JSONTree.parse(bytes) } catch { throw PeripheralFileError(file: name, line: error.line, reason: error.reason) }
    let root = FileEntry(file: name, path: "", tree: tree)
    let entries = root.isList ? try root.list() : [root]
    guard !entries.isEmpty else { throw root.error("no peripheral: the list is empty") }
    guard entries.count <= maximumPeripherals else {
      throw root.error("\(entries.count) peripherals: at most \(maximumPeripherals) are allowed")
    }
    var peripherals: [PeripheralDescription] = []
    for entry in entries {
      let peripheral = try peripheral(entry)
      guard !peripherals.contains(where: { $0.address == peripheral.address }) else {
        throw entry.error("the address \(peripheral.address) belongs to an earlier peripheral")
      }
      peripherals.append(peripheral)
    }
    return peripherals
  }

  private static let keys = [
    "name", "address", "appearance", "connectable", "interval_ms", "rssi", "advertisement", "scan_response", "mtu", "data_length", "phys",
    "packets_per_event", "starts_after_ms", "failing_connections", "services",
  ]

  private static func peripheral(_ entry: FileEntry) throws(PeripheralFileError) -> PeripheralDescription {
    let fields = try entry.object(keys)
    guard let nameEntry = fields["name"] else { throw entry.error("it has no name") }
    guard let addressEntry = fields["address"] else { throw entry.error("it has no address") }
    let name = try nameEntry.string()
    guard name.utf8.count <= 248 else { throw nameEntry.error("a device name has at most 248 octets") }
    let appearance = UInt16(clamping: try fields["appearance"]?.integer(0...0xFFFF) ?? 0)

    var services = PeripheralServices(name: name, appearance: appearance)
    for service in try fields["services"]?.list() ?? [] { try services.add(service) }
    let database = try services.database(entry)
    var peripheral = PeripheralDescription(name: name, address: try address(addressEntry), database: database)
    peripheral.behaviours = try services.behaviours(database)

    if let value = fields["connectable"] { peripheral.advertising.isConnectable = try value.bool() }
    if let value = fields["interval_ms"] { peripheral.advertising.interval = try value.milliseconds(20...10_240) }
    if let value = fields["rssi"] { peripheral.advertising.rssi = Int8(clamping: try value.integer(-127...20)) }
    if let value = fields["advertisement"] { peripheral.advertising.data = try PeripheralAdvertisement.data(value) }
    if let value = fields["scan_response"] { peripheral.advertising.scanResponse = try PeripheralAdvertisement.data(value) }
    if let value = fields["mtu"] { peripheral.mtu = try value.integer(23...517) }
    if let value = fields["data_length"] { peripheral.linkLimits.dataLength = try value.integer(27...251) }
    if let value = fields["phys"] { peripheral.linkLimits.phys = try phys(value) }
    if let value = fields["starts_after_ms"] { peripheral.advertising.startsAfter = try value.milliseconds(0...86_400_000) }
    if let value = fields["failing_connections"] { peripheral.linkLimits.failingConnections = try value.integer(0...255) }
    if let value = fields["packets_per_event"] { peripheral.linkLimits.packetsPerEvent = try value.integer(1...255) }
    return peripheral
  }

  private static func address(_ entry: FileEntry) throws(PeripheralFileError) -> PeerAddress {
    let text = try entry.string()
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let address = Address(parts[0]), let type = AddressType(rawValue: String(parts[1])) else {
      throw entry.error("\(DisplayText.quote(text)) is not an address with its type: D1:00:00:00:00:01/random, A4:C1:38:00:11:22/public")
    }
    return PeerAddress(address, type)
  }

  private static func phys(_ entry: FileEntry) throws(PeripheralFileError) -> Set<PHY> {
    var phys: Set<PHY> = []
    for item in try entry.list() {
      guard let phy = PHY(name: try item.string()) else { throw item.error("unknown PHY; there are 1m, 2m, coded") }
      phys.insert(phy)
    }
    guard phys.contains(.le1M) else { throw entry.error("every device has the PHY 1m") }
    return phys
  }
}

/// Advertising data from its fields (Supplement to the Core Specification, Part A §1), in the order of the file.
enum PeripheralAdvertisement {
  /// Legacy advertising PDUs carry no more.
  static let maximumLength = 31

  private static let keys = [
    "flags", "name", "short_name", "services", "manufacturer_data", "service_data", "tx_power", "appearance",
  ]

  /// A string of hex digits is taken as it is, well-formed or not: broken advertisements are worth simulating.
  static func data(_ entry: FileEntry) throws(PeripheralFileError) -> [UInt8] {
    guard entry.isObject else { return try entry.octets(limit: maximumLength) }
    _ = try entry.object(keys)
    var data: [UInt8] = []
    for (key, value) in try entry.members() { data += try structures(key, value) }
    guard data.count <= maximumLength else {
      throw entry.error("\(data.count) octets: an advertisement has at most \(maximumLength), as has a scan response")
    }
    return data
  }

  private static func structures(_ key: String, _ entry: FileEntry) throws(PeripheralFileError) -> [UInt8] {
    func structure(_ type: UInt8, _ data: [UInt8]) throws(PeripheralFileError) -> [UInt8] {
      guard data.count < 255 else { throw entry.error("too long for an advertisement") }
      return [UInt8(data.count + 1), type] + data
    }
    switch key {
    case "flags": return try structure(0x01, [UInt8(clamping: try entry.integer(0...255))])
    case "short_name": return try structure(0x08, Array(try entry.string().utf8))
    case "name": return try structure(0x09, Array(try entry.string().utf8))
    case "tx_power": return try structure(0x0A, [UInt8(bitPattern: Int8(clamping: try entry.integer(-127...20)))])
    case "appearance":
      let value = UInt16(clamping: try entry.integer(0...0xFFFF))
      return try structure(0x19, [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)])
    case "services":
      // One structure for each width that occurs: 16 bits, 128 bits.
      var short: [UInt8] = []
      var long: [UInt8] = []
      for item in try entry.list() {
        let octets = try item.uuid().attBytes
        if octets.count == 2 { short += octets } else { long += octets }
      }
      return (short.isEmpty ? [] : try structure(0x03, short)) + (long.isEmpty ? [] : try structure(0x07, long))
    case "manufacturer_data":
      var data: [UInt8] = []
      for (company, value) in try entry.members() {
        guard company.utf8.count == 4, let id = Hex.number(company) else {
          throw value.error("a company identifier has four hex digits, as 004c")
        }
        data += try structure(
          0xFF, [UInt8(truncatingIfNeeded: id), UInt8(truncatingIfNeeded: id >> 8)] + value.octets(limit: maximumLength))
      }
      return data
    case "service_data":
      var data: [UInt8] = []
      for (text, value) in try entry.members() {
        guard let uuid = UUID(text) else { throw value.error("\(DisplayText.quote(text)) is not a UUID") }
        data += try structure(uuid.short == nil ? 0x21 : 0x16, uuid.attBytes + value.octets(limit: maximumLength))
      }
      return data
    default: return []
    }
  }
}
