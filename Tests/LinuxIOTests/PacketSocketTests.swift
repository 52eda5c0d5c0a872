import Glibc
import SystemPackage
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PacketSocketTests {
  /// A UDP socket with a full buffer drops and counts packets, as the kernel's L2CAP sockets do.
  @Test(.onLoop) @LoopActor func lossIsCounted() async throws {
    let descriptor = try SystemCall.socket(AF_INET, SOCK_DGRAM)
    let number = descriptor.rawValue
    try SystemCall.setOption(number, SOL_SOCKET, SO_RCVBUF, Int32(4096))
    try SystemCall.setOption(number, SOL_SOCKET, SO_RXQ_OVFL, Int32(1))
    // A socket that is connected to itself, on an automatic port.
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    try SystemCall.bind(number, SocketAddress(address))
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try SystemCall.call {
      unsafe withUnsafeMutableBytes(of: &address) {
        unsafe getsockname(number, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      }
    }
    try SystemCall.connect(number, SocketAddress(address))
    let socket = PacketSocket(descriptor, largest: 100)
    for _ in 0..<200 { try socket.send([UInt8](repeating: 1, count: 50)) }
    var (received, lost) = (0, 0)
    socket.handler = { event in
      switch event {
      case .packet: received += 1
      case .dropped(let count): lost += count
      case .cut, .ended: break
      }
    }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(received < 200)
    // HCI sockets have only this counter.
    #expect(socket.droppedPackets == 200 - received)
    // The count arrives with the next delivered packet.
    try socket.send([2])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(lost > 0)
    #expect(received + lost == 201)
    socket.close()
  }

  /// After a change for which the kernel blocks the socket, packets wait until it is writable.
  @Test(.onLoop) @LoopActor func heldPackets() async throws {
    let pair = SocketPair()
    let socket = PacketSocket(pair.takeOther(), largest: 4)
    socket.hold()
    try socket.send([1])
    #expect(socket.hasBacklog)
    #expect(pair.read() == nil)
    let hasRoom = try await socket.waitForRoom()
    #expect(hasRoom)
    #expect(pair.read() == [1])
    socket.close()
  }

  @Test(.onLoop) @LoopActor func aPacketLongerThanTheBufferIsCutAndSaidToBe() async throws {
    let pair = SocketPair()
    let socket = PacketSocket(pair.takeOther(), largest: 4)
    var cut: [(bytes: [UInt8], length: Int)] = []
    socket.handler = { if case .cut(let bytes, let length) = $0 { cut.append((bytes, length)) } }
    try pair.write([1, 2, 3, 4, 5, 6])
    try await pair.settle()
    #expect(cut.first?.bytes == [1, 2, 3, 4])
    #expect(cut.first?.length == 6)
    socket.close()
  }

  @Test(.onLoop) @LoopActor func aHandlerMayCloseInTheMiddle() async throws {
    let pair = SocketPair()
    let socket = PacketSocket(pair.takeOther(), largest: 16)
    var count = 0
    socket.handler = { _ in
      count += 1
      socket.close()
    }
    for _ in 0..<3 { try pair.write([1]) }
    try await pair.settle()
    #expect(count == 1)
    #expect(throws: Errno.socketNotConnected) { try socket.send([1]) }
  }
}

@Suite(.timeLimit(.minutes(15))) struct OutputQueueTests {
  @Test func partsOfPacketsInOrder() {
    var queue = OutputQueue()
    var taken: [UInt8] = []
    for number in 0..<1000 { queue.append([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 5 + 1)) }
    let all = (0..<1000).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 % 5 + 1) }
    while let front = queue.front {
      let part = front.prefix(2)
      taken += part
      queue.removeFirst(part.count)
    }
    #expect(taken == all)
    #expect(queue.isEmpty)
    #expect(queue.count == 0)
    queue.removeFirst()
    queue.removeFirst(3)
    #expect(queue.front == nil)
  }
}
