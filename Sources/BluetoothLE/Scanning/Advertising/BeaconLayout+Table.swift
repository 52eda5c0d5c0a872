// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The layout of a beacon's data with fields of a fixed size.
struct BeaconLayout {
  /// The name of the format, such as `ruuvi`, and the bytes with which the data starts.
  let format: String
  let start: [UInt8]
  /// The length of the data in bytes.
  let length: Int
  var fields: [Field] = []

  struct Field {
    let name: String
    /// The places of the bits, the most significant first, as offset and count from the first bit of the data.
    let places: [(offset: Int, count: Int)]
    let type: Kind
    /// The offset of the raw number: the value is (raw + addend), multiplied and divided.
    let addend: Double
    let factor: Double
    let divisor: Double
    /// The bits that mean "not available".
    let missing: Set<UInt64>

    init?(_ words: [Substring]) {
      guard words.count == 6 else { return nil }
      name = String(words[0])
      places = words[1].split(separator: ",").compactMap { place in
        let numbers = place.split(separator: "+").compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
      }
      guard !places.isEmpty else { return nil }
      guard let type = Kind(rawValue: String(words[2])) else { return nil }
      self.type = type
      addend = Double(words[3]) ?? 0
      let scale = words[4].split(separator: "/").compactMap { Double($0) }
      (factor, divisor) = (scale.first ?? 1, scale.count == 2 ? scale[1] : 1)
      missing = Set(words[5].split(separator: ",").compactMap { UInt64($0, radix: 16) })
    }

    enum Kind: String {
      case hex, mac, uuid, flag, signed, degrees, ratio
      case unsigned = "u"
    }
  }

  /// The names that Inkbird's sensors without a company identifier advertise.
  static let inkbirdNames: Set<String> = ["sps", "tps"]

  /// The layouts by key: the company of manufacturer data, the UUID of service data, a name of Inkbird, or `beac` for AltBeacon. Parsed
  /// from `table` at first use.
  static let all: [String: [BeaconLayout]] = {
    var all: [String: [BeaconLayout]] = [:]
    var key = ""
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 4 {
        key = String(words[0])
        let start = words[2] == "-" ? [] : Hex.decode(String(words[2])) ?? []
        all[key, default: []].append(BeaconLayout(format: String(words[1]), start: start, length: Int(words[3]) ?? 0))
      } else if let field = Field(words), let last = all[key]?.indices.last {
        all[key]?[last].fields.append(field)
      }
    }
    return all
  }()

  /// A layout: key, format, first bytes, length in bytes. A field: name, bits (offset+count), type, addend, factor/divisor, values for
  /// "not available". The sources are Apple's Proximity Beacon Specification, AltBeacon 1.0, Google's Eddystone of 2016, docs.ruuvi.com
  /// (formats 3, 5, 6, E1), inkbird-ble, and Google's and Apple's Exposure Notification 1.2.
  private static let table = """
    004c ibeacon 0215 23
     uuid 16+128 uuid 0 1 -
     major 144+16 u 0 1 -
     minor 160+16 u 0 1 -
     tx_power 176+8 signed 0 1 -
    beac altbeacon beac 24
     id 16+160 hex 0 1 -
     tx_power 176+8 signed 0 1 -
     reserved 184+8 hex 0 1 -
    feaa eddystone_uid 00 18
     tx_power 8+8 signed 0 1 -
     namespace 16+80 hex 0 1 -
     instance 96+48 hex 0 1 -
    feaa eddystone_uid 00 20
     tx_power 8+8 signed 0 1 -
     namespace 16+80 hex 0 1 -
     instance 96+48 hex 0 1 -
    feaa eddystone_tlm 2000 14
     encrypted 15+1 flag 0 1 -
     battery_mv 16+16 u 0 1 0
     temperature_c 32+16 signed 0 1/256 8000
     advertisements 48+32 u 0 1 -
     uptime_s 80+32 u 0 1/10 -
    feaa eddystone_tlm 2001 18
     encrypted 15+1 flag 0 1 -
    feaa eddystone_eid 30 10
     tx_power 8+8 signed 0 1 -
     eid 16+64 hex 0 1 -
    0499 ruuvi 03 14
     data_format 0+8 u 0 1 -
     humidity_percent 8+8 u 0 1/2 -
     temperature_c 16+16 degrees 0 1 -
     pressure_hpa 32+16 u 50000 1/100 -
     acceleration_x_mg 48+16 signed 0 1 -
     acceleration_y_mg 64+16 signed 0 1 -
     acceleration_z_mg 80+16 signed 0 1 -
     battery_mv 96+16 u 0 1 -
    0499 ruuvi 05 24
     data_format 0+8 u 0 1 -
     temperature_c 8+16 signed 0 5/1000 8000
     humidity_percent 24+16 u 0 25/10000 ffff
     pressure_hpa 40+16 u 50000 1/100 ffff
     acceleration_x_mg 56+16 signed 0 1 8000
     acceleration_y_mg 72+16 signed 0 1 8000
     acceleration_z_mg 88+16 signed 0 1 8000
     battery_mv 104+11 u 1600 1 7ff
     tx_power 115+5 u -20 2 1f
     movements 120+8 u 0 1 ff
     sequence 128+16 u 0 1 ffff
     mac 144+48 mac 0 1 -
    0499 ruuvi 06 20
     data_format 0+8 u 0 1 -
     temperature_c 8+16 signed 0 5/1000 8000
     humidity_percent 24+16 u 0 25/10000 ffff
     pressure_hpa 40+16 u 50000 1/100 ffff
     pm2_5_ugm3 56+16 u 0 1/10 ffff
     co2_ppm 72+16 u 0 1 ffff
     voc_index 88+8,129+1 u 0 1 1ff
     nox_index 96+8,128+1 u 0 1 1ff
     luminosity_lx 104+8 ratio 0 1 ff
     sequence 120+8 u 0 1 -
     calibrating 135+1 flag 0 1 -
     mac_end 136+24 hex 0 1 -
    0499 ruuvi e1 40
     data_format 0+8 hex 0 1 -
     temperature_c 8+16 signed 0 5/1000 8000
     humidity_percent 24+16 u 0 25/10000 ffff
     pressure_hpa 40+16 u 50000 1/100 ffff
     pm1_ugm3 56+16 u 0 1/10 ffff
     pm2_5_ugm3 72+16 u 0 1/10 ffff
     pm4_ugm3 88+16 u 0 1/10 ffff
     pm10_ugm3 104+16 u 0 1/10 ffff
     co2_ppm 120+16 u 0 1 ffff
     voc_index 136+8,225+1 u 0 1 1ff
     nox_index 144+8,224+1 u 0 1 1ff
     luminosity_lx 152+24 u 0 1/100 ffffff
     sequence 200+24 u 0 1 ffffff
     calibrating 231+1 flag 0 1 -
     mac 272+48 mac 0 1 -
    sps inkbird - 9
     temperature_c 8+8,0+8 signed 0 1/100 -
     humidity_percent 24+8,16+8 u 0 1/100 -
     battery_percent 56+8 u 0 1 -
    tps inkbird - 9
     temperature_c 8+8,0+8 signed 0 1/100 -
     humidity_percent 24+8,16+8 u 0 1/100 0,ffff
     battery_percent 56+8 u 0 1 -
    fd6f exposure_notification - 20
     rolling_proximity_identifier 0+128 hex 0 1 -
     encrypted_metadata 128+32 hex 0 1 -
    """
}
