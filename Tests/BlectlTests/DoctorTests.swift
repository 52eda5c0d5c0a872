import Bluetooth
import LinuxBluetooth
import LinuxIO
import TestSupport
import Testing

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

  /// What is asked of the machine: adapters or none at all, and the rights of the process.
  private static func findings(
    _ adapters: [Examination.Adapter]?, _ rights: ProcessRights? = ProcessRights(effective: full, bounding: full), wanted: Int? = nil,
    blocked: RFKill.State? = nil, daemons: [Int] = []
  ) -> [Finding] {
    Examination(
      kernel: "6.1.0-27-amd64", adapters: adapters.map { .success($0) } ?? .failure(.kernelWithoutBluetooth), wanted: wanted,
      platformBlock: blocked.map { block("dell-bluetooth", $0) }, rights: rights, executable: "/opt/my tools/blectl", daemons: daemons
    ).findings
  }

  /// The findings, what is the only failure's subject, if there is one, and what its sentence says to do.
  private static let cases: [(findings: [Finding], subject: String?, words: String)] = [
    (findings([up]), nil, ""),
    (findings(nil), "kernel", "-i sim"),
    (findings([]), "adapter", "plug one in"),
    (
      findings([], blocked: .softBlocked), "adapter",
      "rfkill4 (dell-bluetooth) is off in software: switch it on with `rfkill unblock bluetooth`"
    ),
    (findings([], blocked: .hardBlocked), "adapter", "slide switch"),
    (findings([adapter { $0.isUp = false }]), "hci0", "sudo hciconfig hci0 up"),
    (findings([adapter { $0.block = block("hci0", .softBlocked) }]), "hci0", "rfkill unblock bluetooth"),
    (findings([adapter { $0.block = block("hci0", .hardBlocked) }]), "hci0", "rfkill4 (hci0) is off in hardware, which no command changes"),
    (findings([adapter { $0.isTaken = true }]), "hci0", "end that program first"),
    (findings([adapter { $0.le = false }]), "hci0", "choose another adapter with -i"),
    // One that can be used is enough, unless another one is wanted.
    (findings([adapter { $0.isUp = false }, adapter { $0.index = 1 }]), nil, ""),
    (findings([adapter { $0.isUp = false }, adapter { $0.index = 1 }], wanted: 0), "hci0", "sudo hciconfig hci0 up"),
    (findings([up], wanted: 3), "hci3", "there is hci0"),
    (
      findings([up], ProcessRights(effective: 0, bounding: full)), "rights",
      "sudo setcap cap_net_raw,cap_net_admin=p '/opt/my tools/blectl'"
    ),
    (findings([up], ProcessRights(effective: 1 << 12, bounding: full)), "rights", "sudo setcap"),
    (findings([up], ProcessRights(effective: 1 << 13, bounding: full)), nil, ""),
    (findings([up], ProcessRights(effective: 0, bounding: 0)), "rights", "--cap-add NET_RAW"),
    (findings([up], ProcessRights(effective: 0, bounding: full, hasNoNewPrivileges: true)), "rights", "no_new_privs"),
    (findings([up], ProcessRights(effective: 0, bounding: full, isNosuid: true)), "rights", "mounted nosuid"),
    (findings([up], nil), nil, ""),
  ]

  @Test(arguments: cases.indices) func saysWhatIsWrong(_ index: Int) {
    let (findings, subject, words) = Self.cases[index]
    let failures = findings.filter { $0.state == .failure }
    #expect(failures.map(\.subject) == (subject.map { [$0] } ?? []), "\(findings)")
    #expect(failures.first?.message.contains(words) ?? true, "\(findings)")
  }

  @Test func saysWhoElseIsThere() throws {
    var held = Self.up
    held.links = [AdapterLink(try #require(Address("C0:FF:EE:00:00:07")), .public)]
    let findings = Self.findings([held], daemons: [612])
    #expect(findings.contains { $0.state == .note && $0.message.contains("`bluetoothctl disconnect C0:FF:EE:00:00:07`") }, "\(findings)")
    #expect(findings.contains { $0.subject == "bluetoothd" && $0.message.contains("(process 612)") })
    #expect(Self.findings([held], wanted: 1).allSatisfy { !$0.message.contains("C0:FF:EE") })
  }

  @Test func onTheSimulatedAir() throws {
    let text = try Blectl.run("doctor")
    #expect(text.status == 0 && text.text.hasPrefix("✓ sim  ") && text.lines.count == 1, "\(text.text)")
    let record = try Blectl.run("doctor", "--json").records.first
    #expect(record?.string("event") == "finding" && record?.string("state") == "ok" && record?.string("subject") == "sim")
  }

  @Test func aRadioThatIsNotThere() throws {
    let result = try Blectl.run(["doctor"], adapter: "unix:/nobody/there")
    #expect(
      result.status == 3 && result.text.hasPrefix("✗ unix:/nobody/there  ") && result.errors.isEmpty, "\(result.text)\(result.errors)")
  }
}
