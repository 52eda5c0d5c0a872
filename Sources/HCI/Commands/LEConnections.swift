package import Bluetooth

// Vol 4 Part E §7.8: making connections and changing their parameters.

extension ConnectionParameters {
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.init(
      intervalMin: try reader.uint16("minimum connection interval"), intervalMax: try reader.uint16("maximum connection interval"),
      latency: try reader.uint16("latency"), supervisionTimeout: try reader.uint16("supervision timeout"),
      minCELength: try reader.uint16("minimum connection event length"),
      maxCELength: try reader.uint16("maximum connection event length"))
  }

  func encode(into writer: inout ByteWriter) {
    for value in [intervalMin, intervalMax, latency, supervisionTimeout, minCELength, maxCELength] { writer.uint16(value) }
  }
}

/// §7.8.12.
package struct LECreateConnection: Command {
  package static let opcode = Opcode(0x200D, "LE Create Connection", bit: (26, 4))
  package typealias Return = AnsweredByStatus

  /// 0.625 ms units.
  package var scanInterval: UInt16
  package var scanWindow: UInt16
  /// 0: `peer`; 1: the filter accept list.
  package var filterPolicy: UInt8
  package var peer: PeerAddress
  package var ownAddressType: UInt8
  package var parameters: ConnectionParameters

  package init(
    scanInterval: UInt16, scanWindow: UInt16, filterPolicy: UInt8 = 0, peer: PeerAddress, ownAddressType: UInt8,
    parameters: ConnectionParameters
  ) {
    self.scanInterval = scanInterval
    self.scanWindow = scanWindow
    self.filterPolicy = filterPolicy
    self.peer = peer
    self.ownAddressType = ownAddressType
    self.parameters = parameters
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    scanInterval = try reader.uint16("scan interval")
    scanWindow = try reader.uint16("scan window")
    filterPolicy = try reader.uint8("filter policy")
    peer = try reader.peerAddress()
    ownAddressType = try reader.uint8("own address type")
    parameters = try ConnectionParameters(parsing: &reader)
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(scanInterval)
    writer.uint16(scanWindow)
    writer.uint8(filterPolicy)
    writer.peerAddress(peer)
    writer.uint8(ownAddressType)
    parameters.encode(into: &writer)
  }
}

/// §7.8.13.
package struct LECreateConnectionCancel: ParameterlessCommand {
  package static let opcode = Opcode(0x200E, "LE Create Connection Cancel", bit: (26, 5))
  package typealias Return = NoReturnParameters

  package init() {}
}

/// §7.8.66.
package struct LEExtendedCreateConnection: Command {
  package static let opcode = Opcode(0x2043, "LE Extended Create Connection", bit: (37, 7))
  package typealias Return = AnsweredByStatus

  /// On one PHY.
  package struct Initiating: Sendable, Equatable {
    /// 0.625 ms units.
    package var scanInterval: UInt16
    package var scanWindow: UInt16
    package var parameters: ConnectionParameters

    package init(scanInterval: UInt16, scanWindow: UInt16, parameters: ConnectionParameters) {
      self.scanInterval = scanInterval
      self.scanWindow = scanWindow
      self.parameters = parameters
    }
  }

  /// 0: `peer`; 1: the filter accept list.
  package var filterPolicy: UInt8
  package var ownAddressType: UInt8
  package var peer: PeerAddress
  package var phys: PHYMask
  /// One for each bit of `phys`, in the order of the bits.
  package var initiating: [Initiating]

  package init(filterPolicy: UInt8 = 0, ownAddressType: UInt8, peer: PeerAddress, phys: PHYMask, initiating: [Initiating]) {
    self.filterPolicy = filterPolicy
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.phys = phys
    self.initiating = initiating
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    filterPolicy = try reader.uint8("filter policy")
    ownAddressType = try reader.uint8("own address type")
    peer = try reader.peerAddress()
    phys = PHYMask(rawValue: try reader.uint8("initiating PHYs"))
    initiating = []
    for _ in 0..<phys.rawValue.nonzeroBitCount {
      initiating.append(
        Initiating(
          scanInterval: try reader.uint16("scan interval"), scanWindow: try reader.uint16("scan window"),
          parameters: try ConnectionParameters(parsing: &reader)))
    }
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(filterPolicy)
    writer.uint8(ownAddressType)
    writer.peerAddress(peer)
    writer.uint8(phys.rawValue)
    for one in initiating {
      writer.uint16(one.scanInterval)
      writer.uint16(one.scanWindow)
      one.parameters.encode(into: &writer)
    }
  }
}

/// §7.8.18.
package struct LEConnectionUpdate: ConnectionParametersCommand {
  package static let opcode = Opcode(0x2013, "LE Connection Update", bit: (27, 2))
  package typealias Return = AnsweredByStatus

  package var handle: ConnectionHandle
  package var parameters: ConnectionParameters

  package init(handle: ConnectionHandle, _ parameters: ConnectionParameters) {
    self.handle = handle
    self.parameters = parameters
  }
}

/// §7.8.21.
package struct LEReadRemoteFeatures: HandleCommand {
  package static let opcode = Opcode(0x2016, "LE Read Remote Features", bit: (27, 5))
  package typealias Return = AnsweredByStatus

  package let handle: ConnectionHandle

  package init(handle: ConnectionHandle) { self.handle = handle }
}

/// §7.8.31.
package struct LERemoteConnectionParameterRequestReply: ConnectionParametersCommand {
  package static let opcode = Opcode(0x2020, "LE Remote Connection Parameter Request Reply", bit: (33, 4))
  package typealias Return = HandleReturned

  package var handle: ConnectionHandle
  package var parameters: ConnectionParameters

  package init(handle: ConnectionHandle, _ parameters: ConnectionParameters) {
    self.handle = handle
    self.parameters = parameters
  }
}

/// §7.8.32.
package struct LERemoteConnectionParameterRequestNegativeReply: HandleReasonCommand {
  package static let opcode = Opcode(0x2021, "LE Remote Connection Parameter Request Negative Reply", bit: (33, 5))
  package typealias Return = HandleReturned

  package var handle: ConnectionHandle
  package var reason: ControllerErrorCode

  package init(handle: ConnectionHandle, reason: ControllerErrorCode) {
    self.handle = handle
    self.reason = reason
  }
}
