import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct AdvertisementTests {
  @Test func names() {
    #expect(ADType.name(ADType.leDeviceAddress) == "LE Bluetooth Device Address")
    #expect(ADType.name(0xFE) == nil)
  }

  @Test(arguments: AdvertisementSample.all) func sample(_ sample: AdvertisementSample) throws {
    let bytes = try #require(Hex.decode(sample.hex))
    let advertisement = Advertisement(bytes)
    #expect(advertisement.flags == sample.flags)
    #expect(advertisement.name.map { DisplayText.escape($0) } == sample.name)
    #expect(advertisement.nameIsComplete == sample.isComplete)
    #expect((advertisement.displayName == nil) == (sample.name == nil))
    #expect(advertisement.txPower == sample.txPower)
    #expect(advertisement.appearance == sample.appearance)
    #expect(advertisement.serviceUUIDs.map(\.description) == sample.services)
    #expect(advertisement.solicitedUUIDs.map(\.description) == sample.solicited)
    #expect(advertisement.manufacturerData.map { "\(hex($0.company)):\(Hex.encode($0.data))" } == sample.manufacturer)
    #expect(advertisement.serviceData.map { "\($0.uuid):\(Hex.encode($0.data))" } == sample.serviceData)
    #expect(advertisement.leDeviceAddressPlace?.peer.description == sample.address)
    #expect(advertisement.errors.map(\.reason) == sample.errors)
    #expect(advertisement.error == advertisement.errors.first)
  }

  /// A malformed structure does not hide others, even of its own type.
  @Test(arguments: ["021b00", "091b0102030405060708", "02160f", "021900", "0101", "0405ffffee", "01ff", "02ff05"])
  func aMalformedStructureHidesNothing(_ malformed: String) throws {
    let whole = "020106" + "081b06050403020100" + "04ff050399" + "0303affe"
    for text in [malformed + whole, whole + malformed] {
      let advertisement = Advertisement(try #require(Hex.decode(text)))
      #expect(advertisement.leDeviceAddressPlace?.peer.description == "01:02:03:04:05:06/public", "\(text)")
      #expect(advertisement.manufacturerData.map(\.company) == [0x0305] && advertisement.serviceUUIDs.contains(UUID(0xFEAF)))
      #expect(advertisement.flags == 6 && advertisement.error != nil)
    }
  }

  /// A valid advertisement encodes to the same bytes after parsing.
  @Test(arguments: AdvertisementSample.all.filter(\.errors.isEmpty)) func roundTrip(_ sample: AdvertisementSample) throws {
    let bytes = try #require(Hex.decode(sample.hex))
    let structures = Advertisement(bytes).structures
    let written = try #require(Advertisement(structures: structures))
    #expect(written.bytes == Array(bytes.prefix(written.bytes.count)))
    #expect(bytes.dropFirst(written.bytes.count).allSatisfy { $0 == 0 })
    #expect(written.structures == structures)
  }

  @Test func structuresByHand() throws {
    let advertisement = try #require(
      Advertisement(structures: [
        .manufacturer(0x0305, [1, 2]), .serviceData(UUID(0xFE95), [3]), .serviceData(UUID(high: 1, low: 2), [4]),
        ADStructure(type: ADType.completeLocalName, data: [0x41]),
      ]))
    #expect(advertisement.manufacturerData.map(\.company) == [0x0305])
    #expect(advertisement.serviceData.map(\.uuid) == [UUID(0xFE95), UUID(high: 1, low: 2)])
    #expect(advertisement.bytes.prefix(6) == [5, 0xFF, 5, 3, 1, 2])
    #expect(Advertisement(structures: [ADStructure(type: 9, data: Array(repeating: 0x41, count: 255))]) == nil)
  }

  @Test func hostileBytes() {
    let seeds = AdvertisementSample.all.compactMap { Hex.decode($0.hex) }.filter { $0.count < 64 }
    hostile(seeds) { bytes in
      let advertisement = Advertisement(bytes)
      touch(advertisement)
      let structures = advertisement.structures
      // Whatever the bytes, the structures are those before the first error or the padding.
      let count = structures.reduce(0) { $0 + $1.data.count + 2 }
      #expect(count <= bytes.count)
      #expect(Advertisement(structures: structures)?.bytes == Array(bytes.prefix(count)))
      if count < bytes.count, bytes[count] != 0 { #expect(advertisement.error?.offset == count) }
    }
  }

  private func touch(_ advertisement: Advertisement) {
    _ = (advertisement.flags, advertisement.name, advertisement.displayName, advertisement.txPower, advertisement.appearance)
    _ = (advertisement.serviceUUIDs, advertisement.solicitedUUIDs, advertisement.manufacturerData, advertisement.serviceData)
    _ = (advertisement.leDeviceAddressPlace, advertisement.errors)
    if let name = advertisement.name { _ = DisplayText.clip(DisplayText.escape(name), to: 20) }
  }

  private func hex(_ number: UInt16) -> String { Hex.encode([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]) }
}

/// Checks the advertisements of other projects' tests. Each segment is one report.
@Suite(.timeLimit(.minutes(15))) struct AdvertisementVectorTests {
  @Test(.enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the 153 advertisements of other projects were not read"))
  func vectors() throws {
    let file = try #require(try JSONSerialization.jsonObject(with: try Vectors.data("adv.json")) as? [String: Any])
    let cases = try #require(file["cases"] as? [[String: Any]])
    #expect(cases.count == 153)
    for vector in cases {
      let id = Comment(rawValue: vector["id"] as? String ?? "?")
      let segments = try #require(vector["segments"] as? [String])
      let expect = try #require(vector["expect"] as? [String: Any])
      let parts = try segments.map { Advertisement(try #require(Hex.decode($0))) }
      func last<T>(_ value: (Advertisement) -> T?) -> T? { parts.compactMap(value).last }

      #expect(last(\.flags).map(Int.init) == expect["flags"] as? Int, id)
      #expect(last(\.txPower).map(Int.init) == expect["tx_power"] as? Int, id)
      #expect(last(\.appearance).map(Int.init) == expect["appearance"] as? Int, id)

      let named = parts.first { $0.name != nil }
      #expect(named?.name.map { Hex.encode($0) } == expect["name"] as? String, id)
      #expect(named.map(\.nameIsComplete) == expect["name_complete"] as? Bool, id)
      #expect(named?.displayName?.raw == expect["name_text"] as? String, id)
      #expect(named?.name.map { DisplayText.isUTF8($0) } == expect["name_valid_utf8"] as? Bool, id)
      #expect(named?.name.map { DisplayText.escape($0) } == expect["name_display"] as? String, id)

      let services = parts.flatMap(\.serviceUUIDs).map(\.fullDescription)
      #expect(services == expect["service_uuids"] as? [String], id)
      var unique: [String] = []
      for service in services where !unique.contains(service) { unique.append(service) }
      #expect(unique == expect["service_uuids_unique"] as? [String], id)

      var manufacturer: [String: [String]] = [:]
      for (company, data) in parts.flatMap(\.manufacturerData) {
        manufacturer[Hex.encode([UInt8(company >> 8), UInt8(company & 255)]), default: []].append(Hex.encode(data))
      }
      #expect(manufacturer == expect["manufacturer_data"] as? [String: [String]], id)

      var serviceData: [String: [String]] = [:]
      for (uuid, data) in parts.flatMap(\.serviceData) { serviceData[uuid.fullDescription, default: []].append(Hex.encode(data)) }
      #expect(serviceData == expect["service_data"] as? [String: [String]], id)

      let decoded: Set<UInt8> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x16, 0x19, 0x20, 0x21, 0xFF]
      let other = parts.flatMap(\.structures).filter { !decoded.contains($0.type) }
      let others = try #require(expect["other"] as? [[Any]])
      #expect(other.map { Int($0.type) } == others.map { $0.first as? Int }, id)
      #expect(other.map { Hex.encode($0.data) } == others.map { $0.last as? String }, id)

      let errors = try #require(expect["errors"] as? [String])
      #expect(parts.flatMap(\.errors).map(\.reason) == errors.map(Self.inOurWords), id)
    }
  }

  /// The sentence of blectl for a length that is too large in the words of the vectors.
  private static func inOurWords(_ error: String) -> String {
    guard let match = error.wholeMatch(of: /structure at offset (\d+) claims (\d+) octets, (\d+) left/) else { return error }
    let left = match.3 == "0" ? "none are" : match.3 == "1" ? "1 is" : "\(match.3) are"
    return "the structure at byte \(match.1) claims \(match.2) byte\(match.2 == "1" ? "" : "s"), but \(left) left"
  }
}
