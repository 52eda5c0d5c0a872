import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// The HCI user channel, through which this process owns the whole controller, without the kernel's stack.
/// Opening the channel needs CAP_NET_ADMIN and an adapter that is down. The kernel takes the adapter down again when the channel closes.
@LoopActor
package final class UserChannel: Transport {
  package let name: String
  private let socket: PacketSocket

  /// Opens the channel of adapter `hciN`, where N is the index.
  /// - Throws: AdapterProblem if the adapter is unavailable.
  package static func open(_ index: Int) throws(AdapterProblem) -> UserChannel {
    do throws(Errno) {
      let descriptor = try SystemCall.hciSocket()
      SystemCall.raiseReceiveBuffer(descriptor.rawValue, to: 2 << 20)
      let number = descriptor.rawValue
      try Capabilities.raised(.netAdmin) { () throws(Errno) in
        try SystemCall.bind(number, .hci(adapter: UInt16(clamping: index), channel: HCI_CHANNEL_USER))
      }
      return UserChannel(descriptor, name: "user:\(index)")
    } catch {
      // The kernel or another program uses a busy adapter. bind() reports the same error for both.
      let isTaken = error == .resourceBusy && (try? AdapterList.adapters())?.first { $0.index == index }?.isTaken == true
      throw problem(isTaken ? .tooManyUsers : error, adapter: "hci\(index)")
    }
  }

  nonisolated static func problem(_ error: Errno, adapter name: String) -> AdapterProblem {
    // The only code with another meaning than on a raw socket.
    error == .resourceBusy ? .inUse(name) : .of(error, adapter: name, .openingUserChannel)
  }

  init(_ descriptor: consuming OwnedDescriptor, name: String) {
    self.name = name
    // The size of the largest ACL packet that the format allows.
    socket = PacketSocket(descriptor, largest: 65_540)
  }

  /// The callback for events. The channel starts to read when a caller sets it.
  package var handler: (@LoopActor (TransportEvent) -> Void)? {
    didSet {
      guard let handler else {
        socket.handler = nil
        return
      }
      socket.handler = { [weak self] event in
        guard let self else { return }
        switch event {
        // The host counts a cut packet as malformed.
        case .packet(let packet), .cut(let packet, _): handler(.received(packet))
        // The user channel has no SO_RXQ_OVFL: see `droppedPackets`.
        case .dropped: break
        case .ended(let error): handler(.closed(lost(error)))
        }
      }
    }
  }

  package func send(_ packet: [UInt8]) { do throws(Errno) { try socket.send(packet) } catch { socket.fail(error) } }

  package var droppedPackets: Int? { socket.droppedPackets }

  package func close() { socket.close() }

  private func lost(_ error: Errno?) -> AdapterProblem {
    let adapter = name.replacing("user:", with: "hci")
    return switch error {
    case nil, .brokenPipe, .operationNotSupportedByDevice, .badDescriptorState: .unplugged(adapter)
    case .some(let error): .of(error, adapter: adapter, .usingUserChannel)
    }
  }
}
