/// Chooses the packets of a raw HCI socket for a trace. Root gets all packets. Other users get advertising reports
/// and the packets about links and commands of this process.
@LoopActor
final class KernelTrace {
  private let tap: any Tap
  private let recordsAll: Bool
  /// The peers of active connection attempts.
  private var attempts: [PeerAddress] = []
  private var handles: Set<ConnectionHandle> = []
  /// The new links to peers with an active connection attempt.
  private var new: [ConnectionHandle: PeerAddress] = [:]
  /// The packets of new links with unknown addresses during an attempt. An unknown address may be a private address of the wanted peer.
  private var held: [ConnectionHandle: [(packet: [UInt8], direction: Direction)]] = [:]
  private static let heldLimit = 64

  init(_ tap: any Tap, recordsAll: Bool) { (self.tap, self.recordsAll) = (tap, recordsAll) }

  // MARK: Which links are ours

  func attemptStarts(_ peer: PeerAddress) { attempts.append(peer) }

  /// Ends a connection attempt.
  /// - Parameter handle: The handle of the new link. Nil if the attempt failed or the handle is unknown.
  func attemptEnds(_ peer: PeerAddress, _ handle: ConnectionHandle?) {
    if let index = attempts.firstIndex(of: peer) { attempts.remove(at: index) }
    if let handle {
      handles.insert(handle)
      for (packet, direction) in held.removeValue(forKey: handle) ?? [] { tap.record(packet, direction, isOurs: true) }
    }
    if !attempts.contains(peer) { new = new.filter { $0.value != peer } }
    if attempts.isEmpty { held = [:] }
  }

  /// Forgets a link that this process does not use, because it has ended or the kernel keeps it for another program.
  func forget(_ handle: ConnectionHandle) {
    handles.remove(handle)
    new[handle] = nil
  }

  private func isOurs(_ handle: ConnectionHandle) -> Bool { handles.contains(handle) || new[handle] != nil }

  // MARK: Packets

  func sent(_ packet: [UInt8]) { tap.record(packet, .hostToController, isOurs: true) }

  /// Records a command of another program or of the kernel. Returns whether the command is about a link of this process.
  func recordForeign(_ packet: [UInt8]) -> Bool {
    let isOurs = isOurs(packet, .hostToController)
    record(packet, .hostToController, isOurs: isOurs)
    return isOurs
  }

  /// Records a packet from the controller.
  /// - Parameters:
  ///   - event: The decoded packet. Nil if the packet is malformed.
  ///   - isAnswer: Whether the packet answers a command of this process, or a command about a link of this process.
  func received(_ packet: [UInt8], _ event: Event?, isAnswer: Bool) {
    var packet = packet
    let isOurs: Bool =
      switch event {
      case .leAdvertisingReports, .leExtendedAdvertisingReports, .leDirectedAdvertisingReports: true
      case .commandComplete, .commandStatus: isAnswer
      case .leConnectionComplete(let complete): isOurs(complete, packet)
      case .numberOfCompletedPackets(let counts): isOurs(counts, &packet)
      case nil: false
      default: isOurs(packet, .controllerToHost)
      }
    record(packet, .controllerToHost, isOurs: isOurs)
    if case .disconnectionComplete(.success, let handle, _) = event { forget(handle) }
  }

  private func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool) {
    if isOurs || recordsAll { tap.record(packet, direction, isOurs: isOurs) }
  }

  private func isOurs(_ complete: Event.ConnectionComplete, _ packet: [UInt8]) -> Bool {
    let attempt = attempts.first { $0.address == complete.peer.address }
    guard complete.status == .success else { return attempt != nil }
    forget(complete.handle)
    new[complete.handle] = attempt
    held[complete.handle] = nil
    if attempt == nil, !attempts.isEmpty, !recordsAll { held[complete.handle] = [(packet, .controllerToHost)] }
    return attempt != nil
  }

  /// Returns whether a Number Of Completed Packets event has a count for a link of this process.
  /// - Parameter packet: The packet with the counts. Without `recordsAll`, this function removes the counts of other links.
  private func isOurs(_ counts: Event.CompletedPackets.List, _ packet: inout [UInt8]) -> Bool {
    let ours = counts.filter { isOurs($0.handle) }
    if !recordsAll, ours.count < counts.count {
      let bytes = ours.flatMap { [$0.handle.rawValue, $0.count] }.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
      packet = Event.other(code: 0x13, [UInt8(clamping: ours.count)] + bytes).encoded
    }
    return !ours.isEmpty
  }

  private func isOurs(_ packet: [UInt8], _ direction: Direction) -> Bool {
    guard let handle = LinkPacket.handle(packet) ?? LinkPacket.handle(ofCommand: packet) else { return false }
    if let count = held[handle]?.count, count < Self.heldLimit { held[handle]?.append((packet, direction)) }
    return isOurs(handle)
  }
}
