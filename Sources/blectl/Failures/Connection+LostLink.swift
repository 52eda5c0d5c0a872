import GATT
import Operations

extension Connection {
  /// What a command on this link has thrown, with what only the link knows: which device it is, and whether it ended during discovery.
  func explained(_ error: any Error) -> any Error {
    if var write = error as? IncompleteWrite {
      write.device = title
      return write
    }
    guard client.endedInDiscovery, case var failure = Failure(error), failure.kind == .linkLost else { return error }
    failure.message =
      "\(title) disconnected during discovery: \(failure.message). A handle needs no discovery: name it in place of the UUID "
      + "(read 0x0012, notify 0x0012), and add --mode request to write (write 0x0012 VALUE --mode request)"
    return failure
  }
}
