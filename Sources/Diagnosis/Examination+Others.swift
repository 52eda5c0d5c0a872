import Bluetooth
import LinuxBluetooth
import LinuxIO
import Presentation
import Text

extension Examination {
  // MARK: Other programs

  var others: [Finding] { [daemon] + chosen.flatMap { scans($0) + automatic($0) + held($0) } + programs }

  /// The command that runs `doctor` as root. It has the program's path, because root's PATH may lack its folder.
  var asRoot: String { "sudo \(Failure.quoted(executable)) doctor" }

  private var daemon: Finding {
    if daemons.isEmpty, !seesAllProcesses {
      return Finding(
        state: .note, subject: "bluetoothd",
        message:
          "Unknown: some processes are hidden (container, or /proc with hidepid). "
          + "If bluetoothd runs, it may scan or hold connections."
      )
    }
    guard !daemons.isEmpty else { return Finding(state: .ok, subject: "bluetoothd", message: "Not running. blectl does not need it.") }
    var message = "Running (pid \(daemons.map(String.init).joined(separator: ", ")))"
    let answers = chosen.compactMap(\.isDiscovering)
    message += answers.isEmpty || answers.contains(true) ? "." : ", not scanning."
    if answers.isEmpty, !chosen.isEmpty {
      message += " Cannot tell whether it is scanning: neither busctl nor dbus-send gets an answer."
    }
    message += " It adopts connections that no other program uses."
    if chosen.contains(where: { $0.autoConnections == nil }) {
      message += " Only root can list the devices that it connects to automatically: `\(asRoot)`"
    } else if chosen.allSatisfy({ $0.autoConnections == [] }) {
      message += " It connects to no device automatically."
    }
    return Finding(state: .ok, subject: "bluetoothd", message: message)
  }

  private func scans(_ adapter: Adapter) -> [Finding] {
    guard adapter.isDiscovering == true else { return [] }
    return [
      Finding(
        state: .note, subject: adapter.info.name,
        message:
          "bluetoothd is scanning for another program. blectl shares that scan, so it may miss repeated advertisements. "
          + "Close the desktop's Bluetooth settings, or type `scan off` in bluetoothctl.")
    ]
  }

  private func automatic(_ adapter: Adapter) -> [Finding] {
    (adapter.autoConnections ?? []).map { peer in
      let advice =
        daemons.isEmpty
        ? "To stop that: `sudo btmgmt --index \(adapter.info.index) del-device -t \(peer.type == .public ? 1 : 2) \(peer.address)`"
        : "To stop that: `bluetoothctl disconnect \(peer.address)` (until it reconnects) "
          + "or `bluetoothctl remove \(peer.address)` (for good)"
      return Finding(
        state: .note, subject: adapter.info.name,
        message:
          "The kernel connects to \(peer) as soon as it hears it. Then no other program can connect. \(advice)")
    }
  }

  private func held(_ adapter: Adapter) -> [Finding] {
    let holders = l2cap.programs.map { Self.name($0) } + (l2cap.unknown > 0 ? ["another program"] : [])
    let subject = holders.isEmpty ? "another program" : holders.joined(separator: " or ")
    return adapter.links.map { link in
      let advice = daemons.isEmpty ? "Stop that program." : "To disconnect it: `bluetoothctl disconnect \(link.address)`"
      return Finding(
        state: .note, subject: adapter.info.name,
        message: "In use: \(subject) is connected to \(link.address), so no other program can connect. \(advice)")
    }
  }

  /// Other programs with HCI sockets, which may send commands of their own.
  private var programs: [Finding] {
    let programs = strangers(hci)
    guard !programs.isEmpty, !found.isEmpty else { return [] }
    return [
      Finding(
        state: .note, subject: "HCI",
        message:
          "Also open in \(Self.names(programs)). A program that only monitors, such as btmon, is harmless. "
          + "If scans or connections misbehave, run: `kill \(programs.map { String($0.process) }.joined(separator: " "))`"
      )
    ]
  }

  /// Returns all programs except bluetoothd, which never opens a user channel or sends commands past the kernel.
  func strangers(_ users: SocketUsers) -> [RunningProgram] { users.programs.filter { !daemons.contains($0.process) } }

  static func names(_ programs: [RunningProgram]) -> String { programs.map { name($0) }.joined(separator: ", ") }
  private static func name(_ program: RunningProgram) -> String { "\(DisplayText.escape(program.name)) (pid \(program.process))" }

  // MARK: Hints

  var hints: [Finding] {
    let wifi = chosen.compactMap { adapter in
      adapter.wifi.map {
        Finding(
          state: .note, subject: adapter.info.name,
          message:
            "The same USB device has a Wi-Fi interface (\(DisplayText.escape($0))), which shares the 2.4 GHz band. "
            + "If scans miss devices or transfers are slow, use Wi-Fi at 5 GHz or another adapter.")
      }
    }
    guard let version else { return wifi }
    let defects = KernelDefect.of(version, self).map {
      Finding(
        state: .note, subject: "kernel",
        message: "Known bug in \(version), unless your distribution fixed it: \($0.what). \($0.advice) Source: \($0.source)")
    }
    return wifi + defects
  }
}
