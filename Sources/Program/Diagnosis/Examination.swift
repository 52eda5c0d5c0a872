import BluetoothLELinux
import Presentation

/// The facts that `doctor` collects on this machine.
struct Examination: Sendable {
  struct Adapter: Sendable {
    var info: AdapterInfo
    /// The supported features of the adapter, such as `2m`, in the words of `blectl adapters`.
    var features: [String] = []
    /// The company identifier of the controller's manufacturer. Nil if the controller does not report it.
    var manufacturer: UInt16?
    var links: [AdapterLink] = []
    /// The devices that the kernel connects to automatically. Nil if this process may not read them.
    var autoConnections: [PeerAddress]?
    /// Whether the kernel can pair and encrypt on the adapter. Nil if this process may not read the list that shows it.
    var hasSecurityManager: Bool?
    /// Whether bluetoothd scans with the adapter. Nil if `doctor` did not ask bluetoothd or got no answer.
    var isDiscovering: Bool?
    /// The name of the Wi-Fi interface of the same USB device. Nil if the USB device has none.
    var wifi: String?
  }

  /// The kernel's release, such as `6.1.0-27-amd64`. Nil if /proc is not mounted.
  var kernel: String?
  /// The version of kernel.org on which the kernel is based. Nil if `kernel` contains no version.
  var version: KernelVersion?
  var adapters: Result<[Adapter], AdapterProblem>
  /// The N of `hciN` in `--adapter`. Nil selects the first usable adapter.
  var wanted: Int?
  /// The rfkill switch of the platform that hides the adapters. Nil if no switch hides them.
  var platformBlock: RFKill.Switch?
  /// The capabilities of this process. Nil if /proc is not mounted.
  var rights: ProcessCapabilities?
  /// The path of the running program.
  var executable = "blectl"
  /// The file system that contains the program's file. Nil if `doctor` cannot find it.
  var fileSystem: Mount?
  /// The process IDs of all running bluetoothd processes.
  var daemons: [Int] = []
  /// Whether /proc shows all processes to this process.
  var seesAllProcesses = true
  /// The programs that have HCI sockets open, which may scan or send commands.
  var hci = SocketUsers()
  var l2cap = SocketUsers()

  var found: [Adapter] { (try? adapters.get()) ?? [] }
  /// The adapter that `--adapter` names, or all adapters if the user named none.
  var chosen: [Adapter] { found.filter { wanted == nil || $0.info.index == wanted } }

  /// Collects the facts about this machine and all its adapters. `wanted` is the N of `hciN` in `--adapter`, or nil without the option.
  /// - Throws: CancellationError.
  @LoopActor
  static func ofThisMachine(_ wanted: Int?) async throws -> Examination {
    let programs = RunningProgram.all()
    let kernel = SmallFile.line(of: "/proc/sys/kernel/osrelease")
    let executable = ThisProcess.executable()
    var examination = Examination(
      kernel: kernel,
      version: kernel.flatMap {
        KernelVersion(
          release: $0, version: SmallFile.line(of: "/proc/sys/kernel/version") ?? "",
          signature: SmallFile.line(of: "/proc/version_signature") ?? "")
      },
      adapters: .success([]), wanted: wanted, platformBlock: RFKill().platformBlock, rights: ProcessCapabilities(),
      executable: executable ?? "blectl", fileSystem: executable.flatMap { Mount(of: $0) },
      daemons: programs.filter(BluetoothDaemon.isDaemon).map(\.process), seesAllProcesses: RunningProgram.areAllSeen,
      hci: SocketUsers(.hci, among: programs),
      l2cap: SocketUsers(.l2cap, among: programs))
    do throws(AdapterProblem) {
      examination.adapters = .success(try AdapterList.adapters().map { Adapter(info: $0) })
    } catch { examination.adapters = .failure(error) }
    var adapters = examination.found
    for index in adapters.indices { try await adapters[index].look(hasDaemon: !examination.daemons.isEmpty) }
    if case .success = examination.adapters { examination.adapters = .success(adapters) }
    return examination
  }
}

extension Examination.Adapter {
  /// Collects the facts about this adapter. Asks bluetoothd only if `hasDaemon` is true.
  /// - Throws: CancellationError.
  @LoopActor
  fileprivate mutating func look(hasDaemon: Bool) async throws {
    let abilities = await info.abilities()
    (features, manufacturer) = (abilities.features, abilities.version?.company)
    links = (try? info.links()) ?? []
    autoConnections = info.autoConnections()
    hasSecurityManager = info.isUp && !info.isTaken ? info.hasSecurityManager() : nil
    wifi = info.wifiOfSameDevice()
    if hasDaemon { isDiscovering = try await DaemonQuery.isDiscovering(info.name) }
  }
}

