package import ATT
package import Bluetooth

/// An error of a GATT procedure or an attribute selector, as facts.
package enum GATTError: Error, Equatable, Sendable {
  /// The peer answered `request` with an Error Response. `attribute`: the discovered attribute at that handle, nil before discovery.
  case errorResponse(ErrorCode, to: Request, on: Attribute?)
  case invalidSelector(String, Selector.Fault)
  case notFound(Selector, Missing)
  case ambiguous(Selector, [Candidate])
  /// The characteristic has neither the notify nor the indicate property.
  case sendsNoValues(Characteristic)
  /// The subscribed characteristic is gone or has moved, because the peer's services changed.
  case gone(Characteristic)
  /// A value of this many bytes does not fit one Write Request, which holds `limit` bytes at ATT_MTU `mtu`.
  case tooLongForWriteRequest(Int, limit: Int, mtu: Int)
  /// A value exceeds the attribute size (512 bytes). A segment holds `segment` bytes. `mode`: the requested mode.
  case tooLongForAttribute(Int, segment: Int, mode: WriteMode)
  /// A segment size of this many bytes exceeds `limit`, the most that fits at ATT_MTU `mtu`.
  case segmentTooLong(Int, limit: Int, mtu: Int)
  /// The segment size is less than one byte.
  case segmentTooShort(Int)
  /// The caller used a plan for `planned` bytes for a value of `count` bytes.
  case planMismatch(planned: Int, count: Int)

  /// The reason why a selector matches no attribute.
  package enum Missing: Equatable, Sendable {
    /// The peer has no attribute of this type.
    case attribute
    /// The UUID belongs to a service.
    case isService(Service)
    /// The service lacks the attribute, but another service has one at this path.
    case elsewhere(String)
    /// The selector names a characteristic as a service. This path names its descriptor.
    case isCharacteristic(String)
    /// The peer has no service with this UUID.
    case service(UUID)
    /// The characteristic has no descriptor of this type.
    case descriptor(UUID)
    /// The peer has only this many attributes of the type, fewer than the index in the selector.
    case only(Int, of: String)
  }

  /// One of several attributes that a selector matches.
  package struct Candidate: Sendable, Equatable {
    package let attribute: Attribute
    /// A selector that matches only this attribute: `181a[2]/2a6e`.
    package let selector: String

    package var handle: AttributeHandle { attribute.handle }
  }
}
