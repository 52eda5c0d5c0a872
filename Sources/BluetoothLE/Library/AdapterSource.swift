// SPDX-License-Identifier: Apache-2.0
/// A way to a Bluetooth adapter, which ``Adapter/open(_:keys:)`` uses.
///
/// `BluetoothLE` itself has controllers on streams: ``h4(_:)``. `BluetoothLELinux` adds the adapters of the machine, `.default`, `.hci(0)`
/// and `.userChannel(0)`. A `Simulator` of `BluetoothLESimulator` has one, too: `Simulator.preset.adapter`.
public struct AdapterSource: Sendable, CustomStringConvertible {
  /// The adapter in messages, such as `tcp:127.0.0.1:9000`.
  public let description: String
  /// Whether the adapter lives in virtual time.
  package let isVirtual: Bool
  /// Opens the adapter. The keys are those of the caller, for hosts that need them from the start.
  package let open: @LoopActor @Sendable (any BondKeeper) async throws -> any Central

  package init(
    _ description: String, isVirtual: Bool = false, open: @escaping @LoopActor @Sendable (any BondKeeper) async throws -> any Central
  ) {
    (self.description, self.isVirtual, self.open) = (description, isVirtual, open)
  }

  /// Returns a controller that speaks H4 (Vol 4 Part A) on a stream.
  /// - Parameter address: The address: `tcp:HOST:PORT`, `unix:PATH` or `serial:PATH[@BAUD]`. ``Adapter/open(_:keys:)`` throws
  ///   ``BluetoothError/Reason/invalidArgument`` for another text.
  public static func h4(_ address: String) -> AdapterSource {
    AdapterSource(address) { _ in
      let transport = try await StreamTransport.connect(to: try TransportAddress(address), timeout: TimeLimits.stream)
      return try await HostCentral.started(transport, name: address)
    }
  }
}

extension HostCentral {
  /// Starts our own host on a transport, and closes it after an error.
  /// - Throws: The errors of `start`.
  package static func started(_ transport: any Transport, name: String, tap: (any Tap)? = nil, staticAddress: Address? = nil) async throws
    -> HostCentral
  {
    let central = HostCentral(transport, name: name, tap: tap, staticAddress: staticAddress)
    do {
      try await central.start()
      return central
    } catch {
      await shielded { await central.close() }
      throw error
    }
  }
}
