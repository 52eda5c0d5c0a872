import BluetoothLESimulator
import TestSupport

/// Arguments that cannot mean anything.
@Suite(.timeLimit(.minutes(15))) struct ArgumentTests {
  @Test(arguments: ["", "mac:12", "service:", "name:"]) func aNameThatMatchesNothing(_ text: String) async throws {
    let (adapter, _) = try await opened()
    #expect(await reason { _ = try await adapter.find(text, within: .milliseconds(1)) } == .invalidArgument)
  }

  @Test func parametersOutOfRange() async throws {
    let (adapter, device) = try await opened()
    var (slow, short) = (ConnectionOptions(), ConnectionOptions())
    (slow.interval, short.dataLength) = (.seconds(5), 26)
    for options in [slow, short] {
      #expect(await reason { try await adapter.withConnection(to: device, options) { _ in } } == .invalidArgument)
    }
  }

  /// Indications are a wish, and this characteristic has only notifications.
  @Test func indicationsOfACharacteristicWithoutThem() async throws {
    let (adapter, device) = try await opened()
    let value = try await adapter.withConnection(to: device) { device in
      try await device.characteristic("ff02").notifications(indications: true).first { _ in true }
    }
    #expect(value?.isIndication == false && value?.bytes == [1])
  }

  @Test func theErrorOfMixedClocksTellsTheWayOut() async throws {
    _ = try await opened()
    await #expect { try await Adapter.open(.h4("tcp:127.0.0.1:1")) } throws: { "\($0)".contains("isVirtual: false") }
  }
}
