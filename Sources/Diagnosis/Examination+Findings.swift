import Bluetooth
import LinuxBluetooth
import LinuxIO
import Presentation
import Text

extension Examination {
  /// All findings, in the order in which to fix them. Hints are last.
  var findings: [Finding] {
    let system = kernel.map { [Finding(state: .ok, subject: "kernel", message: "Linux \(DisplayText.escape($0))")] } ?? []
    switch adapters {
    case .failure(let problem): return system + [Finding(state: .failure, subject: "kernel", message: Failure(problem).message)]
    case .success: return system + radios + [permission] + others + hints
    }
  }

  // MARK: Radios

  private var radios: [Finding] {
    guard !found.isEmpty else {
      return [Finding(state: .failure, subject: "adapter", message: Failure(AdapterProblem.none(platformBlock: platformBlock)).message)]
    }
    if let wanted, chosen.isEmpty {
      let problem = AdapterProblem.unknown("hci\(wanted)", others: found.map(\.info.name))
      return [Finding(state: .failure, subject: "hci\(wanted)", message: Failure(problem).message)]
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
      return Finding(state: .ok, subject: adapter.info.name, message: facts.joined(separator: " "))
    }
  }

  /// The programs that may hold an adapter's user channel, which is an HCI socket. Nil if none was found.
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

  /// Whether this process may scan over a raw HCI socket. Connecting needs no capability.
  private var permission: Finding {
    guard let rights else {
      return Finding(state: .note, subject: "rights", message: "Unknown capabilities: /proc is not mounted.")
    }
    if rights.has(.netRaw) {
      let both = rights.has(.netAdmin)
      return Finding(
        state: .ok, subject: "rights",
        message: "CAP_NET_RAW\(both ? ", CAP_NET_ADMIN" : ". Scanning works. The user channel (-i user:N) also needs CAP_NET_ADMIN.")")
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
    return Finding(state: .failure, subject: "rights", message: "This process lacks CAP_NET_RAW, which scanning needs. \(advice)")
  }
}
