import BluetoothLESimulator
import Testing

/// Arguments of the public library that cannot mean anything.
@Suite(.timeLimit(.minutes(15))) struct LibraryArgumentTests {
  /// In real time, because all tests of a process share one clock.
  private static func adapter() async throws -> Adapter {
    let simulator = try Simulator(
      """
      {
        "name": "Meter",
        "address": "D1:00:00:00:00:01/random",
        "advertisement": {"name": "Meter"},
        "services": [{"uuid": "ff00", "characteristics": [
          {"uuid": "ff01", "properties": ["notify"], "periodic": {"every_ms": 20, "values": ["01"]}}
        ]}]
      }
      """, isVirtual: false)
    return try await Adapter.open(simulator.adapter)
  }

  private static let meter = Peripheral(address: "D1:00:00:00:00:01", isRandom: true)

  @Test(arguments: ["", "mac:12", "service:", "name:"]) func aNameThatMatchesNothing(_ text: String) async throws {
    let adapter = try await Self.adapter()
    await #expect { try await adapter.find(text, within: .milliseconds(1)) } throws: {
      ($0 as? BluetoothError)?.reason == .invalidArgument
    }
  }

  @Test func parametersOutOfRange() async throws {
    let (adapter, meter) = (try await Self.adapter(), try #require(Self.meter))
    var (slow, short) = (ConnectionOptions(), ConnectionOptions())
    (slow.interval, short.dataLength) = (.seconds(5), 26)
    for options in [slow, short] {
      await #expect { try await adapter.withConnection(to: meter, options) { _ in } } throws: {
        ($0 as? BluetoothError)?.reason == .invalidArgument
      }
    }
  }

  /// Indications are a wish, and this characteristic has only notifications.
  @Test func indicationsOfACharacteristicWithoutThem() async throws {
    let (adapter, meter) = (try await Self.adapter(), try #require(Self.meter))
    let value = try await adapter.withConnection(to: meter) { meter in
      try await meter.characteristic("ff01").notifications(indications: true).first { _ in true }
    }
    #expect(value?.isIndication == false)
    #expect(value?.bytes == [1])
  }

  @Test func theErrorOfMixedClocksTellsTheWayOut() async throws {
    let adapter = try await Self.adapter()
    await #expect { try await Adapter.open(Simulator.preset.adapter) } throws: {
      ($0 as? BluetoothError)?.reason == .clock && "\($0)".contains("isVirtual: false")
    }
    await adapter.close()
  }
}
