import Bluetooth
import LinuxBluetooth
import LinuxIO
import Text

extension Examination {
  // MARK: Who else there is

  var others: [Finding] { [daemon] + chosen.flatMap { scans($0) + automatic($0) + held($0) } + programs }

  /// With the program's path, which root's PATH may be without.
  var asRoot: String { "sudo \(Failure.quoted(executable)) doctor" }

  private var daemon: Finding {
    if daemons.isEmpty, !seesAllProcesses {
      return Finding(
        state: .note, subject: "bluetoothd",
        message:
          "may run: not all processes can be seen from here (a container, or /proc hides them); it may scan, and have links that others want"
      )
    }
    guard !daemons.isEmpty else { return Finding(state: .ok, subject: "bluetoothd", message: "does not run; blectl does not need it") }
    var message = "runs (process \(daemons.map(String.init).joined(separator: ", ")))"
    let answers = chosen.compactMap(\.isDiscovering)
    if !answers.isEmpty, !answers.contains(true) { message += " and does not scan now" }
    if answers.isEmpty, !chosen.isEmpty {
      message += "; whether it scans is not known: neither busctl nor dbus-send brings an answer of it"
    }
    message += "; it takes links that nobody else has"
    if chosen.contains(where: { $0.autoConnections == nil }) {
      message += "; which devices it connects to by itself only root may know: `\(asRoot)`"
    } else if chosen.allSatisfy({ $0.autoConnections == [] }) {
      message += "; there is no device that it connects to by itself"
    }
    return Finding(state: .ok, subject: "bluetoothd", message: message)
  }

  private func scans(_ adapter: Adapter) -> [Finding] {
    guard adapter.isDiscovering == true else { return [] }
    return [
      Finding(
        state: .note, subject: adapter.info.name,
        message:
          "bluetoothd scans with it now, for some program: a scan here shares that one, as it is, and may miss advertisements that repeat; close "
          + "the desktop's Bluetooth settings, or say `scan off` where bluetoothctl runs")
    ]
  }

  private func automatic(_ adapter: Adapter) -> [Finding] {
    (adapter.autoConnections ?? []).map { peer in
      let advice =
        daemons.isEmpty
        ? "`sudo btmgmt --index \(adapter.info.index) del-device -t \(peer.type == .public ? 1 : 2) \(peer.address)` ends that"
        : "`bluetoothctl disconnect \(peer.address)` ends that until it is connected again, `bluetoothctl remove \(peer.address)` for good"
      return Finding(
        state: .note, subject: adapter.info.name,
        message:
          "the kernel connects to \(peer) by itself as soon as it is heard, and no other program can then: \(advice)")
    }
  }

  private func held(_ adapter: Adapter) -> [Finding] {
    let holders = l2cap.programs.map { Self.name($0) } + (l2cap.unknown > 0 || l2cap.programs.isEmpty ? ["another program"] : [])
    return adapter.links.map { link in
      let advice = daemons.isEmpty ? "end that program" : "`bluetoothctl disconnect \(link.address)` ends it"
      return Finding(
        state: .note, subject: adapter.info.name,
        message: "\(holders.joined(separator: " or ")) holds a link to \(link.address), and no other can connect to that device: \(advice)")
    }
  }

  /// Others that see HCI, and may send commands of their own.
  private var programs: [Finding] {
    let programs = strangers(hci)
    guard !programs.isEmpty, !found.isEmpty else { return [] }
    let isOne = programs.count == 1
    return [
      Finding(
        state: .note, subject: "HCI",
        message:
          "\(Self.names(programs)) \(isOne ? "has a socket" : "have sockets") of it open: who only listens, as btmon does, harms nobody; who scans or sends commands "
          + "does so with the same controller: end \(isOne ? "it" : "them") if something is odd (`kill \(programs.map { String($0.process) }.joined(separator: " "))`)"
      )
    ]
  }

  /// Besides bluetoothd, which never has a user channel, nor sends commands past the kernel.
  func strangers(_ users: SocketUsers) -> [RunningProgram] { users.programs.filter { !daemons.contains($0.process) } }

  static func names(_ programs: [RunningProgram]) -> String { programs.map { name($0) }.joined(separator: ", ") }
  private static func name(_ program: RunningProgram) -> String { "\(DisplayText.escape(program.name)) (process \(program.process))" }

  // MARK: Hints

  var hints: [Finding] {
    let wifi = chosen.compactMap { adapter in
      adapter.wifi.map {
        Finding(
          state: .note, subject: adapter.info.name,
          message:
            "\(DisplayText.escape($0)) is Wi-Fi of the same USB device, and takes air time from Bluetooth at 2.4 GHz: if devices are missed or links "
            + "slow, use Wi-Fi at 5 GHz, or another adapter")
      }
    }
    guard let version else { return wifi }
    let defects = KernelDefect.of(version, self).map {
      Finding(
        state: .note, subject: "kernel",
        message: "\(version), unless your distribution has mended it: \($0.what); \($0.advice) (\($0.source))")
    }
    return wifi + defects
  }
}
