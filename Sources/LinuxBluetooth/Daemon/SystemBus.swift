import CDBus
import EventLoop

/// A connection to the system's message bus. It uses libdbus, which is opened at the first connection, without callbacks.
@LoopActor
final class SystemBus: MessageBus {
  var onMessage: (@LoopActor (BusMessage) -> Void)?
  /// The connection of libdbus. 0 after the end.
  private var connection: UInt
  private var watch: Watch?
  private var pending: [UInt32: Wait<[BusValue]>] = [:]

  /// Opens a connection. The first call must be Hello.
  /// - Parameter socket: The path of the bus. The default does not depend on `DBUS_SYSTEM_BUS_ADDRESS`, which can start programs.
  init(_ socket: String = "/run/dbus/system_bus_socket") throws(BluetoothDaemonProblem) {
    guard shim_bus_is_available() != 0 else { throw .noLibrary }
    connection = unsafe shim_bus_open("unix:path=\(socket)")
    guard connection != 0 else { throw .silent }
    watch = EventLoop.shared.watch(shim_bus_descriptor(connection), .readable) { [weak self] _ in self?.pump() }
  }

  isolated deinit { close() }

  func close() {
    guard connection != 0 else { return }
    watch?.cancel()
    shim_bus_close(connection)
    connection = 0
    for answer in pending.values { answer.resume(throwing: BluetoothDaemonProblem.silent) }
    pending = [:]
  }

  // MARK: Sending

  func call(_ method: String, at path: String, _ arguments: [BusValue]) async throws -> [BusValue] {
    guard connection != 0 else { throw BluetoothDaemonProblem.silent }
    let serial = send(unsafe shim_bus_call(path == "/org/freedesktop/DBus" ? "org.freedesktop.DBus" : "org.bluez", path, method), arguments)
    let answer = Wait<[BusValue]>()
    pending[serial] = answer
    defer { pending[serial] = nil }
    do { return try await answer.value() } catch BluetoothDaemonProblem.refused(_, let name, let text) {
      throw BluetoothDaemonProblem.refused(method, name: name, text: text)
    }
  }

  /// Queues a message, and returns its number.
  private func send(_ message: UInt, _ arguments: [BusValue]) -> UInt32 {
    for argument in arguments {
      switch argument {
      case .text(let text): unsafe shim_bus_add_text(message, Int32(UInt8(ascii: "s")), text)
      case .path(let path): unsafe shim_bus_add_text(message, Int32(UInt8(ascii: "o")), path)
      case .number(let number): shim_bus_add_number(message, UInt32(clamping: number))
      case .list: break
      }
    }
    // A handler may be the caller, and must not receive the next message before it returns.
    EventLoop.shared.perform { [weak self] in self?.pump() }
    return shim_bus_send(connection, message)
  }

  // MARK: Receiving

  private func pump() {
    guard connection != 0 else { return }
    let isUp = shim_bus_transfer(connection) != 0
    while connection != 0, case let message = shim_bus_next_message(connection), message != 0 {
      receive(message)
      shim_bus_forget(message)
    }
    guard isUp else { return close() }
    guard connection != 0 else { return }
    let authenticates = shim_bus_authenticates(connection) != 0
    // Each transfer does one step of an authentication, but a descriptor does not tell when the next one is due.
    if authenticates { EventLoop.shared.schedule(after: .milliseconds(2)) { [weak self] in self?.pump() } }
    watch?.setInterest(!authenticates && shim_bus_has_output(connection) != 0 ? [.readable, .writable] : .readable)
  }

  private func receive(_ message: UInt) {
    let values = Self.values(from: shim_bus_begin(message))
    func field(_ number: Int32) -> String { unsafe shim_bus_field(message, number).map { unsafe String(cString: $0) } ?? "" }
    let (type, answered) = (shim_bus_type(message), pending[shim_bus_answered(message)])
    switch type {
    case 2: answered?.resume(returning: values)
    case 3: answered?.resume(throwing: BluetoothDaemonProblem.refused("", name: field(3), text: values.first?.text ?? ""))
    default:
      let (sender, serial) = (field(0), shim_bus_serial(message))
      onMessage?(
        BusMessage(sender: sender, path: field(1), member: field(2), values: values) { [weak self] answer in
          guard let self, type == 1, connection != 0 else { return }
          _ = send(unsafe shim_bus_answer(sender, serial, answer == nil ? "org.bluez.Error.Rejected" : nil), answer ?? [])
        })
    }
  }

  /// Returns the values from a place to the end of its list. libdbus has checked the message, and limits its depth to 64.
  private static func values(from first: shim_bus_place) -> [BusValue] {
    var (place, values) = (first, [BusValue]())
    while let letter = UInt8(exactly: shim_bus_kind(place)), letter != 0 {
      switch Character(UnicodeScalar(letter)) {
      case "s", "o", "g": values.append(.text(unsafe shim_bus_text(place).map { unsafe String(cString: $0) } ?? ""))
      case "v": values += Self.values(from: shim_bus_enter(place)).prefix(1)
      case "a", "r", "e": values.append(.list(Self.values(from: shim_bus_enter(place))))
      // A file descriptor would stay open if it were read.
      case "h": values.append(.list([]))
      default: values.append(.number(shim_bus_number(place)))
      }
      place = shim_bus_next(place)
    }
    return values
  }
}
