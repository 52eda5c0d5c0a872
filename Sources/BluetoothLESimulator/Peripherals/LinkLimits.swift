// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The abilities of the device's controller and firmware, and the quality of its links.
package struct LinkLimits: Sendable, Equatable {
  /// The maximum LL payload of the device, 27–251 bytes.
  package var dataLength = 251
  package var phys: Set<PHY> = [.le1M, .le2M]
  /// The number of LL data PDUs that the device's controller receives in one connection event. Nil means as many as fit.
  package var packetsPerEvent: Int?
  /// The number of connections that end with Connection Failed to be Established (0x3E) before a connection succeeds.
  package var failingConnections = 0
  /// The seed of the random numbers of the device's links.
  package var seed = 0
  /// The probability of losing a data PDU, 0–1.
  package var packetErrorRate = 0.0
  /// The unused time at the end of each connection event, in µs.
  package var guardTime = 0
  /// The inter-frame space (T_IFS) in µs.
  package var interFrameSpace = AirTime.interFrameSpace
  /// The time in µs for which a connection event continues with empty packets after the last data.
  package var pollingTime = 0
  /// Whether data PDUs have a MIC, as on an encrypted link.
  package var isEncrypted = false
  /// Whether the coded PHY uses S=2 instead of S=8 if the host has no preference.
  package var prefersS2 = false
  /// The number of LL payload bytes, in both directions together, after which a link loses radio contact. Nil means never.
  /// The limit applies to the first `cuts` connections, or to all connections if `cuts` is nil.
  package var cutAfterBytes: Int?
  package var cuts: Int?
  /// The maximum number of LE ACL buffers in the central's controller, each of `controllerBufferLength` bytes. Nil means no limit.
  package var controllerBuffers: Int?
  package var controllerBufferLength: Int?
  /// The changes that the device requests during a connection.
  package var changes: [LinkChange] = []
  /// The model of the device's firmware. Nil means that the device processes each PDU immediately.
  package var firmware: Firmware?

  package init() {}
}

/// A change of a connection that the device's link layer requests and the central accepts (Vol 6 Part B §5.1).
package struct LinkChange: Sendable, Equatable {
  package enum Moment: Sendable, Equatable {
    /// The time since the start of the connection.
    case time(Duration)
    /// The number of LL payload bytes that the link has carried in both directions together.
    case bytes(Int)
  }

  package var moment: Moment
  /// The new maximum LL payload of the device, 27–251 bytes. Nil means no change.
  package var dataLength: Int?
  package var phy: PHY?
  /// The new connection parameters, which are valid. Nil means no change.
  package var parameters: ConnectionParameters?
}
