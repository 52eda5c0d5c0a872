/// The order in which the octets of a number are sent.
package enum ByteOrder: String, Hashable, Sendable, CaseIterable {
  case little
  case big
}
