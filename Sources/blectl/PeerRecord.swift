import Bluetooth
import EventLoop
import Operations
import Text

extension Connection {
  /// Which device a record is about. - Parameter json: the record; the name is null when the device was not heard.
  @LoopActor
  func identify(in json: inout JSONLine) {
    json.string("address", peer.address.description)
    json.string("address_type", peer.type.rawValue)
    json.string("name", name)
  }
}
