import Testing

@testable import LinuxIO

@Suite(.timeLimit(.minutes(1))) struct TransportAddressTests {
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
