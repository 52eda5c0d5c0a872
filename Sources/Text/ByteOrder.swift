/// The order of the bytes of a number.
package enum ByteOrder: String, Hashable, Sendable, CaseIterable {
  case little
  case big
}
