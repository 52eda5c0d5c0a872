import Foundation
import TestSupport
import Traces

/// `decode trace`, tshark and btmon agree on every packet: direction, time, opcodes, and each field with a name in both
/// (`trace_judges.py`). The traces are our own of the simulator and of Bumble's controller, and Bumble's own of the other end (pcap). The
/// last one is btmon's recording of two adapters of the Linux kernel.
@Suite(.timeLimit(.minutes(15))) struct TraceJudgesTests {
  private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  /// - Parameter packets: The minimum number of packets.
  private func expectAgreement(on trace: String, packets: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw BumbleAir.NoPython() }
    let script = Self.here.appendingPathComponent("trace_judges.py").path
    let said = try RunningProcess.run([python, script, Blectl.path, trace])
    #expect(said.status == 0, "\(said.errors)", sourceLocation: sourceLocation)
    #expect(said.lines.count == 1, "\(said.text)", sourceLocation: sourceLocation)
    let count = said.lines.last?.split(separator: " ").first.flatMap { Int($0) } ?? 0
    #expect(count >= packets, "\(said.text)", sourceLocation: sourceLocation)
  }

  @Test func ours() throws {
    for (peer, commands) in [
      ("name:Band-7", "services --values; write ff02 1b9902; notify ff01 -n 3 -d 3; read 2a19; write 2a19 01; notify 2a37 -n 2"),
      ("name:Panel", "services; write fff6 \(Bytes.hex(Bytes.picture(300))) --mode command"),
    ] {
      let trace = TemporaryPath()
      _ = try Blectl.run(["-e", commands, peer, "-k", "--trace", trace.path])
      try expectAgreement(on: trace.path, packets: 150)
    }
  }

  /// Traces of Bumble's peripheral with its controller, and Bumble's own recording as a client of the simulator.
  @Test func bumble() throws {
    let trace = TemporaryPath()
    let air = try BumbleAir()
    let result = try air.blectl(
      "-e", "services --values; read ffe3; write ffe4 0102; write ffe1 \(Bytes.hex("ping")) --expect ffe2; notify ffe5 -d 1",
      BumbleAir.peer,
      "-k", "--trace", trace.path)
    #expect([0, 2].contains(result.status), "\(result.errors)")
    air.stop()
    try expectAgreement(on: trace.path, packets: 50)
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw BumbleAir.NoPython() }
    let socket = TemporaryPath()
    let simulated = try Blectl.start(["sim", "--stay", "--listen", "unix:\(socket.path)"], adapter: nil, virtual: false)
    #expect(simulated.waitForOutput(containing: "Listening"))
    let theirs = TemporaryPath()
    let environment = ProcessInfo.processInfo.environment.merging(["BUMBLE_SNOOPER": "pcapsnoop:file:\(theirs.path)"]) { $1 }
    let client = try RunningProcess(
      [python, Self.here.appendingPathComponent("bumble_client.py").path, "unix:\(socket.path)"], environment: environment)
    for line in [
      "scan", "connect C0:FF:EE:00:00:07/P", "read 2a19", "subscribe 2a37", "command ff02 1b9902", "subscribe ff01", "link", "disconnect",
    ] {
      client.send(line: line)
      #expect(client.nextLine { $0.contains("\"event\": \"done\"") } != nil, "\(line)")
    }
    #expect(client.finish().status == 0)
    try expectAgreement(on: theirs.path, packets: 50)
    simulated.end(by: SIGINT)
  }

  /// A recording of a bluetoothd session, made with `btmon -w`.
  @Test func kernel() throws {
    let trace = TemporaryPath()
    try trace.write(Array(Vectors.own("kernel.btsnoop")))
    try expectAgreement(on: trace.path, packets: 50)
  }

  /// The same recording in the files of phones: Apple's PacketLogger, and the log of an Android bug report.
  @Test func files() throws {
    let trace = TemporaryPath()
    let packets = try Snoop.parse(Array(Vectors.own("link-without-advertisement.btsnoop"))).map {
      ($0.packet, $0.direction, $0.wallClock / 1000)
    }
    for file in [
      PackedFiles.packetLogger(packets, isLittle: false), PackedFiles.packetLogger(packets, isLittle: true),
      PackedFiles.report(packets, version: 1), PackedFiles.report(packets, version: 2), Array(try Vectors.own("bugreport.txt")),
      Array(try Vectors.own("own.btsnoop.gz")),
    ] {
      try trace.write(file)
      try expectAgreement(on: trace.path, packets: 2)
    }
  }
}
