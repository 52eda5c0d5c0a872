// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

extension BTHome {
  enum Kind: Equatable {
    case number(bytes: Int, isSigned: Bool)
    /// A Boolean of one byte, 0 or 1.
    case bool
    /// A one-byte position in `Object.states`, from 0.
    case level
    case time
    case text
    case raw
    /// A version with one byte per part, the last part first.
    case version(bytes: Int)
    case button
    case command
    case dimmer
  }

  /// The meaning of an object identifier.
  struct Object {
    let kind: Kind
    /// The integer numerator of a number's factor. `divisor` is the denominator.
    let factor: Int
    let divisor: Double
    /// The names of the values, indexed by value from 0. Empty if the values have no names.
    let states: [String]
    let name: String
    let unit: String?

    init?(_ words: [Substring]) {
      guard words.count == 4, let kind = Self.kind(words[0]) else { return nil }
      self.kind = kind
      let parts = words[1].split(separator: ".")
      factor = Int(parts.joined()) ?? 1
      divisor = (0..<(parts.count == 2 ? parts[1].count : 0)).reduce(1) { value, _ in value * 10 }
      states = words[1].split(separator: "/").map(String.init)
      name = String(words[2])
      unit = words[3] == "-" ? nil : String(words[3])
    }

    private static func kind(_ word: Substring) -> Kind? {
      switch word {
      case "bool": .bool
      case "level": .level
      case "time": .time
      case "text": .text
      case "raw": .raw
      case "version3": .version(bytes: 3)
      case "version4": .version(bytes: 4)
      case "button": .button
      case "command": .command
      case "dimmer": .dimmer
      default: Int(word.dropFirst()).map { .number(bytes: $0, isSigned: word.first == "s") }
      }
    }
  }

  /// The known objects by object identifier, parsed from `table` at first use.
  static let objects: [UInt8: Object] = table.split(separator: "\n").reduce(into: [:]) { objects, line in
    let words = line.split(separator: " ")
    if let id = words.first.flatMap({ Hex.number($0) }), let object = Object(Array(words.dropFirst())) {
      objects[UInt8(truncatingIfNeeded: id)] = object
    }
  }

  /// The table of bthome.io/format as of 30 April 2026: identifier, type with size in bytes, factor or value meanings, property, unit.
  private static let table = """
    00 u1 1 packet_id -
    01 u1 1 battery %
    02 s2 0.01 temperature °C
    03 u2 0.01 humidity %
    04 u3 0.01 pressure hPa
    05 u3 0.01 illuminance lx
    06 u2 0.01 mass kg
    07 u2 0.01 mass lb
    08 s2 0.01 dewpoint °C
    09 u1 1 count -
    0a u3 0.001 energy kWh
    0b u3 0.01 power W
    0c u2 0.001 voltage V
    0d u2 1 pm2_5 µg/m³
    0e u2 1 pm10 µg/m³
    0f bool off/on generic_boolean -
    10 bool off/on power -
    11 bool closed/open opening -
    12 u2 1 co2 ppm
    13 u2 1 tvoc µg/m³
    14 u2 0.01 moisture %
    15 bool normal/low battery -
    16 bool not_charging/charging battery_charging -
    17 bool not_detected/detected carbon_monoxide -
    18 bool normal/cold cold -
    19 bool disconnected/connected connectivity -
    1a bool closed/open door -
    1b bool closed/open garage_door -
    1c bool clear/detected gas -
    1d bool normal/hot heat -
    1e bool no_light/light_detected light -
    1f bool locked/unlocked lock -
    20 bool dry/wet moisture -
    21 bool clear/detected motion -
    22 bool not_moving/moving moving -
    23 bool clear/detected occupancy -
    24 bool unplugged/plugged_in plug -
    25 bool away/home presence -
    26 bool ok/problem problem -
    27 bool not_running/running running -
    28 bool unsafe/safe safety -
    29 bool clear/detected smoke -
    2a bool clear/detected sound -
    2b bool off/on tamper -
    2c bool clear/detected vibration -
    2d bool closed/open window -
    2e u1 1 humidity %
    2f u1 1 moisture %
    3a button - button -
    3b command - command -
    3c dimmer - dimmer -
    3d u2 1 count -
    3e u4 1 count -
    3f s2 0.1 rotation °
    40 u2 1 distance mm
    41 u2 0.1 distance m
    42 u3 0.001 duration s
    43 u2 0.001 current A
    44 u2 0.01 speed m/s
    45 s2 0.1 temperature °C
    46 u1 0.1 uv_index -
    47 u2 0.1 volume L
    48 u2 1 volume mL
    49 u2 0.001 volume_flow_rate m³/h
    4a u2 0.1 voltage V
    4b u3 0.001 gas m³
    4c u4 0.001 gas m³
    4d u4 0.001 energy kWh
    4e u4 0.001 volume L
    4f u4 0.001 water L
    50 time - timestamp -
    51 u2 0.001 acceleration m/s²
    52 u2 0.001 gyroscope °/s
    53 text - text -
    54 raw - raw -
    55 u4 0.001 volume_storage L
    56 u2 1 conductivity µS/cm
    57 s1 1 temperature °C
    58 s1 0.35 temperature °C
    59 s1 1 count -
    5a s2 1 count -
    5b s4 1 count -
    5c s4 0.01 power W
    5d s2 0.001 current A
    5e u2 0.01 direction °
    5f u2 0.1 precipitation mm
    60 u1 1 channel -
    61 u2 1 rotational_speed rpm
    62 s4 0.000001 speed m/s
    63 s4 0.000001 acceleration m/s²
    64 level dark/twilight/bright light_level -
    65 u1 1 settings_revision -
    f0 u2 1 device_type_id -
    f1 version4 - firmware_version -
    f2 version3 - firmware_version -
    """
}