extension Examination {
  // MARK: Other programs

  var others: [Finding] { [daemon] + chosen.flatMap { unprotected($0) + scans($0) + automatic($0) + held($0) } + programs }

  /// The command that runs `doctor` as root, with the full path of the program.
  var asRoot: String { "sudo \(Failure.quoted(executable)) doctor" }

  private var daemon: Finding {
    if daemons.isEmpty, !seesAllProcesses {
      return .note(
        "bluetoothd",
        "Unknown: some processes are hidden (container, or /proc with hidepid). If bluetoothd runs, it may scan or hold connections.")
    }
    guard !daemons.isEmpty else { return .ok("bluetoothd", "Not running. blectl does not need it.") }
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
    return .ok("bluetoothd", message)
  }

  private func scans(_ adapter: Adapter) -> [Finding] {
    guard adapter.isDiscovering == true else { return [] }
    return [
      .note(
        adapter.info.name,
        "bluetoothd is scanning for another program. blectl shares that scan, so it may miss repeated advertisements. "
          + "Close the desktop's Bluetooth settings, or type `scan off` in bluetoothctl.")
    ]
  }

  private func unprotected(_ adapter: Adapter) -> [Finding] {
    guard adapter.hasSecurityManager == false else { return [] }
    return [.note(adapter.info.name, Failure(KernelPairingProblem.noSecurityManager(adapter.info.name)).message)]
  }

  private func automatic(_ adapter: Adapter) -> [Finding] {
    (adapter.autoConnections ?? []).map { peer in
      let advice =
        daemons.isEmpty
        ? "To stop that: `sudo btmgmt --index \(adapter.info.index) del-device -t \(peer.type == .public ? 1 : 2) \(peer.address)`"
        : "To stop that: `bluetoothctl disconnect \(peer.address)` (until it reconnects) "
          + "or `bluetoothctl remove \(peer.address)` (for good)"
      return .note(adapter.info.name, "The kernel connects to \(peer) as soon as it hears it. Then no other program can connect. \(advice)")
    }
  }

  private func held(_ adapter: Adapter) -> [Finding] {
    let holders = l2cap.programs.map { Self.name($0) } + (l2cap.unknown > 0 ? ["another program"] : [])
    let subject = holders.isEmpty ? "another program" : holders.joined(separator: " or ")
    let pids = l2cap.programs.map { String($0.process) }.joined(separator: " ")
    return adapter.links.map { link in
      let advice =
        daemons.isEmpty
        ? "Stop that program.\(pids.isEmpty ? "" : " Run: `kill \(pids)`")" : "To disconnect it: `bluetoothctl disconnect \(link.address)`"
      return .note(adapter.info.name, "In use: \(subject) is connected to \(link.address), so no other program can connect. \(advice)")
    }
  }

  /// The finding about other programs with open HCI sockets. Empty if there are none.
  private var programs: [Finding] {
    let programs = strangers(hci)
    guard !programs.isEmpty, !found.isEmpty else { return [] }
    return [
      .note(
        "HCI",
        "Also open in \(Self.names(programs)). A program that only monitors, such as btmon, is harmless. "
          + "If scans or connections misbehave, run: `kill \(programs.map { String($0.process) }.joined(separator: " "))`")
    ]
  }

  /// Returns all programs except bluetoothd, which never opens a user channel.
  func strangers(_ users: SocketUsers) -> [RunningProgram] { users.programs.filter { !daemons.contains($0.process) } }

  static func names(_ programs: [RunningProgram]) -> String { programs.map { name($0) }.joined(separator: ", ") }
  private static func name(_ program: RunningProgram) -> String { "\(DisplayText.escape(program.name)) (pid \(program.process))" }

  // MARK: Hints

  var hints: [Finding] {
    let wifi: [Finding] = chosen.compactMap { adapter in
      adapter.wifi.map {
        .note(
          adapter.info.name,
          "The same USB device has a Wi-Fi interface (\(DisplayText.escape($0))), which shares the 2.4 GHz band. "
            + "If scans miss devices or transfers are slow, use Wi-Fi at 5 GHz or another adapter.")
      }
    }
    guard let version else { return wifi }
    let defects: [Finding] = KernelDefect.of(version, self).map {
      .note("kernel", "Known bug in \(version), unless your distribution fixed it: \($0.what). \($0.advice) Source: \($0.source)")
    }
    return wifi + defects
  }
}

extension Examination {
  /// All findings, in the order in which to fix problems. Hints are last.
  var findings: [Finding] {
    let system = kernel.map { [Finding.ok("kernel", "Linux \(DisplayText.escape($0))")] } ?? []
    switch adapters {
    case .failure(let problem): return system + [.failure("kernel", Failure(problem).message)]
    case .success: return system + radios + [permission] + others + hints
    }
  }

