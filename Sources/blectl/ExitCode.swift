import Bluetooth

/// The exit codes of the contract. The code is a property of the error; thrown itself it ends a command that has said what is wrong.
enum ExitStatus: Int32, Error {
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
}

extension BluetoothError {
  var exitStatus: ExitStatus {
    switch kind {
    // Invalid Handle: the peer says that there is no such attribute.
    case .att where code == 0x01: .notFound
    case .notFound, .ambiguous: .notFound
    case .adapter: .adapter
    case .timeout: .timeout
    case .att, .protocolViolation, .hci: .refused
    case .linkLost: .linkLost
    case .expectation: .expectation
    case .usage: .usage
    case .input: .input
    case .output: .output
    case .interrupted, .internal: .internal
    }
  }
}
