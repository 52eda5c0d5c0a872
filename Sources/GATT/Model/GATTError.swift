package import ATT
package import Bluetooth

/// What a GATT procedure or a name for an attribute can fail with, as facts.
package enum GATTError: Error, Equatable, Sendable {
  /// The peer answered `request` with an Error Response. `attribute` is what discovery knows at the request's handle; nil before it.
  case errorResponse(ErrorCode, to: Request, on: Attribute?)
  case invalidSelector(String, Selector.Fault)
  case notFound(Selector, Missing)
  case ambiguous(Selector, [Candidate])
  /// The characteristic has neither notify nor indicate.
  case sendsNoValues(Characteristic)
  /// The peer's services have changed: what was subscribed to is not there any more, or somewhere else.
  case gone(Characteristic)
  /// A value of this many octets does not fit one Write Request, which takes `limit` at ATT_MTU `mtu`.
  case tooLongForWriteRequest(Int, limit: Int, mtu: Int)
  /// More octets than an attribute can hold; a segment takes `segment`. `mode` is what was asked for.
  case tooLongForAttribute(Int, segment: Int, mode: WriteMode)
  /// Segments of this many octets where at most `limit` fit at ATT_MTU `mtu`.
  case segmentTooLong(Int, limit: Int, mtu: Int)
  /// Segments of less than one octet.
  case segmentTooShort(Int)
  /// A plan for `planned` octets for a value of `count`: the caller's mistake.
  case planMismatch(planned: Int, count: Int)

  /// What the peer has in place of what a selector means.
  package enum Missing: Equatable, Sendable {
    /// No attribute of this type.
    case attribute
    /// The UUID is that of a service.
    case isService(Service)
    /// The service does not have it, but another one does, at this path.
    case elsewhere(String)
    /// The selector names a characteristic as a service. This path names its descriptor.
    case isCharacteristic(String)
    /// No service with this UUID.
    case service(UUID)
    /// No such descriptor there.
    case descriptor(UUID)
    /// Less of this type than the index asks for.
    case only(Int, of: String)
  }

  /// One of several attributes that a selector may mean.
  package struct Candidate: Sendable, Equatable {
    package let attribute: Attribute
    /// Means this attribute and no other: `181a[2]/2a6e`.
    package let selector: String

    package var handle: AttributeHandle { attribute.handle }
  }
}
