import TestSupport

@testable import BluetoothLE
@testable import Presentation

/// Beacons with fields at fixed places. The frames of Ruuvi are the test vectors of docs.ruuvi.com. `ForeignBeaconTests` compares more frames
/// with other decoders.
@Suite(.timeLimit(.minutes(15))) struct BeaconLayoutTests {
  private func line(_ data: DecodedData?) -> String { data.map { AdvertisedText.line($0) } ?? "nil" }

  @Test(
    arguments: [
      (
        0x0499, "0512fc5394c37c0004fffc040cac364200cdcbb8334c884f",
        "Ruuvi temperature 24.3 °C, humidity 53.49 %, pressure 1000.44 hPa, acceleration x 4 mg, acceleration y -4 mg, acceleration z 1036 mg, "
          + "battery 2977 mV, tx power 4 dBm, movements 66, mac CB:B8:33:4C:88:4F"
      ),
      (
        0x0499, "058001000000008001800180010000000000cbb8334c884f",
        "Ruuvi temperature -163.835 °C, humidity 0.0 %, pressure 500.0 hPa, acceleration x -32767 mg, acceleration y -32767 mg, "
          + "acceleration z -32767 mg, battery 1600 mV, tx power -40 dBm, movements 0, mac CB:B8:33:4C:88:4F"
      ),
      (0x0499, "058000ffffffff800080008000ffffffffffffffffffffff", "Ruuvi without values"),
      (
        0x0499, "03291a1ece1efc18f94202ca0b53",
        "Ruuvi humidity 20.5 %, temperature 26.3 °C, pressure 1027.66 hPa, acceleration x -1000 mg, acceleration y -1726 mg, "
          + "acceleration z 714 mg, battery 2899 mV"
      ),
      (
        0x0499, "06170c5668c79e007000c90501d940cd004c884f",
        "Ruuvi temperature 29.5 °C, humidity 55.3 %, pressure 1011.02 hPa, PM2.5 11.2 µg/m³, co2 201 ppm, voc index 10, nox index 2, "
          + "luminosity 13026.67 lx, calibrating off"
      ),
      (0x0499, "0512fc", "nil"), (0x0499, "", "nil"),
    ] as [(UInt16, String, String)])
  func ruuvi(_ company: UInt16, _ hex: String, _ wanted: String) {
    #expect(line(DecodedData.manufacturer(company, Hex.decode(hex) ?? [])) == wanted)
  }

  /// Inkbird's data has no company. Only the name tells the sensor.
  @Test(
    arguments: [
      ("sps", 0x0835, "d61200b1cb6408", "Inkbird temperature 21.01 °C, humidity 48.22 %, battery 100 %"),
      // Temperatures that are the numbers of companies with beacons.
      ("sps", 0x0499, "d61200b1cb6408", "Inkbird temperature 11.77 °C, humidity 48.22 %, battery 100 %"),
      ("sps", 0x004C, "d61200b1cb6408", "Inkbird temperature 0.76 °C, humidity 48.22 %, battery 100 %"),
      ("sps", 0x0006, "d61200b1cb6408", "Inkbird temperature 0.06 °C, humidity 48.22 %, battery 100 %"),
      ("tps", 0xFF9C, "000000000050 08", "Inkbird temperature -1.0 °C, battery 80 %"), ("sps", 0x0835, "ffff00b1cb6408", "nil"),
      ("sps", 0x0835, "d61200b1cbff08", "nil"), ("other", 0x0835, "d61200b1cb6408", "nil"), (nil, 0x0835, "d61200b1cb6408", "nil"),
      ("sps", 0x0835, "d61200b1cb64", "nil"),
    ] as [(String?, UInt16, String, String)])
  func inkbird(_ name: String?, _ company: UInt16, _ hex: String, _ wanted: String) {
    #expect(line(DecodedData.manufacturer(company, Hex.decode(hex.replacing(" ", with: "")) ?? [], name: name)) == wanted)
  }

  /// Google's formats: Fast Pair for a device in pairing mode and for another, and Exposure Notification.
  @Test(
    arguments: [
      (0xFE2C, "aabbcc", "Fast Pair model id aabbcc"),
      (
        0xFE2C, "00400a42886011c733e4407f",
        "Fast Pair account key filter 0a428860, shows ui on, salt c7, battery 100 % charging, 64 %, unknown"
      ),
      (0xFE2C, "0042aabbccdd21c7c8", "Fast Pair account key filter aabbccdd, shows ui off, salt c7c8"),
      (0xFE2C, "0042aabbccdd21c7c8c9", "nil"), (0xFE2C, "00", "nil"), (0xFE2C, "", "nil"),
      (0xFE2C, "10400a4288", "nil"),
      (
        0xFD6F, "000102030405060708090a0b0c0d0e0f40080000",
        "Exposure Notification rolling proximity identifier 000102030405060708090a0b0c0d0e0f, encrypted metadata 40080000"
      ), (0xFD6F, "0001", "nil"),
    ] as [(UInt32, String, String)])
  func google(_ uuid: UInt32, _ hex: String, _ wanted: String) {
    #expect(line(DecodedData.service(UUID(uuid), Hex.decode(hex) ?? [])) == wanted, "\(hex)")
  }

  /// Every layout of the table stays within its data.
  @Test func layoutsFit() {
    let layouts = BeaconLayout.all.values.joined()
    #expect(layouts.count == 14)
    for layout in layouts {
      #expect(layout.fields.allSatisfy { field in field.places.allSatisfy { $0.count > 0 && $0.offset + $0.count <= layout.length * 8 } })
      for fill: UInt8 in [0, 0x7F, 0x80, 0xFF] {
        let data = layout.start + [UInt8](repeating: fill, count: layout.length - layout.start.count)
        for key in BeaconLayout.all.keys { _ = BeaconLayout.decode(key, data) }
      }
    }
  }
}
