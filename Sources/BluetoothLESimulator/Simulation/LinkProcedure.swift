// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension LinkLayer {
  /// A procedure of LL control PDUs, which takes `events` connection events. A link runs one procedure at a time.
  enum Procedure: Equatable, Sendable {
    case featureExchange
    case versionExchange
    /// The largest LL payload, in bytes, that each side sends after a Data Length Update.
    case dataLength(central: Int, peripheral: Int)
    /// The coding that each side uses after the procedure.
    case phy(central: AirTime.Coding, peripheral: AirTime.Coding)
    case connectionUpdate(Parameters)
    /// LL_ENC_REQ with the key of the central's host. Its arrival pauses data until `LinkLayer.answer` (Vol 6 Part B §5.1.3).
    case encryptionRequest(EncryptionRequest)
    /// LL_START_ENC_REQ and the responses. Only with equal keys can the sides read each other.
    case encryptionStart(hasSameKey: Bool)
    /// LL_REJECT_EXT_IND of a peripheral without a key.
    case encryptionRefusal

    /// The number of connection events from the first control PDU to the end of the procedure. A response follows its request one event
    /// later. An instant is at least 6 events after the indication that names it (Vol 6 Part B §5.5).
    var events: Int {
      switch self {
      case .featureExchange, .versionExchange, .dataLength, .encryptionRequest, .encryptionRefusal: 1
      case .encryptionStart: 2
      case .connectionUpdate: 6
      case .phy: 8
      }
    }
  }

  /// The parameters of LE Enable Encryption. `rand` and `ediv` name the key to the peripheral.
  struct EncryptionRequest: Equatable, Sendable {
    var key: UInt128
    var rand: UInt64
    var ediv: UInt16
  }
}
