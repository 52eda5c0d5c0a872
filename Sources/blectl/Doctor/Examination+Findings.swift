import Bluetooth
import LinuxBluetooth
import LinuxIO
import Text

extension Examination {
  /// In the order in which they are to be mended.
  var findings: [Finding] {
    let system = kernel.map { [Finding(state: .ok, subject: "kernel", message: "Linux \($0)")] } ?? []
    switch adapters {
    case .failure(let problem): return system + [Finding(state: .failure, subject: "kernel", message: Failure(problem).message)]
    case .success(let all): return system + radios(all) + [permission] + others(all)
    }
  }

  // MARK: Radios

  private func radios(_ all: [Adapter]) -> [Finding] {
    guard !all.isEmpty else {
      return [Finding(state: .failure, subject: "adapter", message: Failure(AdapterProblem.none(platformBlock: platformBlock)).message)]
    }
    if let wanted, !all.contains(where: { $0.info.index == wanted }) {
      let problem = AdapterProblem.unknown("hci\(wanted)", others: all.map(\.info.name))
      return [Finding(state: .failure, subject: "hci\(wanted)", message: Failure(problem).message)]
    }
    // Another one that can be used is used.
    let isEnough = wanted == nil && all.contains { $0.info.problem == nil }
    return all.map { adapter in
      let isNeeded = wanted.map { $0 == adapter.info.index } ?? !isEnough
      if let problem = adapter.info.problem {
        return Finding(state: isNeeded ? .failure : .note, subject: adapter.info.name, message: Failure(problem).message)
      }
      let facts = [adapter.info.address?.description ?? "no public address", adapter.info.bus, "up"] + adapter.features
      return Finding(state: .ok, subject: adapter.info.name, message: facts.joined(separator: " "))
    }
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
      } else {
        Failure.setcap(executable)
      }
    return Finding(state: .failure, subject: "rights", message: "\(lacking): \(advice)")
  }

  // MARK: Others

  private func others(_ all: [Adapter]) -> [Finding] {
    let links = all.filter { wanted == nil || $0.info.index == wanted }.flatMap { adapter in adapter.links.map { (adapter.info.name, $0) } }
    let held = links.map { name, link in
      Finding(
        state: .note, subject: name,
        message:
          "a program holds a link to \(link.address), and no other can connect to that device: `bluetoothctl disconnect \(link.address)` ends it"
      )
    }
    let list = daemons.map(String.init).joined(separator: ", ")
    let daemon =
      daemons.isEmpty
      ? Finding(state: .ok, subject: "bluetoothd", message: "does not run; blectl does not need it")
      : Finding(
        state: .ok, subject: "bluetoothd",
        message: "runs (process \(list)); it may connect to devices that it knows by itself, and takes links that nobody else has")
    return [daemon] + held
  }
}
