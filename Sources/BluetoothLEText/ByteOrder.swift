/// The order in which a packet carries the bytes of a number.
package enum ByteOrder: String, Hashable, Sendable, CaseIterable {
  case little
  case big
}
