/// gatttool's messages for ATT error codes.
extension GatttoolText {
  static let reasons: [UInt8: String] = [
    0x01: "Invalid handle",
    0x02: "Attribute can't be read",
    0x03: "Attribute can't be written",
    0x04: "Attribute PDU was invalid",
    0x05: "Attribute requires authentication before read/write",
    0x06: "Server doesn't support the request received",
    0x07: "Offset past the end of the attribute",
    0x08: "Attribute requires authorization before read/write",
    0x09: "Too many prepare writes have been queued",
    0x0A: "No attribute found within the given range",
    0x0B: "Attribute can't be read/written using Read Blob Req",
    0x0C: "Encryption Key Size is insufficient",
    0x0D: "Attribute value length is invalid",
    0x0E: "Request attribute has encountered an unlikely error",
    0x0F: "Encryption required before read/write",
    0x10: "Attribute type is not a supported grouping attribute",
    0x11: "Insufficient Resources to complete the request",
    0x80: "Internal application error: I/O",
    0x81: "A timeout occured",
    0x82: "The operation was aborted",
  ]
}
