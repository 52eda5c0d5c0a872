import BluetoothLE
import Presentation

/// A value that the user wrote, as typed, with its format and mode.
struct WrittenValue: Equatable {
  let format: String
  let text: String
  let mode: WriteMode
}

/// A device to which the browser connects or has connected, and its attributes and values.
struct BrowserPeer {
  enum State: Equatable {
    case connecting
    /// The connection is open. The associated value is its start in nanoseconds since 1970-01-01T00:00:00Z.
    case connected(Int64)
    /// The connection ended. The associated value is the reason, or nil if the user disconnected.
    case closed(String?)
  }

  var name: UntrustedText?
  var state = State.connecting
  var mtu: Int?
  var link = LinkParameters()
  /// The security of the connection. Nil while it is not encrypted.
  var security: LinkSecurity?
  var tree = AttributeTree()
  var values: CharacteristicFacts.Values = [:]
  /// The arrival time of the latest value by attribute handle, in nanoseconds since 1970-01-01T00:00:00Z.
  var times: [AttributeHandle: Int64] = [:]
  var histories: [AttributeHandle: SampleHistory] = [:]
  /// The latest values of each characteristic by the handle of its value.
  var received: [AttributeHandle: Ring<ReceivedValue>] = [:]
  /// The handles of the values of subscribed characteristics.
  var subscribed: Set<AttributeHandle> = []
  /// The values that the user wrote, by attribute handle, in the order of writing.
  var written: [AttributeHandle: [WrittenValue]] = [:]
  /// The handles of attributes whose latest action was a write. For these attributes, the key `y` copies a `write` command.
  var wroteLast: Set<AttributeHandle> = []
  /// The number of requests to the device that have started but not ended.
  var pending = 0

  init(name: UntrustedText?) { self.name = name }

  var isConnected: Bool { if case .connected = state { true } else { false } }

  func facts(_ item: Characteristic) -> CharacteristicFacts { CharacteristicFacts(characteristic: item, values: values) }

  /// Returns the characteristic to which the attribute with the handle belongs. Returns nil if the characteristic is unknown.
  func characteristic(_ handle: AttributeHandle) -> Characteristic? { tree.table?.characteristic(owning: handle)?.0 }

  /// Stores a received value or the error of a read. Adds a characteristic's value and its number, if any, to the histories.
  mutating func receive(_ value: Result<[UInt8], any Error>, of handle: AttributeHandle, at time: Int64) {
    values[handle] = value
    times[handle] = time
    guard case .success(let bytes) = value, case .characteristic(let item, _)? = tree.table?.attribute(at: handle) else { return }
    received[handle, default: Ring(capacity: ValueHistory.limit)].append((time, bytes))
    guard let number = ValueNumbers.main(bytes, of: item.uuid, formats: facts(item).formats)
    else { return }
    histories[handle, default: SampleHistory()].add(number, at: time)
  }

  /// Decreases the number of pending requests by one, unless a reconnect has already set the number to 0.
  mutating func finishRequest() { pending = max(0, pending - 1) }
}
