import BluetoothLELinux
import Glibc
import Terminal
import TestSupport
import Traces

@testable import CommandLine
@testable import blectl

/// The effect of the first Ctrl-C, timed by the simulator's clock, so the machine's speed is irrelevant.
@Suite(.timeLimit(.minutes(15))) struct InterruptTests {
  @LoopActor private final class State {
    var interrupt: (@LoopActor (Int32) -> Void)?
    let status = Wait<Int32>()
  }

  @LoopActor private final class Pipe {
    let ends: [Int32]

    init() {
      var ends: [Int32] = [-1, -1]
      _ = unsafe pipe(&ends)
      for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
      self.ends = ends
    }

    isolated deinit { for end in ends { close(end) } }

    /// Fills the output until it accepts no more.
    func fill() {
      let spaces = [UInt8](repeating: 32, count: 4096)
      while unsafe write(ends[1], spaces, spaces.count) > 0 {}
    }

    func read() -> String {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe Glibc.read(ends[0], &buffer, buffer.count)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
  }

  /// A full standard output, with more waiting, does not prevent the end of the scan, the link and the program.
  @Test(arguments: [
    (["scan", "--duration", "0", "--duplicates"], 60, nil), (["notify", "name:Band-7", "2a37"], 120, nil),
    (["send-file", "name:Panel", "fff6", "FILE", "--gap", "50"], 10, "sim --listen"),
  ])
  func nobodyReadsTheOutput(_ words: [String], _ seconds: Int, _ mention: String?) async throws {
    let file = try TemporaryFolder.file(SendFileTests.picture)
    let trace = TemporaryPath()
    let arguments = words.map { $0 == "FILE" ? file : $0 } + ["--json", "--trace", trace.path]
    try await onLoop {
      let command = try Blectl.commands.command(from: arguments)
      let configuration = Configuration(environment: ["BLECTL_ADAPTER": "sim"])
      let (out, errors, state) = (Pipe(), Pipe(), State())
      out.fill()
      let output = Output(
        command.outputStyle, out: out.ends[1], err: errors.ends[1], limit: 256, environment: configuration.variable)
      let process = ProcessContext(command.process, output, configuration, Blectl.commands)
      EventLoop.shared.spawn {
        let status = await Program.run(command, process) { handler in
          state.interrupt = handler
          return SignalWatch([]) { _ in }
        }
        state.status.resume(returning: status)
      }
      try await EventLoop.shared.sleep(for: .seconds(seconds))
      #expect(!state.status.isSettled && !output.isFlushed)
      state.interrupt?(SIGINT)
      let status = try await state.status.value(until: EventLoop.shared.now.advanced(by: .seconds(2)))
      #expect(status == 130, "nil: it did not end within two seconds")
      let said = errors.read()
      #expect(said.firstMatch(of: /"note":"Discarded \d+ lines? of the result/) != nil, "\(said)")
      #expect(said.contains(#""kind":"interrupted""#) && mention.map(said.contains) ?? true, "\(said)")
      let packets = try Snoop.parse(try await InputFile.read(trace.path, limit: 64 << 20)).map(\.packet)
      // LE Set Scan Enable, LE Set Extended Scan Enable; LE Connection Complete and its enhanced form; Disconnection Complete.
      let scans = packets.filter { $0.starts(with: [1, 0x0C, 0x20]) || $0.starts(with: [1, 0x42, 0x20]) }.map { $0[4] }
      #expect(scans.first == 1 && scans.last == 0, "the scan was not switched off")
      let links = packets.count { $0.first == 4 && $0[1] == 0x3E && [1, 0x0A].contains($0[3]) }
      #expect(links == (words[0] == "scan" ? 0 : 1))
      #expect(packets.count { $0.starts(with: [4, 5]) } == links, "the link was not closed")
    }
  }
}
