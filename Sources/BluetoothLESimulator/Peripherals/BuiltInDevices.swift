// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLEDeviceFiles

/// The built-in devices of the simulator (adapter `sim`), in the format that `sim:FILE` takes.
package enum BuiltInDevices {
  package static func peripherals() throws(FileEntryError) -> [PeripheralDescription] {
    try PeripheralFile.parse(Array(text.utf8), name: "sim")
  }

  package static let text = """
    [
      \(ShippedDeviceFiles.lock),
      \(ShippedDeviceFiles.band),
      \(panel),
      \(safe)
    ]

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

  private static let safe = """
    {
        "name": "SafeLock",
        "address": "D1:00:00:00:00:50/random",
        "rssi": -66,
        "advertisement": {"flags": 6, "name": "SafeLock", "services": ["ff50"]},
        "mtu": 185,
        // Displays its passkey, which never changes. Real ones should display a new one each time.
        "security": {"io": "display", "passkey": "246810"},
        "services": [
          {
            "uuid": "ff50",
            "characteristics": [
              {
                "uuid": "ff51",
                "properties": ["read", "notify"],
                "permissions": ["read_authenticated"],
                "value": {"utf8": "locked"},
                "descriptors": [{"uuid": "2901", "value": {"utf8": "State"}}]
              },
              {
                "uuid": "ff52",
                "properties": ["write"],
                "permissions": ["write_authenticated"],
                "descriptors": [{"uuid": "2901", "value": {"utf8": "Command"}}],
                "reactions": [
                  {"when": "01", "then": [{"set": "ff51", "value": {"utf8": "open"}}, {"notify": "ff51"}]},
                  {"when": "00", "then": [{"set": "ff51", "value": {"utf8": "locked"}}, {"notify": "ff51"}]}
                ]
              }
            ]
          }
        ]
      }
    """
}
