import Bluetooth
import LinuxBluetooth
import LinuxIO
import Text

extension Examination {
  /// In the order in which they are to be mended; hints come last.
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
    // Another one that can be used is used.
    let isEnough = wanted == nil && found.contains { $0.info.problem == nil }
    return found.map { adapter in
      let isNeeded = wanted.map { $0 == adapter.info.index } ?? !isEnough
      if let problem = adapter.info.problem {
        let message = Failure(problem).message + (adapter.info.isTaken ? owner : "")
        return Finding(state: isNeeded ? .failure : .note, subject: adapter.info.name, message: message)
      }
      let facts = [adapter.info.address?.description ?? "no public address", adapter.info.bus, "up"] + adapter.features
      return Finding(state: .ok, subject: adapter.info.name, message: facts.joined(separator: " "))
    }
  }

  /// Who may have an adapter's user channel, which is an HCI socket.
  private var owner: String {
    let programs = strangers(hci)
    if programs.isEmpty { return hci.unknown > 0 ? "; it is another user's: `\(asRoot)` names it" : "" }
    return programs.count > 1 ? "; it is one of \(Self.names(programs))" : "; it is \(Self.names(programs)): `kill \(programs[0].process)`"
  }

  // MARK: Rights

  /// What a raw HCI socket takes to scan; connecting takes nothing.
  private var permission: Finding {
    guard let rights else {
      return Finding(state: .note, subject: "rights", message: "/proc is not mounted, so nothing is known of this process's capabilities")
    }
    if rights.has(.netRaw) {
      let both = rights.has(.netAdmin)
      return Finding(
        state: .ok, subject: "rights",
        message: "CAP_NET_RAW\(both ? ", CAP_NET_ADMIN" : ": scanning works; the user channel (-i user:N) needs CAP_NET_ADMIN too")")
    }
    let lacking = "scanning needs the capability CAP_NET_RAW, which this process does not have"
    let path = Failure.quoted(executable)
    let advice =
      if !rights.mayGet(.netRaw) {
        "it may not get it either (a container or a service: its bounding set is without it): start the container with --cap-add NET_RAW --cap-add NET_ADMIN, or blectl outside of it"
      } else if rights.hasNoNewPrivileges {
        "its parent has forbidden it to get more (no_new_privs: a container, a sandbox or a service): start blectl outside of it"
      } else if rights.isNosuid {
        "and setcap counts nothing where the program is, \(path), because that file system is mounted nosuid: install the package, or run it with sudo"
      } else if !rights.keepsCapabilities {
        "and setcap fails where the program is, \(path), because that file system\(fileSystem.map { " (\(DisplayText.escape($0.type)) at \(DisplayText.escape($0.point)))" } ?? "") keeps no capabilities: copy the program to another one first, "
          + "`sudo install \(path) /usr/local/bin/blectl && \(Failure.setcap("/usr/local/bin/blectl"))`"
      } else if fileSystem?.type == "overlay" {
        "`\(Failure.setcap(executable))` (it is on an overlay: that lasts as long as the container, or the live system)"
      } else {
        "`\(Failure.setcap(executable))`"
      }
    return Finding(state: .failure, subject: "rights", message: "\(lacking): \(advice)")
  }
}
