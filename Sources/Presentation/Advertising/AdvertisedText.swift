import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// The output of decoded advertising data, as JSON or as text for a scan.
enum AdvertisedText {
  /// Writes the JSON member `decoded` with one member for each format. If several data have the same format, writes only the latest.
  static func json(_ json: inout RecordWriter, _ all: [DecodedData]) {
    let data = DecodedData.latest(all)
    json.object("decoded") { object in
      for item in data {
        if item.fields.isEmpty, item.problem != nil {
          object.string(.init(item.format), nil)
        } else {
          object.object(.init(item.format)) { fields(&$0, item.fields) }
        }
      }
    }
    let problems = data.compactMap { item in item.problem.map { "\(item.format): \(sentence($0))" } }
    if !problems.isEmpty { json.string("decoded_error", problems.joined(separator: "; ")) }
  }

  private static func sentence(_ problem: DecodedData.Problem) -> String {
    switch problem {
    case .noKeyFits: "wrong key"
    case .tooShort: "too short to decrypt"
    case .frame(let fault): fault.sentence
    }
  }

  private static func fields(_ json: inout RecordWriter, _ fields: [DecodedData.Field]) {
    for field in fields {
      switch field.value {
      case .text(let value): json.string(.init(field.name), value)
      case .integer(let value): json.integer(.init(field.name), value)
      case .number(let value): json.number(.init(field.name), value)
      case .bool(let value): json.bool(.init(field.name), value)
      case .texts(let values): json.strings(.init(field.name), values)
      case .records(let records): json.objects(.init(field.name), records) { self.fields(&$0, $1) }
      case .described(let value, _): DeviceValueRecord.write(NamedValue(field.name, value), &json)
      }
    }
  }

  /// Returns one line, such as `iBeacon 1/2 e2c56db5-…`. Puts the parts that differ between devices first.
  static func line(_ data: DecodedData) -> String {
    func value(_ name: String) -> String { data[name].map(text) ?? "" }
    if let device = data.device { return described(data, by: device) }
    switch data.format {
    case "ibeacon": return "iBeacon \(value("major"))/\(value("minor")) \(value("uuid"))"
    case "altbeacon": return "AltBeacon \(value("id"))"
    case "eddystone_uid": return "Eddystone \(value("instance")) \(value("namespace"))"
    case "eddystone_url": return value("url")
    case "eddystone_eid": return "Eddystone EID \(value("eid"))"
    case "eddystone_tlm":
      let measured = [("battery_mv", "mV"), ("temperature_c", "°C")].filter { data[$0.0] != nil }.map { "\(value($0.0)) \($0.1)" }
      return (["Eddystone TLM"] + measured).joined(separator: " ")
    case "apple": return "Apple: \(value("types"))"
    case "microsoft": return ["Microsoft: \(value("types"))", value("device")].filter { !$0.isEmpty }.joined(separator: ", ")
    case "bthome":
      guard case .records(let objects)? = data["objects"] else {
        return "BTHome, encrypted" + (data.problem.map { ": \(sentence($0))" } ?? "")
      }
      var parts = objects.filter { $0.first?.value != .text("packet_id") }.map(object)
      // BTHome parsers stop at the first unknown or truncated object.
      if case .text(let rest)? = data["rest"] { parts.append("unknown: \(rest)") }
      return "BTHome " + (parts.isEmpty ? "without values" : parts.joined(separator: ", "))
    case "ruuvi", "inkbird", "fast_pair", "exposure_notification": return measured(data)
    default: return data.format
    }
  }

  /// Formats fields whose names end with their unit, such as `Ruuvi temperature 24.3 °C, humidity 53.5 %`. Omits numbers that only tell packets and sensors apart.
  private static func measured(_ data: DecodedData) -> String {
    let units = [
      "_c": "°C", "_percent": "%", "_hpa": "hPa", "_mv": "mV", "_mg": "mg", "_ppm": "ppm", "_ugm3": "µg/m³", "_lx": "lx", "tx_power": "dBm",
    ]
    let parts = data.fields.filter { !["data_format", "sequence", "mac_end"].contains($0.name) }.map { field in
      let unit = units.first { field.name.hasSuffix($0.key) }
      let name = unit.map { $0.key.hasPrefix("_") ? String(field.name.dropLast($0.key.count)) : field.name } ?? field.name
      let title = name.hasPrefix("pm") ? name.uppercased().replacing("_", with: ".") : name.replacing("_", with: " ")
      return "\(title) \(text(field.value))\(unit.map { " \($0.value)" } ?? "")"
    }
    let title = data.format.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
    return "\(title) " + (parts.isEmpty ? "without values" : parts.joined(separator: ", "))
  }

  /// Formats data that a device file describes, such as `Tracker: alarm 0, level 60 %`.
  private static func described(_ data: DecodedData, by device: String) -> String {
    if let problem = data.problem { return "\(device): \(sentence(problem))" }
    let parts = data.fields.map { "\($0.name) \(text($0.value))" }
    return parts.isEmpty ? device : "\(device): \(parts.joined(separator: ", "))"
  }

  /// Formats one BTHome object. Omits the name before a unit other than `%`, and the raw value if the object has a named state.
  private static func object(_ fields: [DecodedData.Field]) -> String {
    let hasState = fields.contains { $0.name == "state" }
    let texts = fields.filter { !($0.name == "arguments" || hasState && $0.name == "value") }.map { text($0.value) }.filter { !$0.isEmpty }
    return fields.last?.name == "unit" && fields.last?.value != .text("%")
      ? texts.dropFirst().joined(separator: " ") : texts.joined(separator: " ")
  }

  private static func text(_ value: DecodedData.Value) -> String {
    switch value {
    case .text(let text): text
    case .integer(let number): String(number)
    case .number(let number): number.description
    case .bool(let flag): flag ? "on" : "off"
    case .texts(let texts): texts.joined(separator: ", ")
    case .records(let records): records.map(object).joined(separator: ", ")
    case .described(let value, let unit): value.plainText + (unit.map { " \($0)" } ?? "")
    }
  }
}
