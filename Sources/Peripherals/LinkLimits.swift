package import Bluetooth

/// What the device's own controller and firmware can do, and how its links are.
package struct LinkLimits: Sendable, Equatable {
  /// Largest LL payload, 27…251.
  package var dataLength = 251
  package var phys: Set<PHY> = [.le1M, .le2M]
  /// LL data PDUs that its controller takes in one connection event; nil: as many as fit.
  package var packetsPerEvent: Int?
  /// How many connections Fail to be Established (0x3E) before the first that does not.
  package var failingConnections = 0
  /// Another course of chance, in its own links.
  package var seed = 0
  /// Probability that a data PDU is missed, 0…1.
  package var packetErrorRate = 0.0
  /// Left unused at the end of each connection event, µs.
  package var guardTime = 0
  /// T_IFS, µs.
  package var interFrameSpace = AirTime.interFrameSpace
  /// How long a connection event goes on with empty packets when nobody has data, µs.
  package var pollingTime = 0
  /// Data PDUs have a MIC, as on an encrypted link.
  package var isEncrypted = false
  /// What the coded PHY sends with, when the host does not say: S=2 instead of S=8.
  package var prefersS2 = false
  /// A link is cut, as by walking out of range, when it has carried so many LL payload octets, both directions together: the first `cuts` connections, or
  /// all of them.
  package var cutAfterOctets: Int?
  package var cuts: Int?
  /// LE ACL buffers of the central's controller in this air.
  package var controllerBuffers: Int?
  package var controllerBufferLength: Int?
  /// What the device asks for while a connection is under way.
  package var changes: [LinkChange] = []
  /// Nil: it takes everything at once.
  package var firmware: Firmware?

  package init() {}
}

/// Something that a device's link layer asks for by itself, and gets (Vol 6 Part B §5.1).
package struct LinkChange: Sendable, Equatable {
  package enum Moment: Sendable, Equatable {
    /// After the connection was made.
    case time(Duration)
    /// After so many LL payload octets, both directions together.
    case octets(Int)
  }

  package var moment: Moment
  /// What the device takes from then on, 27…251.
  package var dataLength: Int?
  package var phy: PHY?
  /// Valid ones.
  package var parameters: ConnectionParameters?
}
