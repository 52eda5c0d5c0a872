import Bluetooth
import EventLoop
package import Text

extension Connection {
  /// Writes the members that identify the device: address, type and name. The name is null if the device was not heard.
  @LoopActor
  package func identify(in json: inout RecordWriter) {
    let members =
      identity
      ?? RecordWriter.Members {
        $0.address("address", peer.address)
        $0.string("address_type", peer.type.rawValue)
        $0.string("name", name?.raw)
      }
    identity = members
    json.members(members)
  }
}