  // MARK: Radios

  private var radios: [Finding] {
    guard !found.isEmpty else { return [.failure("adapter", Failure(AdapterProblem.none(platformBlock: platformBlock)).message)] }
    if let wanted, chosen.isEmpty {
      let problem = AdapterProblem.unknown("hci\(wanted)", others: found.map(\.info.name))
      return [.failure("hci\(wanted)", Failure(problem).message)]
    }
    // Without --adapter, one usable adapter is enough.
    let isEnough = wanted == nil && found.contains { $0.info.problem == nil }
    return found.map { adapter in
      let isNeeded = wanted.map { $0 == adapter.info.index } ?? !isEnough
      if let problem = adapter.info.problem {
        let message = if case .taken = problem, let owner { owner } else { Failure(problem).message }
        return Finding(state: isNeeded ? .failure : .note, subject: adapter.info.name, message: message)
      }
      let facts = [adapter.info.address?.description ?? "no public address", adapter.info.bus, "up"] + adapter.features
      return .ok(adapter.info.name, facts.joined(separator: " "))
    }
  }

  /// The message about the programs that may own an adapter's HCI user channel. Nil if `doctor` found none.
  private var owner: String? {
    let programs = strangers(hci)
    let names = Self.names(programs)
    return switch programs.count {
    case 0 where hci.unknown == 0: nil
    case 0: "In use: another user's program owns its HCI user channel. To find that program: `\(asRoot)`"
    case 1: "In use: \(names) owns its HCI user channel. To stop that program: `kill \(programs[0].process)`"
    default: "In use: one of \(names) owns its HCI user channel. Stop that program."
    }
  }

  // MARK: Rights

  /// The finding about CAP_NET_RAW, the capability that this process needs to scan. Connecting needs no capability.
  private var permission: Finding {
    guard let rights else { return .note("rights", "Unknown capabilities: /proc is not mounted.") }
    if rights.has(.netRaw) {
      let both = rights.has(.netAdmin)
      return .ok(
        "rights", "CAP_NET_RAW\(both ? ", CAP_NET_ADMIN" : ". Scanning works. The user channel (-i user:N) also needs CAP_NET_ADMIN.")")
    }
    let path = Failure.quoted(executable)
    let advice =
      if !rights.mayGet(.netRaw) {
        "A container or service withholds it (bounding set). Start the container with --cap-add NET_RAW --cap-add NET_ADMIN, "
          + "or run blectl outside it."
      } else if rights.hasNoNewPrivileges {
        "A container, sandbox or service forbids new privileges (no_new_privs). Run blectl outside it."
      } else if rights.isNosuid {
        "setcap has no effect on \(path): its file system is mounted nosuid. Install the package, or use sudo."
      } else if !rights.keepsCapabilities {
        "setcap fails on \(path): its file system"
          + (fileSystem.map { " (\(DisplayText.escape($0.type)) at \(DisplayText.escape($0.point)))" } ?? "")
          + " cannot store capabilities. Copy the program to another one: "
          + "`sudo install \(path) /usr/local/bin/blectl && \(Failure.setcap("/usr/local/bin/blectl"))`"
      } else if fileSystem?.type == "overlay" {
        "Run: `\(Failure.setcap(executable))` (on an overlay, this lasts until the container or live system stops)"
      } else {
        "Run: `\(Failure.setcap(executable))`"
      }
    return .failure("rights", "This process lacks CAP_NET_RAW, which scanning needs. \(advice)")
  }
}

/// The D-Bus queries to bluetoothd, which use `busctl` or `dbus-send`.
@LoopActor
enum DaemonQuery {
  /// Returns whether bluetoothd scans with the adapter for any program. Nil without a D-Bus tool, or after 3 s without an answer.
  /// - Throws: CancellationError.
  static func isDiscovering(_ adapter: String) async throws -> Bool? {
    let (object, interface) = ("/org/bluez/\(adapter)", "org.bluez.Adapter1")
    let systemd = "busctl --system --no-pager --timeout=2 get-property org.bluez \(object) \(interface) Discovering"
    let dbus =
      "dbus-send --system --reply-timeout=2000 --print-reply=literal --dest=org.bluez \(object) "
      + "org.freedesktop.DBus.Properties.Get string:\(interface) string:Discovering"
    return try await ChildProcess.output(of: "\(systemd) || \(dbus)", within: 3000).flatMap { answer(String(decoding: $0, as: UTF8.self)) }
  }

  /// Parses an answer such as `b true` (busctl) or `   variant       boolean true` (dbus-send). Nil for any other text.
  nonisolated static func answer(_ text: String) -> Bool? { text.split(whereSeparator: \.isWhitespace).last.flatMap { Bool(String($0)) } }
}
