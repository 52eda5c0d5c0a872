package import BluetoothLE
import Testing

/// A link request and its result, the same on every host: a command or an error.
package struct LinkRequestCase: Sendable, CustomTestStringConvertible {
  package enum Request: Sendable {
    case interval(Duration)
    case phy(PHY)
    case dataLength(Int)
  }

  package enum Outcome: Sendable {
    /// The host sends a command, after which the link has these parameters.
    case sends(CommandPacket)
    /// The link already has these parameters.
    case nothing
    case fails(GAPError)
  }

  package let testDescription: String
  package var supported: [Opcode] = LinkRequestCase.modern
  /// The status of the link layer's procedure. Nil means that the controller is silent.
  package var status: ControllerErrorCode? = .success
  let requests: [(Request, Outcome)]

  init(_ name: String, supported: [Opcode] = modern, status: ControllerErrorCode? = .success, _ requests: (Request, Outcome)...) {
    testDescription = name
    self.supported = supported
    self.status = status
    self.requests = requests
  }

  package static let modern: [Opcode] = [LEConnectionUpdate.opcode, LESetPHY.opcode, LEReadPHY.opcode, LESetDataLength.opcode]
  /// The adapter of every host in this table.
  package static let adapter = "hci0"
  package static let peer = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
  package static let handle: ConnectionHandle = 0x40

  private static func interval(_ units: ConnectionInterval, _ timeout: Centiseconds) -> Outcome {
    .sends(
      LEConnectionUpdate(
        handle: handle, ConnectionParameters(intervalMin: units, intervalMax: units, latency: 0, supervisionTimeout: timeout)
      ).packet)
  }

  private static func phy(_ phy: PHY) -> Outcome { .sends(LESetPHY(handle: handle, tx: PHYMask(phy), rx: PHYMask(phy)).packet) }

  private static func length(_ bytes: UInt16, _ time: UInt16) -> Outcome {
    .sends(LESetDataLength(handle: handle, txOctets: bytes, txTime: time).packet)
  }

  package static let all: [Self] = [
    Self("the shortest interval", (.interval(.microseconds(7500)), interval(6, 400))),
    Self("an interval between two", (.interval(.milliseconds(16)), interval(13, 400))),
    Self("the longest interval", (.interval(.seconds(4)), interval(3200, 2400))),
    Self("no interval", (.interval(.zero), .fails(.intervalOutOfRange(.zero)))),
    Self("too short an interval", (.interval(.microseconds(7499)), .fails(.intervalOutOfRange(.microseconds(7499))))),
    Self("too long an interval", (.interval(.milliseconds(4001)), .fails(.intervalOutOfRange(.milliseconds(4001))))),
    Self("2M", (.phy(.le2M), phy(.le2M))), Self("coded", (.phy(.coded), phy(.coded))),
    Self(
      "an old controller", supported: [LEConnectionUpdate.opcode],
      (.phy(.le2M), .fails(.unsupported(adapter: adapter, .phy(.le2M)))),
      (.dataLength(251), .fails(.unsupported(adapter: adapter, .dataLength(251)))),
      (.dataLength(252), .fails(.dataLengthOutOfRange(252))), (.interval(.milliseconds(15)), interval(12, 400))),
    Self("a data length", (.dataLength(100), length(100, 912)), (.dataLength(100), .nothing), (.dataLength(27), length(27, 328))),
    Self("the shortest data length, which a link has", (.dataLength(27), .nothing)),
    Self("the longest data length", (.dataLength(251), length(251, 2120))),
    Self("on 2M, where it may be 1M again", (.phy(.le2M), phy(.le2M)), (.dataLength(251), length(251, 2120))),
    Self("on coded, which is slow", (.phy(.coded), phy(.coded)), (.dataLength(251), length(251, 17_040))),
    Self("too short a data length", (.dataLength(26), .fails(.dataLengthOutOfRange(26)))),
    Self("too long a data length", (.dataLength(1000), .fails(.dataLengthOutOfRange(1000)))),
    Self(
      "a peer that refuses", status: .unacceptableParameters,
      (.interval(.milliseconds(15)), .fails(.notAgreed(peer, .connectionInterval(.milliseconds(15)), .unacceptableParameters))),
      (.phy(.le2M), .fails(.notAgreed(peer, .phy(.le2M), .unacceptableParameters)))),
    Self(
      "a peer that is silent", status: nil,
      (.interval(.milliseconds(15)), .fails(.noAnswer(peer, .connectionInterval(.milliseconds(15))))),
      (.phy(.le2M), .fails(.noAnswer(peer, .phy(.le2M))))),
  ]

  /// Returns the controller's answer. Nil for commands outside of the table.
  package func answer(to command: CommandPacket) -> [Event]? {
    let begun = Event.commandStatus(Event.CommandStatus(status: .success, opcode: command.opcode))
    if let update = LEConnectionUpdate(command) {
      return [begun]
        + (status.map {
          [
            .leConnectionUpdateComplete(
              status: $0, handle: Self.handle, interval: update.parameters.intervalMax, latency: 0,
              supervisionTimeout: update.parameters.supervisionTimeout)
          ]
        } ?? [])
    }
    if let set = LESetPHY(command) {
      let phy = (set.tx.phys.first ?? .le1M).rawValue
      return [begun] + (status.map { [.lePHYUpdateComplete(status: $0, handle: Self.handle, tx: phy, rx: phy)] } ?? [])
    }
    if let set = LESetDataLength(command) {
      return [
        .commandComplete(Event.CommandComplete(LESetDataLength.self, HandleReturned(Self.handle))),
        .leDataLengthChange(
          handle: Self.handle, maxTxOctets: set.txOctets, maxTxTime: set.txTime, maxRxOctets: 27, maxRxTime: 328),
      ]
    }
    if command.opcode == LEReadPHY.opcode {
      return [.commandComplete(Event.CommandComplete(LEReadPHY.self, LEReadPHY.Return(handle: Self.handle, tx: 1, rx: 1)))]
    }
    return nil
  }

  /// - Parameter commands: All commands that the controller has received so far.
  @LoopActor
  package func check(on link: any Link, commands: @LoopActor () -> [CommandPacket]) async {
    for (request, outcome) in requests {
      let before = commands().count
      var failure: (any Error)?
      do {
        _ =
          switch request {
          case .interval(let interval): try await link.requestInterval(interval)
          case .phy(let phy): try await link.requestPHY(phy)
          case .dataLength(let bytes): try await link.requestDataLength(bytes)
          }
      } catch {
        failure = error
      }
      let sent = commands().dropFirst(before).filter {
        [LEConnectionUpdate.opcode, LESetPHY.opcode, LESetDataLength.opcode].contains($0.opcode)
      }
      switch outcome {
      case .sends(let command): #expect(sent == [command] && failure == nil, "\(request): \(sent) \(String(describing: failure))")
      case .nothing: #expect(sent.isEmpty && failure == nil, "\(request): \(sent) \(String(describing: failure))")
      case .fails(let error): #expect(failure as? GAPError == error, "\(request): \(String(describing: failure))")
      }
    }
  }
}
