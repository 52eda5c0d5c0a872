import CBluetoothLEDBus

/// A connection to the system's message bus. It uses libdbus, which is opened at the first connection, without callbacks.
@LoopActor
final class SystemBus: MessageBus {
  /// The name of the bus itself, in messages.
  private static let itself = "org.freedesktop.DBus"
  /// The maximum number of values in a message. bluetoothd has about 150 for each device.
  private static let valueLimit = 1 << 18

  var partner = ""
  var onMessage: (@LoopActor (BusMessage) -> Void)?
  /// The connection of libdbus. 0 after the end.
  private var connection: UInt
  private var watch: Watch?
  private var pending: [UInt32: (destination: String, answer: Wait<[BusValue]>)] = [:]

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
    for call in pending.values { call.answer.resume(throwing: BluetoothDaemonProblem.silent) }
    pending = [:]
  }

  // MARK: Sending

  func call(_ method: String, at path: String, _ arguments: [BusValue]) async throws -> [BusValue] {
    guard connection != 0 else { throw BluetoothDaemonProblem.silent }
    let destination = path == "/org/freedesktop/DBus" ? Self.itself : partner
    // libdbus ends the process for an invalid name.
    guard destination == Self.itself || destination.hasPrefix(":") else { throw BluetoothDaemonProblem.silent }
    let serial = send(unsafe shim_bus_call(destination, path, method), arguments)
    let answer = Wait<[BusValue]>()
    pending[serial] = (destination, answer)
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

  /// Takes a message. Any program can send one, and values take many times their size in it, so only messages that count are decoded.
  private func receive(_ message: UInt) {
    func field(_ number: Int32) -> String { unsafe shim_bus_field(message, number).map { unsafe String(cString: $0) } ?? "" }
    func values() -> [BusValue]? {
      var room = Self.valueLimit + 1
      let values = Self.values(from: shim_bus_begin(message), &room)
      return room > 0 ? values : nil
    }
    let (type, sender) = (shim_bus_type(message), field(0))
    switch type {
    case 2, 3:
      // The bus itself answers for a program that is gone.
      guard let call = pending[shim_bus_answered(message)], [call.destination, Self.itself].contains(sender) else { return }
      guard let values = values() else {
        let text = "The answer has more than \(Self.valueLimit) values"
        let problem = BluetoothDaemonProblem.refused("", name: "org.freedesktop.DBus.Error.LimitsExceeded", text: text)
        return call.answer.resume(throwing: problem)
      }
      if type == 2 { return call.answer.resume(returning: values) }
      call.answer.resume(throwing: BluetoothDaemonProblem.refused("", name: field(3), text: values.first?.text ?? ""))
    default:
      guard sender == partner, !partner.isEmpty else { return }
      let serial = shim_bus_serial(message)
      onMessage?(
        BusMessage(path: field(1), member: field(2), values: values() ?? []) { [weak self] answer in
          guard let self, type == 1, connection != 0 else { return }
          _ = send(unsafe shim_bus_answer(sender, serial, answer == nil ? "org.bluez.Error.Rejected" : nil), answer ?? [])
        })
    }
  }

  /// Returns the values from a place to the end of its list. libdbus has checked the message, and limits its depth to 64.
  /// - Parameter room: The number of values that may follow. 0 at the end means that there are more.
  private static func values(from first: shim_bus_place, _ room: inout Int) -> [BusValue] {
    var (place, values) = (first, [BusValue]())
    while room > 0, let letter = UInt8(exactly: shim_bus_kind(place)), letter != 0 {
      room -= 1
      switch Character(UnicodeScalar(letter)) {
      case "s", "o", "g": values.append(.text(unsafe shim_bus_text(place).map { unsafe String(cString: $0) } ?? ""))
      case "v": values += Self.values(from: shim_bus_enter(place), &room).prefix(1)
      case "a", "r", "e": values.append(.list(Self.values(from: shim_bus_enter(place), &room)))
      // A file descriptor would stay open if it were read.
      case "h": values.append(.list([]))
      default: values.append(.number(shim_bus_number(place)))
      }
      place = shim_bus_next(place)
    }
    return values
  }
}
