import Bluetooth
import EventLoop
import Glibc
import HCI
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

/// The other end of a stream, under the test's control, and what the transport said.
@LoopActor
private final class Rig {
  var other: OwnedDescriptor
  let transport: StreamTransport
  private(set) var packets: [[UInt8]] = []
  private(set) var ending: [TransportError] = []

  init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    other = OwnedDescriptor(ends[1])
    transport = StreamTransport(OwnedDescriptor(ends[0]), name: "test")
  }

  func listen() {
    transport.handler = { [unowned self] event in
      switch event {
      case .received(let packet): packets.append(packet)
      case .closed(let error): if let error = error as? TransportError { ending.append(error) } else { Issue.record(error) }
      }
    }
  }

  /// Lets the loop look at its descriptors: in virtual time a timer fires only when none is ready.
  func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
}

private let event: [UInt8] = [4, 0x0E, 4, 1, 3, 0x0C, 0]
private let data: [UInt8] = [2, 0x40, 0x20, 3, 0, 9, 8, 7]

@Suite struct StreamTransportTests {
  @Test(arguments: [1, 2, 3, 7, 100]) func packetsComeWholeHoweverTheyAreCut(part: Int) async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      var rest = (event + data + event)[...]
      while !rest.isEmpty {
        _ = try SystemCall.write(rig.other.rawValue, rest.prefix(part))
        rest = rest.dropFirst(part)
        try await rig.settle()
      }
      #expect(rig.packets == [event, data, event])
      #expect(rig.ending.isEmpty)
    }
  }

  @Test func keepsWhatCameBeforeTheHandler() async throws {
    try await onLoop {
      let rig = Rig()
      _ = try SystemCall.write(rig.other.rawValue, (event + data)[...])
      rig.other.close()
      try await rig.settle()
      rig.listen()
      try await rig.settle()
      #expect(rig.packets == [event, data])
      #expect(rig.ending == [.closedByController(transport: "test")])
    }
  }

  @Test func saysOnceThatTheOtherSideWent() async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      rig.other.close()
      try await rig.settle()
      rig.transport.send(event)
      try await rig.settle()
      #expect(rig.ending.count == 1)
    }
  }

  @Test func sendingToAnOtherSideThatWentEndsIt() async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      SignalWatch.ignoreBrokenPipes()
      rig.other.close()
      rig.transport.send(event)
      try await rig.settle()
      #expect(rig.ending.count == 1)
    }
  }

  /// The other side may stop reading and go on writing.
  @Test func aHalfClosedStreamEndsIt() async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      SignalWatch.ignoreBrokenPipes()
      try SystemCall.call { shutdown(rig.other.rawValue, Int32(SHUT_RD)) }
      _ = try SystemCall.write(rig.other.rawValue, event[...])
      rig.transport.send(event)
      #expect(rig.ending.isEmpty)
      try await rig.settle()
      #expect(rig.packets == [event])
      #expect(rig.ending == [.lost(transport: "test", .brokenPipe)])
    }
  }

  @Test func whatIsNotH4EndsIt() async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      _ = try SystemCall.write(rig.other.rawValue, (event + [0x77])[...])
      try await rig.settle()
      guard rig.ending.count == 1, case .notH4("test", _) = rig.ending[0] else { throw try #require(rig.ending.first) }
    }
  }

  @Test func closingIsSilentAndFinal() async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      _ = try SystemCall.write(rig.other.rawValue, event[...])
      rig.transport.close()
      rig.transport.close()
      rig.transport.send(event)
      try await rig.settle()
      #expect(rig.packets.isEmpty)
      #expect(rig.ending.isEmpty)
      var buffer = [UInt8](repeating: 0, count: 16)
      // 0, or ECONNRESET because something was left unread: closed in any case.
      let count = (try? SystemCall.read(rig.other.rawValue, into: &buffer)) ?? 0
      #expect(count == 0)
      #expect(throws: Errno.self) { try SystemCall.write(rig.other.rawValue, event[...]) }
    }
  }

  @Test func aHandlerMayCloseInTheMiddle() async throws {
    try await onLoop {
      let rig = Rig()
      var count = 0
      rig.transport.handler = { _ in
        count += 1
        rig.transport.close()
      }
      _ = try SystemCall.write(rig.other.rawValue, (event + event + event)[...])
      try await rig.settle()
      #expect(count == 1)
    }
  }

  /// A megabyte against a reader that sleeps at first: everything arrives, in order, and nothing blocks.
  @Test func aSlowReaderHoldsNothingUp() async throws {
    try await onLoop {
      let rig = Rig()
      rig.listen()
      var sent: [UInt8] = []
      for number in 0..<1000 {
        let packet = [2, 0x40, 0x20, 0xE8, 0x03] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1000)
        rig.transport.send(packet)
        sent += packet
      }
      var arrived: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 100_000)
      while arrived.count < sent.count {
        let before = arrived.count
        while let count = try? SystemCall.read(rig.other.rawValue, into: &buffer), count > 0 { arrived += buffer[..<count] }
        try await rig.settle()
        try #require(arrived.count > before)
      }
      #expect(arrived == sent)
    }
  }

  @Test(arguments: [AF_UNIX, AF_INET, AF_INET6]) func connects(family: Int32) async throws {
    try await onLoop {
      let listener = try Listener(family)
      defer { if case .unix(let path) = listener.address { unsafe unlink(path) } }
      let transport = try await StreamTransport.connect(to: listener.address, timeout: .seconds(5))
      defer { transport.close() }
      let other = OwnedDescriptor(try SystemCall.call { accept(listener.descriptor.rawValue, nil, nil) })
      transport.send(event)
      var buffer = [UInt8](repeating: 0, count: 100)
      let count = try SystemCall.read(other.rawValue, into: &buffer)
      #expect(Array(buffer[..<count]) == event)
    }
  }

  @Test func nobodyThere() async throws {
    try await onLoop {
      let listener = try Listener(AF_INET)
      listener.descriptor.close()
      let address = listener.address
      await #expect(throws: TransportError.notConnected(address, .connectionRefused)) { try await connectOnLoop(address) }
      let missing = TransportAddress.unix(path: "/nowhere/at/all")
      await #expect(throws: TransportError.notConnected(missing, .noSuchFileOrDirectory)) { try await connectOnLoop(missing) }
      let unknown = await #expect(throws: TransportError.self) { try await connectOnLoop(.tcp(host: "256.1.1.1.invalid", port: 1)) }
      if case .unknownHost("256.1.1.1.invalid", _)? = unknown {} else { Issue.record("\(unknown.map { "\($0)" } ?? "connected")") }
    }
  }
}

