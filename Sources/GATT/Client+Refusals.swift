import ATT
import Bluetooth
import Text

extension Client {
  /// `Write Not Permitted (0x03) on ffe1 (handle 0x0010): it only takes writes without response; use --mode command`.
  func refusal(_ code: ErrorCode, _ request: Request) -> BluetoothError {
    let hint = self.hint(code, request).map { ": \($0)" } ?? ""
    return BluetoothError(.att, "\(code) \(place(request))\(hint)", code: Int(code.rawValue), name: code.snakeName)
  }

  private func place(_ request: Request) -> String {
    switch request {
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      "in answer to a \(request.opcode) for handles \(range.start)-\(range.end)"
    case .exchangeMTU, .executeWrite, .readMultiple, .readMultipleVariable: "in answer to the \(request.opcode)"
    case .read, .readBlob, .write, .prepareWrite: "on \(name(of: request.handle))"
    }
  }

  /// `ffe1 (handle 0x0010)`, or the handle alone when discovery has not seen it.
  func name(of handle: AttributeHandle) -> String {
    let place = "handle \(handle)"
    return switch table?.attribute(at: handle) {
    case .characteristic(let item, _)?: "\(item.uuid) (\(place))"
    case .descriptor(let item, of: let owner, _)?: "\(owner.uuid)@\(item.uuid) (\(place))"
    case .handle?, nil: place
    }
  }

  private func hint(_ code: ErrorCode, _ request: Request) -> String? {
    let properties = table?.attribute(at: request.handle).properties
    let has = properties.map { "its properties are: \($0.names.joined(separator: ", "))" }
    switch code {
    case .invalidHandle: return "the peer has no such attribute; list what it has with: services"
    case .readNotPermitted:
      guard let properties, !properties.contains(.read) else { return "the peer does not let it be read" }
      return properties.isDisjoint(with: [.notify, .indicate]) ? has : "it only sends values by itself; use notify"
    case .writeNotPermitted:
      guard let properties, !properties.contains(.write) else { return "the peer does not let it be written this way" }
      return properties.contains(.writeWithoutResponse) ? "it only takes writes without response; use --mode command" : has
    case .insufficientAuthentication, .insufficientEncryption:
      return "the peer wants a paired, encrypted link, and blectl does not pair or encrypt by itself yet; bluetoothctl does both "
        + "(pair ADDRESS, then menu gatt)"
    case .encryptionKeySizeTooShort: return "the link's encryption key is too short for it; pair again with a longer one"
    case .insufficientAuthorization: return "the peer's owner has to allow it first; trying again does not help"
    case .requestNotSupported: return "the peer does not know the \(request.opcode)"
    case .invalidOffset, .invalidAttributeValueLength:
      switch request {
      case .write(_, let value): return "it does not take a value of \(value.count) octets"
      case .prepareWrite(_, let offset, let value): return "it does not take \(value.count) octets at offset \(offset)"
      case .executeWrite: return "the peer did not take a value of this length; nothing was written"
      default: return nil
      }
    case .prepareQueueFull: return "its queue for long writes is full; write less at once, or in segments (--mode request --chunk)"
    case .databaseOutOfSync: return "its services have changed; connect again and name the attribute by UUID"
    case _ where code.name == "Application Error": return "its meaning is the peer's own"
    default: return nil
    }
  }
}
