import Bluetooth

/// The peripherals of the adapter `sim`, in the format that `sim:FILE` takes.
package enum Presets {
  package static func peripherals() throws(PeripheralFileError) -> [PeripheralDescription] {
    try PeripheralFile.parse(Array(text.utf8), name: "sim")
  }

  package static let text = """
    [
      \(lock(address: "D1:00:00:00:00:01", mac: "22110038c1a4", rssi: -58)),
      \(lock(address: "D1:00:00:00:00:02", mac: "33110038c1a4", rssi: -71)),
      \(band),
      \(panel)
    ]

    """

  /// Two door locks have this name; only the MAC in the manufacturer data (its last six octets, reversed) tells them apart.
  private static func lock(address: String, mac: String, rssi: Int) -> String {
    """
    {
        "name": "GateLock",
        "address": "\(address)/random",
        "rssi": \(rssi),
        "advertisement": {"flags": 6, "name": "GateLock", "services": ["ffe0"], "manufacturer_data": {"0305": "0101 \(mac)"}},
        "mtu": 23,
        "data_length": 27,
        "phys": ["1m"],
        "services": [
          {
            "uuid": "ffe0",
            "characteristics": [
              {
                "uuid": "ffe1",
                "properties": ["write_without_response"],
                "max_length": 20,
                // The code is 104 octets, whose sum modulo 256 is 0. It is complete when that many have arrived, or after a pause.
                "collect": {"octets": 104, "pause_ms": 2000},
                "reactions": [
                  {"length": 104, "sum8": 0, "then": [{"notify": "ffe2", "value": {"utf8": "OPEN"}, "after_ms": 40}]},
                  {"then": [{"notify": "ffe2", "value": {"utf8": "FAIL"}, "after_ms": 40}]}
                ]
              },
              {"uuid": "ffe2", "properties": ["read", "notify"], "value": {"utf8": "SHUT"}}
            ]
          }
        ]
      }
    """
  }

  private static let band = """
    {
        "name": "Band-7",
        "address": "C0:FF:EE:00:00:07/public",
        "appearance": 192, // generic watch
        "rssi": -64,
        "advertisement": {
          "flags": 6,
          // 24 octets, the MAC in the last six.
          "manufacturer_data": {"0157": "020a0700 ffffffffffffffffffffffffff 03 c0ffee000007"}
        },
        "scan_response": {"name": "Band-7", "services": ["180d", "fee0"]},
        "mtu": 185,
        "services": [
          {
            "uuid": "180a",
            "characteristics": [
              {"uuid": "2a29", "properties": ["read"], "value": {"utf8": "Simulated Bands"}},
              {"uuid": "2a23", "properties": ["read"], "value": "070000 feff eeffc0"}
            ]
          },
          {
            "uuid": "180f",
            "characteristics": [{"uuid": "2a19", "properties": ["read", "notify"], "value": {"u8": 60}}]
          },
          {
            "uuid": "180d",
            "characteristics": [
              {
                "uuid": "2a37",
                "properties": ["notify"],
                "periodic": {"every_ms": 1000, "values": ["0048", "004a", "0049", "004c", "004b"]}
              }
            ]
          },
          {
            "uuid": "fee0",
            "characteristics": [
              {"uuid": "ff01", "properties": ["notify"]},
              {
                "uuid": "ff02",
                "properties": ["write_without_response"],
                "reactions": [
                  {
                    "when": "1b9901", // battery
                    "then": [{"notify": "ff01", "value": ["567b", {"value_of": "2a19"}, {"checksum": "sum8"}], "after_ms": 20}]
                  },
                  {
                    "when": "1b9902", // steps of the last six days: of three packets, the first, the second, the third
                    "then": [
                      {"notify": "ff01", "value": ["567c0301", {"u16le": [5120, 7310]}, {"checksum": "sum8"}], "after_ms": 20},
                      {"notify": "ff01", "value": ["567c0302", {"u16le": [10411, 4096]}, {"checksum": "sum8"}], "after_ms": 30},
                      {"notify": "ff01", "value": ["567c0303", {"u16le": [9027, 12650]}, {"checksum": "sum8"}], "after_ms": 30}
                    ]
                  }
                ]
              }
            ]
          }
        ]
      }
    """

  private static let panel = """
    {
        "name": "Panel",
        "address": "D1:00:00:00:00:10/random",
        "rssi": -47,
        "advertisement": {"flags": 6, "name": "Panel", "services": ["fff0"], "tx_power": 4},
        "mtu": 247,
        "data_length": 251,
        "phys": ["1m", "2m"],
        "services": [
          {
            "uuid": "fff0",
            "characteristics": [
              // Swallows the picture; fff7 tells how much of it arrived.
              {
                "uuid": "fff6",
                "properties": ["write", "write_without_response"],
                "descriptors": [{"uuid": "2901", "value": {"utf8": "Picture"}}],
                "sink": {"report": "fff7", "pause_ms": 100}
              },
              {"uuid": "fff7", "properties": ["read", "notify"], "descriptors": [{"uuid": "2901", "value": {"utf8": "Received"}}]},
              {"uuid": "fff8", "properties": ["write"], "reactions": [{"when": "00", "then": [{"reset": "fff6"}]}]}
            ]
          }
        ]
      }
    """
}
