import Foundation
import TestSupport

extension KernelTests {
  /// Runs the program with file capabilities, as an unprivileged user has it from the package.
  @Suite struct CapabilityTests {
    private static let program = "/tmp/program/blectl"
    private static let asNobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    private static let both: UInt64 = 1 << 12 | 1 << 13
    /// Files that the libraries must not open for the user nobody. The files of nobody itself are elsewhere.
    private static let environment = [
      "PATH": "/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": "/tmp/capable/home", "TERMINFO": "/tmp/capable/terminfo",
      "TERMINFO_DIRS": "/tmp/capable/dirs:/tmp/capable/terminfo", "TERMCAP": "/tmp/capable/home/termcap", "NCURSES_NO_SETBUF": "1",
      "INPUTRC": "/tmp/capable/home/inputrc", "XDG_STATE_HOME": "/tmp/capable/state", "XDG_CONFIG_HOME": "/tmp/capable/config",
    ]

    init() throws {
      try Guest.lock()
      guard !FileManager.default.fileExists(atPath: Self.program) else { return }
      let script = """
        mkdir -p /tmp/program /tmp/capable/home/.terminfo /tmp/capable/terminfo /tmp/capable/dirs /tmp/capable/state && cd /tmp/capable
        for folder in home/.terminfo terminfo dirs; do mkdir -p $folder/x; cp /lib/terminfo/x/xterm $folder/x/; done
        printf '"\\C-t": "inputrc"\\n' | tee home/.inputrc >home/inputrc
        chmod -R a+rwX /tmp/capable && cp '\(Blectl.path)' \(Self.program) && setcap cap_net_raw,cap_net_admin=p \(Self.program)
        """
      try Guest.must("sh", "-ec", script)
    }

    private func start(_ arguments: String...) throws -> RunningProcess {
      try RunningProcess(Self.asNobody + [Self.program] + arguments, environment: Self.environment)
    }

    private func run(_ arguments: String..., input: String? = nil) throws -> ProcessResult {
      try RunningProcess.run(Self.asNobody + [Self.program] + arguments, input: input.map { Array($0.utf8) }, environment: Self.environment)
    }

    /// Returns CapPrm and CapEff of each thread of the blectl that runs as nobody.
    private func rights() throws -> [[UInt64]] {
      let script = #"for task in /proc/$(pgrep -u 65534 -x blectl)/task/*; do echo $(sed -n 's/^Cap\(Prm\|Eff\):\t//p' $task/status); done"#
      return try Guest.must("sh", "-ec", script).split(separator: "\n").map { line in
        line.split(separator: " ").compactMap { UInt64($0, radix: 16) }
      }
    }

    private func expectRights(_ permitted: UInt64, _ place: SourceLocation = #_sourceLocation) throws {
      let rights = try rights()
      #expect(!rights.isEmpty && rights.allSatisfy { $0 == [permitted, 0] }, "\(rights)", sourceLocation: place)
    }

    // MARK: What it has

    @Test(arguments: [
      (["decode", "adv", "-"], "020106", "Flags", 0), (["-i", "sim", "repl", "--json"], "adapters", "done", 0),
      (["sim", "--listen", "unix:/tmp/capable/air"], "", "unix:/tmp/capable/air", 0),
      (["-i", "hci0", "repl", "--json"], "adapters", "done", both), (["-i", "hci0", "scan", "--duration", "0"], "", BumbleAir.peer, both),
    ])
    func ofEachThread(_ arguments: [String], _ line: String, _ answer: String, _ permitted: UInt64) throws {
      let running = try RunningProcess(Self.asNobody + [Self.program] + arguments, environment: Self.environment)
      running.send(line: line)
      let isAnswered = running.waitForOutput(containing: answer)
      try #require(isAnswered, "\(arguments)")
      try expectRights(permitted)
      running.signal(SIGINT)
      running.finish()
    }

    @Test(arguments: [("hci0", both), ("sim", 0)]) func ofScreens(_ adapter: String, _ permitted: UInt64) throws {
      for command in ["repl", "browse"] {
        let terminal = try PseudoTerminal(
          Self.asNobody + [Self.program, "-i", adapter, command], columns: 80, rows: 24, environment: Self.environment, hasKeys: true)
        #expect(terminal.wait(for: command == "repl" ? "blectl>" : adapter == "sim" ? "Band-7" : "Lock-01"))
        try expectRights(permitted)
        terminal.type(command == "repl" ? "\u{4}" : "q")
        #expect(terminal.finish().status == 0)
      }
    }

    // MARK: What it uses them for

