import Bluetooth
import EventLoop
package import Text

extension Connection {
  /// Which device a record is about. - Parameter json: the record; the name is null when the device was not heard.
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
