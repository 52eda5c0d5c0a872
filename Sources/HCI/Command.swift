package import Bluetooth

/// HCI commands, host to controller (Vol 4 Part E §7). Encoded by the host, decoded by the virtual controller.
package enum Command: Sendable, Equatable {
  case reset
  /// §7.3.1.
  case setEventMask(UInt64)
  case disconnect(handle: UInt16, reason: ControllerErrorCode)
  case readRemoteVersion(handle: UInt16)
  case readLocalVersion
  case readLocalSupportedCommands
  case readLocalSupportedFeatures
  case readBufferSize
  case readBDADDR
  case readRSSI(handle: UInt16)
  /// §7.8.1; bit n is LE Meta subevent n + 1.
  case leSetEventMask(UInt64)
  case leReadBufferSize
  case leReadBufferSizeV2
  case leReadLocalSupportedFeatures
  case leSetRandomAddress(Address)
  case leSetScanParameters(ScanTiming, ownAddressType: UInt8, filterPolicy: UInt8)
  case leSetScanEnable(Bool, filterDuplicates: Bool)
  case leCreateConnection(LECreateConnection)
  case leCreateConnectionCancel
  case leConnectionUpdate(handle: UInt16, ConnectionParameters)
  case leReadRemoteFeatures(handle: UInt16)
  case leRemoteConnectionParameterRequestReply(handle: UInt16, ConnectionParameters)
  case leRemoteConnectionParameterRequestNegativeReply(handle: UInt16, reason: ControllerErrorCode)
  /// TX_Octets 27…251, TX_Time in µs 328…17 040.
  case leSetDataLength(handle: UInt16, txOctets: UInt16, txTime: UInt16)
  case leReadSuggestedDefaultDataLength
  case leWriteSuggestedDefaultDataLength(txOctets: UInt16, txTime: UInt16)
  case leReadMaximumDataLength
  case leReadPHY(handle: UInt16)
  /// All_PHYs bit 0: no transmitter preference; bit 1: no receiver preference.
  case leSetDefaultPHY(allPHYs: UInt8, tx: PHYMask, rx: PHYMask)
  case leSetPHY(handle: UInt16, allPHYs: UInt8, tx: PHYMask, rx: PHYMask, options: UInt16)
  /// One timing for each bit of `phys`, in the order of the bits.
  case leSetExtendedScanParameters(ownAddressType: UInt8, filterPolicy: UInt8, phys: PHYMask, [ScanTiming])
  /// Duration in 10 ms, period in 1.28 s; 0 is for ever.
  case leSetExtendedScanEnable(Bool, filterDuplicates: UInt8, duration: UInt16, period: UInt16)
  case leExtendedCreateConnection(LEExtendedCreateConnection)
  /// Any other opcode, with its parameters as they are.
  case other(Opcode, [UInt8])

  /// Vol 4 Part E §7.8.10 and §7.8.64.
  package struct ScanTiming: Sendable, Equatable {
    package var isActive: Bool
    /// 0.625 ms units, 4…0x4000 (legacy) or 0xFFFF (extended).
    package var interval: UInt16
    /// 0.625 ms units, at most `interval`.
    package var window: UInt16

    package init(isActive: Bool, interval: UInt16, window: UInt16) {
      self.isActive = isActive
      self.interval = interval
      self.window = window
    }
  }

  /// §7.8.12.
  package struct LECreateConnection: Sendable, Equatable {
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
  }

  /// §7.8.66.
  package struct LEExtendedCreateConnection: Sendable, Equatable {
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
  }

  package var opcode: Opcode {
    switch self {
    case .reset: .reset
    case .setEventMask: .setEventMask
    case .disconnect: .disconnect
    case .readRemoteVersion: .readRemoteVersion
    case .readLocalVersion: .readLocalVersion
    case .readLocalSupportedCommands: .readLocalSupportedCommands
    case .readLocalSupportedFeatures: .readLocalSupportedFeatures
    case .readBufferSize: .readBufferSize
    case .readBDADDR: .readBDADDR
    case .readRSSI: .readRSSI
    case .leSetEventMask: .leSetEventMask
    case .leReadBufferSize: .leReadBufferSize
    case .leReadBufferSizeV2: .leReadBufferSizeV2
    case .leReadLocalSupportedFeatures: .leReadLocalSupportedFeatures
    case .leSetRandomAddress: .leSetRandomAddress
    case .leSetScanParameters: .leSetScanParameters
    case .leSetScanEnable: .leSetScanEnable
    case .leCreateConnection: .leCreateConnection
    case .leCreateConnectionCancel: .leCreateConnectionCancel
    case .leConnectionUpdate: .leConnectionUpdate
    case .leReadRemoteFeatures: .leReadRemoteFeatures
    case .leRemoteConnectionParameterRequestReply: .leRemoteConnectionParameterRequestReply
    case .leRemoteConnectionParameterRequestNegativeReply: .leRemoteConnectionParameterRequestNegativeReply
    case .leSetDataLength: .leSetDataLength
    case .leReadSuggestedDefaultDataLength: .leReadSuggestedDefaultDataLength
    case .leWriteSuggestedDefaultDataLength: .leWriteSuggestedDefaultDataLength
    case .leReadMaximumDataLength: .leReadMaximumDataLength
    case .leReadPHY: .leReadPHY
    case .leSetDefaultPHY: .leSetDefaultPHY
    case .leSetPHY: .leSetPHY
    case .leSetExtendedScanParameters: .leSetExtendedScanParameters
    case .leSetExtendedScanEnable: .leSetExtendedScanEnable
    case .leExtendedCreateConnection: .leExtendedCreateConnection
    case .other(let opcode, _): opcode
    }
  }
}
