// SPDX-License-Identifier: Apache-2.0
/// The fields that a decoder found in manufacturer or service data.
package struct DecodedData: Sendable, Equatable {
  /// The name of the format: `ibeacon`, `altbeacon`, `eddystone_uid`, `eddystone_url`, `eddystone_tlm`, `eddystone_eid`, `apple`,
  /// `microsoft`, `bthome`, `fast_pair`, or one of `BeaconLayout.all`. A device file's format is `device_` and the company's four hex digits.
  package let format: String
  package let fields: [Field]
  /// The reason why the decoder left data undecoded. Nil if the decoder decoded all data.
  package let problem: Problem?
  /// The name of the device in the device file. Nil for a documented format.
  package let device: String?
  /// The identifiers of BTHome objects in the order of the data. Nil for other formats.
  package var objectIDs: [UInt8]?

  package enum Problem: Sendable, Equatable {
    /// None of the known keys decrypts the data.
    case noKeyFits
    /// The data has the flag for encryption, but is too short.
    case tooShort
    /// The data does not fit the device file.
    case frame(PacketFault)
  }

  package struct Field: Sendable, Equatable {
    package let name: String
    package let value: Value

    package init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }
  }

  package indirect enum Value: Sendable, Equatable {
    case text(String)
    case integer(Int)
    case number(Double)
    case bool(Bool)
    case texts([String])
    case records([[Field]])
    /// A value decoded with a device file, and its unit. The unit is nil if the file names none.
    case described(DeviceValue, unit: String?)
  }

  package init(_ format: String, _ fields: [Field], _ problem: Problem? = nil, of device: String? = nil) {
    (self.format, self.fields, self.problem, self.device) = (format, fields, problem, device)
  }

  package subscript(name: String) -> Value? { fields.first { $0.name == name }?.value }

  package static func manufacturer(_ company: UInt16, _ data: [UInt8], name: @autoclosure () -> String? = nil) -> DecodedData? {
    // Inkbird writes a temperature where the company stands.
    if data.count == 7, let name = name(), BeaconLayout.inkbirdNames.contains(name) {
      return BeaconLayout.decode(name, [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data)
    }
    return switch company {
    case 0x004C: BeaconLayout.decode("004c", data) ?? VendorMessages.apple(data)
    case 0x0006: VendorMessages.microsoft(data)
    case 0x0499: BeaconLayout.decode("0499", data)
    default: data.starts(with: [0xBE, 0xAC]) ? BeaconLayout.decode("beac", data) : nil
    }
  }

  package static func service(_ uuid: UUID, _ data: [UInt8], sender: Address? = nil, keys: BTHomeKeys = BTHomeKeys()) -> DecodedData? {
    switch uuid.short {
    case 0xFEAA: Beacons.eddystone(data)
    case 0xFE2C: Beacons.fastPair(data)
    case 0xFD6F: BeaconLayout.decode("fd6f", data)
    case 0xFCD2: BTHome.decode(data, sender: sender, keys: keys)
    default: nil
    }
  }

  /// Keeps the last data of each format, at the position of the format's first data.
  package static func latest(_ all: [DecodedData]) -> [DecodedData] { all.lastOfEach(\.format) }
}

extension Array {
  /// Keeps the last element with each ID, at the position of the first element with the ID.
  package func lastOfEach<ID: Equatable>(_ id: (Element) -> ID) -> [Element] {
    guard count > 1 else { return self }
    var result: [Element] = []
    for element in self {
      if let index = result.firstIndex(where: { id($0) == id(element) }) { result[index] = element } else { result.append(element) }
    }
    return result
  }
}
