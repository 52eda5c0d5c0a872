import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux
@testable import Program
@testable import blectl

@Suite(.timeLimit(.minutes(15))) struct DoctorTests {
  private static let full: UInt64 = 0x1FF_FFFF_FFFF
  private static let up = Examination.Adapter(
    info: AdapterInfo(index: 0, address: Address("AC:00:00:00:00:01"), isUp: true, bus: "usb", le: true), features: ["extended-advertising"]
  )

  private static func block(_ name: String, _ state: RFKill.State) -> RFKill.Switch {
    RFKill.Switch(device: "rfkill4", name: name, state: state)
  }

  private static func adapter(_ change: (inout AdapterInfo) -> Void) -> Examination.Adapter {
    var adapter = up
    change(&adapter.info)
    return adapter
  }

  /// Returns the findings for a machine: its adapters, if any, and the rights of the process.
  private static func findings(
    _ adapters: [Examination.Adapter]?, _ rights: ProcessCapabilities? = ProcessCapabilities(permitted: full, bounding: full),
    wanted: Int? = nil,
    blocked: RFKill.State? = nil, fileSystem: Mount? = nil, version: KernelVersion? = nil, daemons: [Int] = [], seesAll: Bool = true,
    hci: SocketUsers = SocketUsers(), l2cap: SocketUsers = SocketUsers()
  ) -> [Finding] {
    Examination(
      kernel: "6.1.0-27-amd64", version: version, adapters: adapters.map { .success($0) } ?? .failure(.kernelWithoutBluetooth),
      wanted: wanted, platformBlock: blocked.map { block("dell-bluetooth", $0) }, rights: rights, executable: "/opt/my tools/blectl",
      fileSystem: fileSystem, daemons: daemons, seesAllProcesses: seesAll, hci: hci, l2cap: l2cap
    ).findings
  }

  private static let users = SocketUsers(
    programs: [RunningProgram(process: 612, name: "bluetoothd"), RunningProgram(process: 900, name: "python3")], unknown: 1)

  /// Findings with the subject of their only failure, if any, and words of its advice.
  private static let cases: [(findings: [Finding], subject: String?, words: String)] = [
    (findings([up]), nil, ""),
    (findings(nil), "kernel", "-i sim"),
    (findings([]), "adapter", "Plug one in"),
    (
      findings([], blocked: .softBlocked), "adapter",
      "rfkill4 (dell-bluetooth) is off in software. Run: rfkill unblock bluetooth"
    ),
    (findings([], blocked: .hardBlocked), "adapter", "slide switch"),
    (findings([adapter { $0.isUp = false }]), "hci0", "sudo btmgmt -i hci0 power on"),
    (findings([adapter { $0.block = block("hci0", .softBlocked) }]), "hci0", "rfkill unblock bluetooth"),
    (
      findings([adapter { $0.block = block("hci0", .hardBlocked) }]), "hci0",
      "rfkill4 (hci0) is off in hardware, and no command changes that."
    ),
    (findings([adapter { $0.isTaken = true }]), "hci0", "Stop that program."),
    (
      findings([adapter { $0.isTaken = true }], daemons: [612], hci: users), "hci0",
      "In use: python3 (pid 900) owns its HCI user channel. To stop that program: `kill 900`"
    ),
    (findings([adapter { $0.isTaken = true }], hci: users), "hci0", "In use: one of bluetoothd (pid 612), python3 (pid 900) owns"),
    (
      findings([adapter { $0.isTaken = true }], hci: SocketUsers(unknown: 2)), "hci0",
      "In use: another user's program owns its HCI user channel. To find that program: `sudo '/opt/my tools/blectl' doctor`"
    ),
    (findings([adapter { $0.le = false }]), "hci0", "To list them: blectl adapters"),
    // One usable adapter suffices, unless the user wants another.
    (findings([adapter { $0.isUp = false }, adapter { $0.index = 1 }]), nil, ""),
    (findings([adapter { $0.isUp = false }, adapter { $0.index = 1 }], wanted: 0), "hci0", "sudo btmgmt -i hci0 power on"),
    (findings([up], wanted: 3), "hci3", "Found: hci0"),
    (
      findings([up], ProcessCapabilities(permitted: 0, bounding: full)), "rights",
      "sudo setcap cap_net_raw,cap_net_admin=p '/opt/my tools/blectl'"
    ),
    (findings([up], ProcessCapabilities(permitted: 1 << 12, bounding: full)), "rights", "sudo setcap"),
    (findings([up], ProcessCapabilities(permitted: 1 << 13, bounding: full)), nil, ""),
    (findings([up], ProcessCapabilities(permitted: 0, bounding: 0)), "rights", "--cap-add NET_RAW"),
    (findings([up], ProcessCapabilities(permitted: 0, bounding: full, hasNoNewPrivileges: true)), "rights", "no_new_privs"),
    (findings([up], ProcessCapabilities(permitted: 0, bounding: full, isNosuid: true)), "rights", "mounted nosuid"),
    (
      findings(
        [up], ProcessCapabilities(permitted: 0, bounding: full, keepsCapabilities: false), fileSystem: Mount(point: "/opt", type: "nfs4")),
      "rights", "(nfs4 at /opt) cannot store capabilities. Copy the program"
    ),
    (
      findings([up], ProcessCapabilities(permitted: 0, bounding: full), fileSystem: Mount(point: "/", type: "overlay")), "rights",
      "blectl'` (on an overlay"
    ),
    (findings([up], nil), nil, ""),
  ]

  @Test(arguments: cases.indices) func saysWhatIsWrong(_ index: Int) {
    let (findings, subject, words) = Self.cases[index]
    let failures = findings.filter { $0.state == .failure }
    #expect(failures.map(\.subject) == (subject.map { [$0] } ?? []), "\(findings)")
    #expect(failures.first?.message.contains(words) ?? true, "\(findings)")
  }

  private static let peer = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public)
  private static func used(_ change: (inout Examination.Adapter) -> Void) -> Examination.Adapter {
    var adapter = up
    change(&adapter)
    return adapter
  }

  private static let held = used { $0.links = [AdapterLink(address: peer.address, type: .public)] }
  private static let fast = used { $0.features = ["2m"] }
  private static let realtek = used { $0.manufacturer = 0x5D }

  /// Findings that do not prevent a scan, with subjects and words in order. A machine without problems has none of them.
  private static let notes: [(findings: [Finding], expected: [(String, String)])] = [
    (
      findings([held], daemons: [612]),
      [("hci0", "another program is connected to C0:FF:EE:00:00:07, so no other program can connect. To disconnect it: `blu")]
    ),
    (findings([held], l2cap: users), [("hci0", "bluetoothd (pid 612) or python3 (pid 900) or another program is connected")]),
    (findings([held], l2cap: SocketUsers(programs: [users.programs[1]])), [("hci0", "python3 (pid 900) is connected to")]),
    (findings([held], wanted: 1), []), (findings([up], seesAll: false), [("bluetoothd", "Unknown: some processes are hidden")]),
    (findings([up], daemons: [612], seesAll: false), []),
    (findings([up], daemons: [612], hci: users), [("HCI", "Also open in python3 (pid 900). A program that only monitors")]),
    (findings([used { $0.isDiscovering = true }], daemons: [612]), [("hci0", "bluetoothd is scanning for another program")]),
    (
      findings([used { $0.autoConnections = [peer] }], daemons: [612]),
      [
        (
          "hci0",
          "connects to C0:FF:EE:00:00:07/public as soon as it hears it. Then no other program can connect. To stop that: `bluetoothctl disc"
        )
      ]
    ),
    (
      findings([used { $0.autoConnections = [peer] }]),
      [("hci0", "To stop that: `sudo btmgmt --index 0 del-device -t 1 C0:FF:EE:00:00:07`")]
    ),
    (findings([used { $0.hasSecurityManager = false }]), [("hci0", "sudo btmgmt -i hci0 power off && sudo btmgmt -i hci0 power on")]),
    (findings([used { $0.wifi = "wlan3" }]), [("hci0", "The same USB device has a Wi-Fi interface (wlan3)")]),
    (findings([fast], version: "6.1.192"), [("kernel", "--phy 2m"), ("kernel", "hci_chan_del")]),
    (findings([up], version: "5.17.7"), [("kernel", "Known bug in 5.17.7, unless your distribution fixed it: a failed connection")]),
    (findings([realtek], version: "6.18.45"), [("kernel", "RTL8761B")]),
    (findings([realtek], version: "7.2", daemons: [612]), [("kernel", "RTL8761B"), ("kernel", "paired")]),
    (findings([realtek], version: "6.18.44"), []), (findings([up], version: "7.2"), []), (findings([up], version: "6.12.3"), []),
  ]

  @Test(arguments: notes.indices) func saysWhatElseIsThere(_ index: Int) {
    let (findings, expected) = Self.notes[index]
    let notes = findings.filter { $0.state == .note }
    #expect(notes.map(\.subject) == expected.map(\.0), "\(findings)")
    for (note, (_, words)) in zip(notes, expected) { #expect(note.message.contains(words), "\(note)") }
  }

  @Test(
    arguments: [
      (up, [], "Not running."),
      (up, [612], "Running (pid 612). Cannot tell whether it is scanning: neither busctl nor dbus-send gets an answer. It adopts"),
      (
        up, [612],
        " It adopts connections that no other program uses. Only root can list the devices that it connects to automatically: `sudo '/opt/my tools/b"
      ),
      (used { ($0.isDiscovering, $0.autoConnections) = (false, []) }, [3, 4], "Running (pid 3, 4), not scanning. It adopts"),
      (used { $0.autoConnections = [] }, [612], "It connects to no device automatically."),
    ] as [(Examination.Adapter, [Int], String)])
  func saysWhatBluetoothdDoes(_ adapter: Examination.Adapter, _ daemons: [Int], _ words: String) {
    let finding = Self.findings([adapter], daemons: daemons).first { $0.subject == "bluetoothd" }
    #expect(finding?.state == .ok && finding?.message.contains(words) == true, "\(String(describing: finding))")
  }

  @Test(
    arguments: [
      ("b true\n", true), ("   variant       boolean false\n", false), ("", nil), ("Failed to get property\n", nil),
    ] as [(String, Bool?)])
  func bluetoothdsAnswer(_ text: String, _ answer: Bool?) { #expect(DaemonQuery.answer(text) == answer) }

  @Test(
    arguments: [
      ("6.12.48+deb13-amd64", "", "", "6.12.48"), ("6.1.0-27-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.115-1 (2024-11-01)", "", "6.1.115"),
      ("6.8.0-52-generic", "#53-Ubuntu SMP", "Ubuntu 6.8.0-52.53-generic 6.8.12", "6.8.12"), ("7.2-rc1", "", "", "7.2.0"),
      // Another kernel's log.
      ("6.1.3-custom", "Debian 5.10.3-1", "", "6.1.3"), ("none", "", "", nil),
    ] as [(String, String, String, String?)])
  func kernelVersions(_ release: String, _ version: String, _ signature: String, _ number: String?) {
    #expect(KernelVersion(release: release, version: version, signature: signature)?.description == number)
  }

  @Test func linesAreFoldedBetweenWords() throws {
    let finding = Finding(state: .note, subject: "hci0", message: "one two three four five six seven eight nine ten")
    #expect(finding.lines(6, columns: 32) == ["! hci0    one two three four", "          five six seven eight", "          nine ten"])
    #expect(finding.lines(6, columns: nil).count == 1 && finding.lines(6, columns: 20).count == 1)
    let command = Finding(state: .note, subject: "hci0", message: "first: `one two three four` and `five six`")
    #expect(command.lines(4, columns: 30) == ["! hci0  first:", "        `one two three four`", "        and `five six`"])
    let long = Finding(state: .note, subject: "hci0", message: "first: `one two three four five`, and `six`")
    #expect(long.lines(4, columns: 28) == ["! hci0  first:", "one two three four five", "        and `six`"])
    let terminal = try PseudoTerminal([Blectl.path, "-i", "unix:/nobody", "doctor"], columns: 50, rows: 10)
    let shown = terminal.finish().text.split(whereSeparator: \.isNewline)
    #expect(shown.count > 1 && shown.allSatisfy { $0.count <= 50 } && shown.first?.hasPrefix("✗ unix:/nobody  ") == true, "\(shown)")
  }

  @Test func onTheSimulatedAir() throws {
    let text = try Blectl.run("doctor")
    #expect(text.status == 0 && text.text.hasPrefix("✓ sim  ") && text.lines.count > 1, "\(text.text)")
    let record = try Blectl.run("doctor", "--json").records.first
    #expect(record?.string("event") == "finding" && record?.string("state") == "ok" && record?.string("subject") == "sim")
  }

  @Test func aRadioThatIsNotThere() throws {
    let result = try Blectl.run(["doctor"], adapter: "unix:/nobody/there")
    #expect(
      result.status == 3 && result.text.hasPrefix("✗ unix:/nobody/there  ") && result.errors.isEmpty, "\(result.text)\(result.errors)")
  }
}
