/// The exit codes of blectl. A function that has already printed its error message throws an exit code.
package enum ExitStatus: Int32, Error {
  case done = 0
  case `internal` = 1
  case notFound = 2
  case adapter = 3
  case timeout = 4
  case refused = 5
  case linkLost = 6
  case expectation = 7
  case usage = 64
  case input = 66
  case output = 74
  case interrupted = 130
}

extension Failure {
  /// The exit code of blectl for this failure.
  package var exitStatus: ExitStatus {
    switch kind {
    // Invalid Handle: the peer has no such attribute.
    case .att where code == 0x01: .notFound
    case .notFound, .ambiguous: .notFound
    case .adapter: .adapter
    case .timeout: .timeout
    case .att, .protocolViolation, .device, .hci, .pairing: .refused
    case .linkLost: .linkLost
    case .expectation: .expectation
    case .usage: .usage
    case .input: .input
    case .output: .output
    case .interrupted: .interrupted
    case .internal: .internal
    }
  }
}
