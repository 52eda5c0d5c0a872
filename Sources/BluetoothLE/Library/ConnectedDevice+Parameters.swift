// SPDX-License-Identifier: Apache-2.0
extension ConnectedDevice {
  /// The value that was asked for, and the one that the other side granted.
  public struct Agreement<Value: Sendable>: Sendable {
    /// The value that the request named.
    public let asked: Value
    /// The value in effect. Nil if the adapter does not tell.
    public let granted: Value?
  }

  /// The parameters of the link in effect. Those that the adapter does not tell are nil.
  public struct Parameters: Sendable {
    /// The connection interval, 7.5 ms…4 s (Vol 6 Part B §4.5.1).
    public let interval: Duration?
    /// The number of connection events that the device may skip, 0…499.
    public let latency: Int?
    /// The time without a packet after which the link is lost, 100 ms…32 s (Vol 6 Part B §4.5.2).
    public let supervisionTimeout: Duration?
    /// The PHY of our packets.
    public let phy: PHY?
    /// The largest payload of our link-layer packets, 27…251 bytes.
    public let dataLength: Int?
    /// The strength of the signal in dBm, −127…20.
    public let rssi: Int?
    /// The security of the link.
    public let security: SecurityLevel
  }

  /// Returns the parameters in effect.
  /// - Throws: ``BluetoothError``, CancellationError.
  public func parameters() async throws -> Parameters {
    try await call {
      let link = try await $0.link.parameters()
      return Parameters(
        interval: link.interval, latency: link.latency, supervisionTimeout: link.supervisionTimeout, phy: link.phy,
        dataLength: link.maxTxOctets, rssi: link.rssi.map(Int.init), security: $0.security?.level?.level ?? .unencrypted)
    }
  }

  /// Asks for a connection interval (Vol 6 Part B §5.1.1).
  /// - Parameter interval: The interval, 7.5 ms…4 s.
  /// - Throws: ``BluetoothError/Reason/invalidArgument`` out of range, ``BluetoothError/Reason/unsupported`` if the device or the adapter
  ///   does not agree, ``BluetoothError/Reason/timeout``, and the reasons of a lost link; CancellationError.
  public func request(interval: Duration) async throws -> Agreement<Duration> {
    try await call { Agreement(asked: interval, granted: try await $0.link.requestInterval(interval).interval) }
  }

  /// Asks for a PHY in both directions (Vol 6 Part B §5.1.10).
  /// - Throws: ``BluetoothError/Reason/unsupported`` if the device or the adapter does not agree, ``BluetoothError/Reason/timeout``, and
  ///   the reasons of a lost link; CancellationError.
  public func request(phy: PHY) async throws -> Agreement<PHY> {
    try await call { Agreement(asked: phy, granted: try await $0.link.requestPHY(phy).phy) }
  }

  /// Asks for a payload of link-layer packets (Vol 6 Part B §5.1.9).
  /// - Parameter dataLength: The payload, 27…251 bytes.
  /// - Throws: ``BluetoothError/Reason/invalidArgument`` out of range, ``BluetoothError/Reason/unsupported`` if the adapter cannot change
  ///   it, and the reasons of a lost link; CancellationError.
  public func request(dataLength: Int) async throws -> Agreement<Int> {
    try await call { Agreement(asked: dataLength, granted: try await $0.link.requestDataLength(dataLength).maxTxOctets) }
  }
}