@LoopActor private func connectOnLoop(_ address: TransportAddress) async throws {
  _ = try await StreamTransport.connect(to: address, timeout: .seconds(5))
}

@LoopActor
private final class Listener {
  var descriptor: OwnedDescriptor
  let address: TransportAddress
  private let file = TemporaryPath()

  init(_ family: Int32) throws {
    descriptor = try SystemCall.socket(family, Int32(SOCK_STREAM.rawValue))
    if family == AF_UNIX {
      let path = file.path
      try SystemCall.bind(descriptor.rawValue, try #require(SocketAddress.unix(path)))
      let number = descriptor.rawValue
      try SystemCall.call { listen(number, 1) }
      address = .unix(path: path)
      return
    }
    if family == AF_INET6 {
      // sockaddr_in6, whose address is a union to Swift: port 0, no flow, ::1, no scope.
      let address = [UInt8(AF_INET6), 0] + [UInt8](repeating: 0, count: 6 + 15) + [1, 0, 0, 0, 0]
      try SystemCall.bind(descriptor.rawValue, SocketAddress(bytes: address))
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      try SystemCall.bind(descriptor.rawValue, SocketAddress(address))
    }
    let number = descriptor.rawValue
    try SystemCall.call { listen(number, 1) }
    // The port is at the same place in both families, in network order.
    var bytes = [UInt8](repeating: 0, count: 28)
    var length = socklen_t(bytes.count)
    try SystemCall.call {
      unsafe bytes.withUnsafeMutableBytes { bytes -> Int32 in
        guard let base = bytes.baseAddress else { return -1 }
        return unsafe getsockname(number, base.assumingMemoryBound(to: sockaddr.self), &length)
      }
    }
    address = .tcp(host: family == AF_INET6 ? "::1" : "127.0.0.1", port: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
  }
}
