import Bluetooth
import EventLoop
import HCI
import LinuxBluetooth
import LinuxIO

/// What `doctor` has seen of this machine. What it means, `Examination.findings` says.
struct Examination: Sendable {
  struct Adapter: Sendable {
    var info: AdapterInfo
    /// As `adapters` shows them.
    var features: [String] = []
    var links: [AdapterLink] = []
  }

  /// The kernel's release; nil when it does not tell.
  var kernel: String?
  var adapters: Result<[Adapter], AdapterProblem>
  /// The one that was asked for with --adapter; nil: the first that can be used.
  var wanted: Int?
  /// What keeps adapters from being there.
  var platformBlock: RFKill.Switch?
  /// Nil where /proc does not tell.
  var rights: ProcessRights?
  /// The program's path.
  var executable = "blectl"
  /// Process numbers of bluetoothd.
  var daemons: [Int] = []

  @LoopActor
  static func ofThisMachine(_ wanted: Int?) async -> Examination {
    var examination = Examination(
      kernel: SmallFile.line(of: "/proc/sys/kernel/osrelease"), adapters: .success([]), wanted: wanted,
      platformBlock: RFKill().platformBlock, rights: ProcessRights(), executable: ThisProcess.executable() ?? "blectl",
      daemons: processes(named: "bluetoothd"))
    do {
      var adapters: [Adapter] = []
      for info in try AdapterList.adapters() {
        adapters.append(Adapter(info: info, features: await info.abilities().features, links: (try? info.links()) ?? []))
      }
      examination.adapters = .success(adapters)
    } catch { examination.adapters = .failure(error) }
    return examination
  }

  /// As far as /proc shows them; the kernel cuts names to 15 octets (proc_pid_comm(5)).
  private static func processes(named name: String) -> [Int] {
    FolderNames.list("/proc", home: nil).compactMap { Int($0.dropLast()) }
      .filter { SmallFile.line(of: "/proc/\($0)/comm") == name }.sorted()
  }
}
