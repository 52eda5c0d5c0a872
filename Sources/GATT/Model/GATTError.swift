package import ATT
package import Bluetooth

/// An error of a GATT procedure or an attribute selector, as facts.
package enum GATTError: Error, Equatable, Sendable {
  /// The peer answered `request` with an Error Response. `attribute`: the discovered attribute at that handle, nil before discovery.
  case errorResponse(ErrorCode, to: Request, on: Attribute?)
  case invalidSelector(String, Selector.Fault)
  case notFound(Selector, Missing)
  case ambiguous(Selector, [Candidate])
  /// The characteristic has neither notify nor indicate.
  case sendsNoValues(Characteristic)
  /// The subscribed characteristic is gone or has moved, because the peer's services changed.
  case gone(Characteristic)
  /// A value of this many bytes does not fit one Write Request, which holds `limit` bytes at ATT_MTU `mtu`.
  case tooLongForWriteRequest(Int, limit: Int, mtu: Int)
  /// A value exceeds the attribute size (512 bytes). A segment holds `segment` bytes. `mode`: the requested mode.
  case tooLongForAttribute(Int, segment: Int, mode: WriteMode)
  /// Segments of this many bytes, although at most `limit` fit at ATT_MTU `mtu`.
  case segmentTooLong(Int, limit: Int, mtu: Int)
  /// Segments of less than one byte.
  case segmentTooShort(Int)
  /// A plan for `planned` bytes was used for a value of `count`: an error of the caller.
  case planMismatch(planned: Int, count: Int)

  /// The reason why a selector matches no attribute.
  package enum Missing: Equatable, Sendable {
    /// The peer has no attribute of this type.
    case attribute
    /// The UUID belongs to a service.
    case isService(Service)
    /// The service lacks it, but another service has it at this path.
    case elsewhere(String)
    /// The selector names a characteristic as a service. This path names its descriptor.
    case isCharacteristic(String)
    /// The peer has no service with this UUID.
    case service(UUID)
    /// The characteristic has no descriptor of this type.
    case descriptor(UUID)
    /// There are fewer of this type than the index asks for.
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