    @Test func everythingWorks() throws {
      let scan = try run("-i", "hci0", "scan", "--json", "--name", "Lock-01", "--count", "1")
      #expect(try scan.status == 0 && scan.records.first?.string("address") == BumbleAir.peer, "\(scan.errors)")
      let doctor = try run("-i", "hci0", "doctor", "--json")
      let told = try doctor.records.first { $0.string("subject") == "rights" }
      #expect(doctor.status == 0 && told?.string("message") == "CAP_NET_RAW, CAP_NET_ADMIN", "\(doctor.text)")
      // The kernel reveals the type of an address only to processes with CAP_NET_ADMIN.
      let listening = try start("-i", "hci0", "notify", "\(BumbleAir.peer)/random", "ffe5", "--json")
      #expect(listening.waitForOutput(containing: "notification"))
      let peer = try run("-i", "hci0", "peers", "--json").records.first { $0.string("address") == BumbleAir.peer }
      #expect(peer?.string("address_type") == "random" && peer?.bool("connected") == true)
      #expect(listening.end(by: SIGINT).status == 130)
      try Guest.expectQuiet()
      try Guest.switchOff("hci0")
      defer { _ = try? Guest.switchOn("hci0") }
      let user = try run("-i", "user:0", "scan", "--json", "--name", "Lock-01", "--count", "1")
      #expect(try user.status == 0 && user.records.first?.string("address") == BumbleAir.peer, "\(user.errors)")
    }

    /// Each capability is effective only during the system calls that need it.
    @Test func theyAreRaisedAroundSingleCalls() throws {
      let trace = TemporaryPath()
      let traced = ["strace", "-f", "-u", "nobody", "-o", trace.path, Self.program]
      let scan = try RunningProcess.run(
        traced + ["-i", "hci0", "scan", "--json", "--name", "Lock-01", "--count", "1"], environment: Self.environment)
      #expect(scan.status == 0, "\(scan.errors)")
      var isRaised = false
      var calls: [Substring: Int] = [:]
      for line in try String(contentsOfFile: trace.path, encoding: .utf8).split(separator: "\n") {
        let call = line.drop { $0.isNumber || $0 == " " }
        let name = call.prefix { $0 != "(" }
        if name == "capset" {
          isRaised = !call.contains("{effective=0,")
          #expect(!call.contains("1<<CAP_NET_ADMIN|1<<CAP_NET_RAW, permitted"), "\(call)")
        } else if isRaised {
          calls[name, default: 0] += 1
        }
      }
      #expect(!isRaised && Set(calls.keys) == ["bind", "setsockopt", "sendto", "capget"], "\(calls)")
    }

    // MARK: What they are kept from

    @Test(arguments: ["repl", "browse"]) func librariesOpenNothingOfTheCallers(_ command: String) throws {
      let trace = TemporaryPath()
      let terminal = try PseudoTerminal(
        ["strace", "-f", "-u", "nobody", "-o", trace.path, "-e", "trace=%file,capset", Self.program, "-i", "hci0", command], columns: 80,
        rows: 24, environment: Self.environment, hasKeys: true)
      #expect(terminal.wait(for: command == "repl" ? "blectl>" : "Lock-01"))
      // The user's inputrc binds this key.
      terminal.type(command == "repl" ? "\u{14}\u{15}\u{4}" : "q")
      #expect(terminal.finish().status == 0)
      let calls = try String(contentsOfFile: trace.path, encoding: .utf8).split(separator: "\n").filter { !$0.contains("execve(") }
      #expect(calls.contains { $0.contains("\"/lib/terminfo/x/xterm\"") }, "\(calls)")
      let ours = ["/tmp/capable/state", "/tmp/capable/config"]
      let theirs = calls.filter { call in call.contains("/tmp/capable/") && !ours.contains { call.contains($0) } }
      #expect(theirs.isEmpty, "\(theirs)")
    }

    @Test func childrenHaveTheCallersEnvironmentAndNoCapabilities() throws {
      let result = try run("-i", "hci0", "repl", input: "!env\n!grep ^Cap /proc/self/status\n")
      for name in ["HOME", "TERMINFO", "TERMINFO_DIRS", "TERMCAP", "INPUTRC", "NCURSES_NO_SETBUF"] {
        #expect(result.lines.contains("\(name)=\(Self.environment[name] ?? "")"), "\(result.text)")
      }
      for set in ["Inh", "Prm", "Eff", "Amb"] { #expect(result.lines.contains("Cap\(set):\t0000000000000000"), "\(result.text)") }
    }

    /// With no more rights than its caller, blectl is an ordinary program.
    @Test func theSimulatedAirHasTheCallersKeys() throws {
      let terminal = try PseudoTerminal(
        Self.asNobody + [Self.program, "-i", "sim", "repl"], columns: 80, rows: 24, environment: Self.environment, hasKeys: true)
      #expect(terminal.wait(for: "blectl>"))
      terminal.type("\u{14}")
      #expect(terminal.wait(for: "inputrc"))
      terminal.type("\u{15}\u{4}")
      #expect(terminal.finish().status == 0)
    }

    /// blectl runs without /proc, because the arguments come from the C library.
    @Test(arguments: ["umount -l /proc", "mount -t tmpfs none /proc"]) func runsWithoutProc(_ command: String) throws {
      let script = "mount --make-rprivate /; \(command); exec '\(Blectl.path)' -i sim read name:Band-7 2a19"
      let read = try RunningProcess.run(
        ["unshare", "-m", "sh", "-ec", script], environment: ["PATH": "/usr/bin:/bin", "BLECTL_CLOCK": "virtual"])
      #expect(read.status == 0 && read.text.hasPrefix("3c"), "\(read.text)\(read.errors)")
    }
  }
}
