package import DeviceFiles

/// The peripherals of the adapter `sim`, in the format that `sim:FILE` takes.
package enum Presets {
  package static func peripherals() throws(FileEntryError) -> [PeripheralDescription] {
    try PeripheralFile.parse(Array(text.utf8), name: "sim")
  }

  package static let text = """
    [
      \(ShippedDevices.lock),
      \(ShippedDevices.band),
      \(panel)
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
}
