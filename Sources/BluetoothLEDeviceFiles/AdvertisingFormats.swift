// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The decoders of advertising data for documented formats, for encrypted formats with known keys, and for the layouts of a device file.
package struct AdvertisingFormats: Sendable {
  private let keys: BTHomeKeys
  /// The name of the device in the device file. Empty without a device file.
  private let title: String
  private let layouts: [UInt16: Layout]

  /// The layout of a company's manufacturer data in the device file.
  private struct Layout {
    let frame: Frame
    /// The unit of each field by the field's name. A field without a unit is absent.
    let units: [String: String]

    init(_ frame: Frame) {
      self.frame = frame
      units = Dictionary(frame.fields.compactMap { field in field.note.unit.map { (field.name, $0) } }) { first, _ in first }
    }
  }

  /// Creates decoders.
  /// - Parameter device: The device file whose layouts of manufacturer data the decoders also use. Nil if there is none.
  package init(keys: BTHomeKeys = BTHomeKeys(), device: DeviceDescription? = nil) {
    self.keys = keys
    title = device?.name ?? ""
    layouts = device?.advertisement?.manufacturerData.mapValues { Layout($0) } ?? [:]
  }

  /// Decodes the data in known formats, then the data that the device file describes, each in the order of the data. Omits other data.
  /// - Parameters:
  ///   - sender: The sender, whose key decrypts the data. Nil if unknown.
  ///   - name: The local name of the sender, which identifies some formats. Nil if unknown.
  package func all(
    manufacturerData: [(company: UInt16, data: [UInt8])], serviceData: [(uuid: UUID, data: [UInt8])], sender: Address? = nil,
    name: @autoclosure () -> String? = nil
  ) -> [DecodedData] {
    var found: [DecodedData] = []
    for item in manufacturerData { if let data = DecodedData.manufacturer(item.company, item.data, name: name()) { found.append(data) } }
    for item in serviceData { if let data = service(item.uuid, item.data, sender: sender) { found.append(data) } }
    if layouts.isEmpty { return found }
    for item in manufacturerData { if let data = described(item.company, item.data) { found.append(data) } }
    return found
  }

  package func service(_ uuid: UUID, _ data: [UInt8], sender: Address?) -> DecodedData? {
    DecodedData.service(uuid, data, sender: sender, keys: keys)
  }

  /// Decodes a company's data with the device file. Nil without a layout for the company. Invalid data yields a problem and no fields.
  package func described(_ company: UInt16, _ data: [UInt8]) -> DecodedData? {
    guard !layouts.isEmpty, let layout = layouts[company] else { return nil }
    let format = "device_" + Hex.encode(company)
    do {
      let values = try layout.frame.decode(data)
      return DecodedData(format, values.map { .init($0.name, .described($0.value, unit: layout.units[$0.name])) }, of: title)
    } catch { return DecodedData(format, [], .frame(error), of: title) }
  }
}
