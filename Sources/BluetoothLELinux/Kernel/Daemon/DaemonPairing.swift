/// The way to pair: the management channel of the kernel, or bluetoothd, which uses that channel itself.
@LoopActor
protocol PairingChannel: AnyObject {
  /// The handler of events.
  var observer: (@LoopActor (ManagementEvent) -> Void)? { get set }
  func pump()
  /// Sends a command. The result gets the answer, whenever that arrives.
  func start(_ command: ManagementCommand) throws -> Wait<ManagementChannel.Answer>
}

extension ManagementSocket: PairingChannel {}

/// One pairing through bluetoothd, in the form of a management channel.
///
/// bluetoothd asks the agent of the program that calls Pair, and forgets the agent when the connection to the bus ends.
@LoopActor
final class DaemonPairing: PairingChannel {
  /// The path of our agent. Each connection to the bus has its own paths.
  static let agent = "/agent"

  private let daemon: BluetoothDaemon
  private let device: BluetoothDaemon.Device
  /// The peer by the address that the events shall have.
  private let peer: PeerAddress
  var observer: (@LoopActor (ManagementEvent) -> Void)?
  /// The call that waits for the user.
  private var question: BusMessage?
  /// Whether bluetoothd has not answered our call of Pair yet.
  private var isPairing = false

  init(_ daemon: BluetoothDaemon, _ device: BluetoothDaemon.Device, as peer: PeerAddress) {
    (self.daemon, self.device, self.peer) = (daemon, device, peer)
    daemon.bus.onMessage = { [weak self] in self?.received($0) }
  }

  // MARK: PairingChannel

  func pump() {}

  func start(_ command: ManagementCommand) -> Wait<ManagementChannel.Answer> {
    let answer = Wait<ManagementChannel.Answer>()
    EventLoop.shared.spawn { [self] in
      do {
        try await perform(command)
        answer.resume(returning: ManagementChannel.Answer(status: 0, parameters: []))
      } catch BluetoothDaemonProblem.refused(_, let name, _) where Self.statuses[name] != nil {
        answer.resume(returning: ManagementChannel.Answer(status: Self.statuses[name] ?? 0, parameters: []))
      } catch { answer.resume(throwing: error) }
    }
    return answer
  }

  /// The errors for which bluetoothd had a status of the management channel.
  private static let statuses = [
    "org.bluez.Error.AuthenticationFailed": ManagementStatus.authenticationFailed,
    "org.bluez.Error.AuthenticationRejected": ManagementStatus.authenticationFailed,
    "org.bluez.Error.AuthenticationTimeout": ManagementStatus.timeout,
    "org.bluez.Error.AuthenticationCanceled": ManagementStatus.canceled,
    "org.bluez.Error.InProgress": ManagementStatus.busy,
  ]

  private func perform(_ command: ManagementCommand) async throws {
    switch command {
    case .pair(_, let ability):
      // bluetoothd has the names of our enumeration.
      let name = "\(ability)".prefix(1).uppercased() + "\(ability)".dropFirst()
      try await daemon.call("org.bluez.AgentManager1.RegisterAgent", at: "/org/bluez", [.path(Self.agent), .text(name)])
      isPairing = true
      defer { isPairing = false }
      // The caller limits the silence.
      _ = try await race({ try await self.daemon.call("org.bluez.Device1.Pair", at: self.device.path, limit: .seconds(600)) }, untilPaired)
    case .confirm(_, let isSame): settle(isSame ? [] : nil)
    case .enter(_, let passkey): settle(passkey.map { [.number(UInt64($0.number))] })
    case .cancelPairing:
      // It would also cancel a pairing of another program.
      if isPairing { try await daemon.call("org.bluez.Device1.CancelPairing", at: device.path) }
    case .unpair: try await daemon.forget(device)
    // Settings and keys belong to bluetoothd.
    default: break
    }
  }

  /// Waits until bluetoothd has the keys. Before bluetoothd 5.66 answers Pair, it looks for services, but our connection occupies the
  /// channel. It then sends neither an answer nor a signal, so blectl reads the property.
  private func untilPaired() async throws -> [BusValue] {
    while true {
      try await EventLoop.shared.sleep(for: .milliseconds(250))
      let property: [BusValue] = [.text("org.bluez.Device1"), .text("Paired")]
      let values = try await daemon.call("org.freedesktop.DBus.Properties.Get", at: device.path, property)
      if values == [.number(1)] { return values }
    }
  }

  // MARK: The agent

  private func received(_ message: BusMessage) {
    let isOurs = message.path == Self.agent && message.values.first == .text(device.path)
    let digits: SixDigits? =
      if case .number(let number)? = message.values.dropFirst().first { UInt32(exactly: number).flatMap { SixDigits($0) } } else { nil }
    switch (message.member, digits) {
    case ("RequestPasskey", nil) where isOurs: ask(message, .passkeyRequest(peer))
    case ("RequestAuthorization", nil) where isOurs: ask(message, .confirmation(peer, nil))
    case ("RequestConfirmation", let number?) where isOurs: ask(message, .confirmation(peer, number))
    case ("DisplayPasskey", let passkey?) where isOurs:
      message.answer([])
      observer?(.passkeyDisplay(peer, passkey))
    case ("Cancel", _), ("Release", _):
      question = nil
      message.answer([])
    // PIN codes, services, and other devices.
    default: message.answer(nil)
    }
  }

  private func ask(_ call: BusMessage, _ event: ManagementEvent) {
    settle(nil)
    question = call
    observer?(event)
  }

  /// Answers the open question. Nil rejects it.
  private func settle(_ values: [BusValue]?) {
    question?.answer(values)
    question = nil
  }
}
