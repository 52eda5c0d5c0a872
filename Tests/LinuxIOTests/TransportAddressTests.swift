import Glibc
import SystemPackage
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct TransportAddressTests {
  @Test(arguments: [
    ("tcp:localhost:9000", TransportAddress.tcp(host: "localhost", port: 9000)),
    ("tcp:[::1]:65535", .tcp(host: "::1", port: 65535)),
    ("tcp:::1:1", .tcp(host: "::1", port: 1)),
    ("unix:/run/hci", .unix(path: "/run/hci")),
    ("unix:a:b", .unix(path: "a:b")),
    ("serial:/dev/ttyACM0", .serial(path: "/dev/ttyACM0", baud: 1_000_000)),
    ("serial:/dev/ttyUSB1@115200", .serial(path: "/dev/ttyUSB1", baud: 115_200)),
  ]) func understood(text: String, address: TransportAddress) throws {
    #expect(try TransportAddress(text) == address)
    #expect(try TransportAddress(address.description) == address)
  }

  @Test(arguments: [
    "", "tcp", "tcp:", "tcp:host", "tcp:host:", "tcp::9000", "tcp:host:0", "tcp:host:65536", "tcp:host:99999999999999999999", "tcp:host:9١",
    "tcp:host:+1", "tcp:[]:1", "unix:", "unix:a\0b", "serial:", "serial:@9600", "serial:/dev/x@", "serial:/dev/x@12345", "udp:a:1", "hci0",
    "unix:\(String(repeating: "x", count: 108))",
  ]) func refused(text: String) {
    let error = #expect(throws: TransportError.self) { try TransportAddress(text) }
    if case .notAnAddress(text, _)? = error {} else { Issue.record("\(error.map { "\($0)" } ?? "accepted")") }
  }

  @Test func whereToListen() throws {
    #expect(try TransportAddress(listening: "tcp:localhost:0") == .tcp(host: "localhost", port: 0))
    #expect(try TransportAddress(listening: "unix:/run/air") == .unix(path: "/run/air"))
    #expect(throws: TransportError.notAnAddress("serial:/dev/x", .listener)) { try TransportAddress(listening: "serial:/dev/x") }
    #expect(throws: TransportError.notAnAddress("tcp:host", .port)) { try TransportAddress(listening: "tcp:host") }
  }
}

@Suite(.timeLimit(.minutes(15))) struct SerialPortTests {
  /// A pseudo terminal has a line discipline like a serial line. Bytes with a meaning to terminals must pass unchanged.
  @Test(.onLoop) @LoopActor func theLineIsRaw() async throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var name = [UInt8](repeating: 0, count: 64)
    try SystemCall.call {
      unsafe name.withUnsafeMutableBytes {
        unsafe openpty(&master, &slave, $0.baseAddress?.assumingMemoryBound(to: CChar.self), nil, nil)
      }
    }
    // This side must keep the line open until the port has opened it.
    let other = OwnedDescriptor(slave)
    let line = OwnedDescriptor(master)
    _ = fcntl(line.rawValue, F_SETFL, O_NONBLOCK)
    let path = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    let transport = try SerialPort.open(path)
    var packets: [[UInt8]] = []
    transport.handler = { if case .received(let packet) = $0 { packets.append(packet) } }
    let packet: [UInt8] = [4, 0xFF, 8, 0x03, 0x04, 0x0A, 0x0D, 0x11, 0x13, 0x1A, 0x7F]
    _ = try SystemCall.write(line.rawValue, packet[...])
    while packets.isEmpty { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(packets == [packet])
    transport.send([1, 3, 0x0C, 0])
    var buffer = [UInt8](repeating: 0, count: 16)
    while true {
      if let count = try? SystemCall.read(line.rawValue, into: &buffer) {
        #expect(Array(buffer[..<count]) == [1, 3, 0x0C, 0])
        break
      }
      try await EventLoop.shared.sleep(for: .milliseconds(1))
    }
    transport.close()
    _ = other.rawValue
  }

  @Test(.onLoop) @LoopActor func refusals() async throws {
    for (path, errno) in [
      ("/dev/null", Errno.inappropriateIOCTLForDevice), ("/dev/ttyNOTHING", .noSuchFileOrDirectory), ("/tmp", .isDirectory),
    ] {
      #expect(throws: TransportError.serialLine(.serial(path: path, baud: 9600), errno)) { try SerialPort.open(path, baud: 9600) }
    }
    #expect(throws: TransportError.unknownBaudRate(1234)) { try SerialPort.open("/dev/null", baud: 1234) }
  }
}
