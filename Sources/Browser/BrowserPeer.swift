import ATT
import GAP
import GATT
import Presentation
import Text

/// A value that the user typed before.
struct WrittenValue: Equatable {
  let format: String
  let text: String
  let mode: WriteMode
}

/// A device with a connection (pending, open or closed), and the known facts about its attributes.
struct BrowserPeer {
  enum State: Equatable {
    case connecting
    /// The time of the connection in nanoseconds since 1970-01-01T00:00:00Z.
    case connected(Int64)
    /// The reason for the loss. Nil if the user disconnected.
    case closed(String?)
  }

  var name: UntrustedText?
  var state = State.connecting
  var mtu: Int?
  var link = LinkParameters()
  var tree = AttributeTree()
  var values: CharacteristicFacts.Values = [:]
  /// The arrival time of each value, in nanoseconds since 1970-01-01T00:00:00Z.
  var times: [AttributeHandle: Int64] = [:]
  var histories: [AttributeHandle: SampleHistory] = [:]
  /// The subscribed characteristics, by the handle of the value.
  var subscribed: Set<AttributeHandle> = []
  /// The written values by attribute handle, the newest last.
  var written: [AttributeHandle: [WrittenValue]] = [:]
  /// The attributes whose latest action was a write, for the command line to copy.
  var wroteLast: Set<AttributeHandle> = []
  /// The number of reads and writes that wait for the device.
  var pending = 0

  init(name: UntrustedText?) { self.name = name }

  var isConnected: Bool { if case .connected = state { true } else { false } }

  func facts(_ item: Characteristic) -> CharacteristicFacts { CharacteristicFacts(characteristic: item, values: values) }

  /// Returns the characteristic that an attribute is or belongs to.
  func characteristic(_ handle: AttributeHandle) -> Characteristic? { tree.table?.characteristic(owning: handle)?.0 }

  /// Stores a received value, and its number for a plot.
  mutating func receive(_ value: Result<[UInt8], any Error>, of handle: AttributeHandle, at time: Int64) {
    values[handle] = value
    times[handle] = time
    guard case .success(let octets) = value, case .characteristic(let item, _)? = tree.table?.attribute(at: handle),
      let number = SampleHistory.number(in: octets, facts(item))
    else { return }
    histories[handle, default: SampleHistory()].add(number, at: time)
  }

  /// Ends a request. A new connection has no requests from before.
  mutating func finishRequest() { pending = max(0, pending - 1) }
}
