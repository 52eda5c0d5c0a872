// SPDX-License-Identifier: Apache-2.0
/// An error of a GATT procedure or an attribute selector.
package enum GATTError: Error, Equatable, Sendable {
  /// The peer answered a request with an Error Response. `on` is the attribute at the request's handle, nil before discovery.
  case errorResponse(ErrorCode, to: Request, on: Attribute?)
  case invalidSelector(String, Selector.Fault)
  case notFound(Selector, Missing)
  case ambiguous(Selector, [Candidate])
  /// The characteristic has neither the notify nor the indicate property.
  case sendsNoValues(Characteristic)
  /// The peer removed or moved the subscribed characteristic when its services changed.
  case gone(Characteristic)
  /// The peer does not support Prepare Write Requests, which a value of `count` bytes needs. One Write Request holds `limit` bytes.
  case noLongWrites(Attribute, count: Int, limit: Int)
  /// A value of this many bytes does not fit one Write Request, which holds `limit` bytes at ATT_MTU `mtu`.
  case tooLongForWriteRequest(Int, limit: Int, mtu: Int)
  /// A value of this many bytes exceeds the attribute size limit (512). `segment` is the bytes per write, `mode` the requested mode.
  case tooLongForAttribute(Int, segment: Int, mode: WriteMode)
  /// A segment size of this many bytes exceeds `limit`, the maximum segment size at ATT_MTU `mtu`.
  case segmentTooLong(Int, limit: Int, mtu: Int)
  /// The segment size of this many bytes is below the minimum, 1.
  case segmentTooShort(Int)
  /// The caller used a plan for `planned` bytes for a value of `count` bytes.
  case planMismatch(planned: Int, count: Int)

  /// The reason why a selector matches no attribute.
  package enum Missing: Equatable, Sendable {
    /// The peer has no attribute that the selector matches.
    case attribute
    /// The selector matches only a service, not an attribute in a service.
    case isService(Service)
    /// The service lacks the attribute, but another service has a matching one. The string selects that attribute, such as `180f/2a19`.
    case elsewhere(String)
    /// The selector has a characteristic in place of the service. The string is a selector for the characteristic's descriptor.
    case isCharacteristic(String)
    /// The peer has no service with this UUID.
    case service(UUID)
    /// The characteristic has no descriptor with this UUID.
    case descriptor(UUID)
    /// The peer has only this many matches for the part `of` of the selector, fewer than the index in that part.
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
