// Updates the firmware of a sensor, and proves that it runs: update
import BluetoothLESimulator

// An image of version 2.0.0 for MCUboot, with 16 bytes of code, as imgtool writes it. Yours is in a file.
let image = """
  :200000003DB8F3960000000020000000100000000000000002000000000000000000000030
  :20002000626C6563746C206578616D706C6521200769280010002000A782F4CA83942E19F0
  :18004000A48FD04D13F89DC952AE437DC1EF2AA6CC590D4076CCF608F5
  :00000001FF
  """
let devices = #"""
  {"name": "Sensor", "address": "D1:00:00:00:00:51/random", "advertisement": {"name": "Sensor"}, "update": {"mcumgr": {}}}
  """#
let adapter = try await Adapter.open(Simulator(devices).adapter)
let sensor = try await adapter.find("Sensor")
do {
  for try await event in adapter.updateFirmware(of: sensor, with: Array(image.utf8)) {
    switch event {
    case .began(let step): print(step)
    case .progress(_, let confirmed, let total): print(confirmed, "of", total, "bytes")
    case .finished(let outcome): print("from", outcome.versionBefore ?? "unknown", "to", outcome.versionAfter ?? "unknown")
    default: print(event)
    }
  }
} catch let error as BluetoothError { print(error.reason, error) }
