import Bluetooth
import EventLoop
import GATT
import Operations
import Text

extension Connection {
  /// The name of the device for people. Its address if the name is unknown.
  @LoopActor
  package var title: String { name.map { $0.isEmpty ? peer.description : $0.description } ?? peer.description }

  /// Adds facts about the connection to a command's error: the device, and a disconnection during discovery.
  package func explained(_ error: any Error) -> any Error {
    if var write = error as? IncompleteWrite {
      write.device = title
      return write
    }
    guard client.endedInDiscovery, case var failure = Failure(error), failure.kind == .linkLost else { return error }
    failure.message = "\(title) disconnected during discovery: \(failure.message)"
    failure.add("To skip discovery, use a handle: read 0x0012, notify 0x0012, or write 0x0012 VALUE --mode request")
    return failure
  }
}
