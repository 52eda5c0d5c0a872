// SPDX-License-Identifier: Apache-2.0
extension ConnectionParameters {
  /// Reads the six fields that LE Create Connection and LE Connection Update share (Vol 4 Part E §7.8.12 and §7.8.18).
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.init(
      intervalMin: try reader.time("minimum connection interval"), intervalMax: try reader.time("maximum connection interval"),
      latency: try reader.uint16("latency"), supervisionTimeout: try reader.time("supervision timeout"),
      minCELength: try reader.time("minimum connection event length"), maxCELength: try reader.time("maximum connection event length"))
  }

  func encode(into writer: inout ByteWriter) {
    writer.uint16(intervalMin.rawValue)
    writer.uint16(intervalMax.rawValue)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout.rawValue)
    writer.uint16(minCELength.rawValue)
    writer.uint16(maxCELength.rawValue)
  }
}
