/// The one error that leaves the rooms below: what failed, on what, why, and what to do next, as a sentence, with the facts beside it.
package struct BluetoothError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What sort of failure; the exit code and the JSON `kind` follow from it.
  package enum Kind: String, Sendable {
    /// No such device, service, characteristic or handle; no MAC in the advertisement.
    case notFound = "not_found"
    /// More than one candidate where one is needed.
    case ambiguous
    /// The adapter cannot be used: none, down, blocked, no permission, taken.
    case adapter
    case timeout
    /// The peer answered with an ATT Error Response; `code` is its error code.
    case att
    /// The peer (or the controller) answered with something that is not an answer.
    case protocolViolation = "protocol"
    /// A controller refused a command; `code` is the status.
    case hci
    /// The link was lost; `code` is the reason when known.
    case linkLost = "link_lost"
    /// `--expect`, `--verify` or an assertion of a script did not hold.
    case expectation
    case usage
    case input
    case output
    case interrupted
    /// A defect of blectl.
    case `internal`
  }

  package var kind: Kind
  package var message: String
  /// ATT error code, HCI status or errno, as `name` says.
  package var code: Int?
  /// Snake case name of `code` (`write_not_permitted`).
  package var name: String?

  package init(_ kind: Kind, _ message: String, code: Int? = nil, name: String? = nil) {
    self.kind = kind
    self.message = message
    self.code = code
    self.name = name
  }

  package var description: String { message }
}
