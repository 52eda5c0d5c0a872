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
    /// Of the controller, by its number among the companies; nil when it was not asked.
    var manufacturer: UInt16?
    var links: [AdapterLink] = []
    /// Devices that the kernel connects to by itself; nil where that cannot be read.
    var autoConnections: [PeerAddress]?
    /// Whether bluetoothd scans with it now; nil where it was not asked, or does not say.
    var isDiscovering: Bool?
    /// The Wi-Fi interface that the same USB device has.
    var wifi: String?
  }

  /// The kernel's release; nil when it does not tell.
  var kernel: String?
  /// Of which version that is.
  var version: KernelVersion?
  var adapters: Result<[Adapter], AdapterProblem>
  /// The one that was asked for with --adapter; nil: the first that can be used.
  var wanted: Int?
  /// What keeps adapters from being there.
  var platformBlock: RFKill.Switch?
  /// Nil where /proc does not tell.
  var rights: ProcessRights?
  /// The program's path.
  var executable = "blectl"
  /// What the program's file is on.
  var fileSystem: Mount?
  /// Process numbers of bluetoothd.
  var daemons: [Int] = []
  /// False where there may be others.
  var seesAllProcesses = true
  /// Who has HCI sockets open, and who has L2CAP's.
  var hci = SocketUsers()
  var l2cap = SocketUsers()

  var found: [Adapter] { (try? adapters.get()) ?? [] }
  /// What was asked for, or all.
  var chosen: [Adapter] { found.filter { wanted == nil || $0.info.index == wanted } }

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
      adapters: .success([]), wanted: wanted, platformBlock: RFKill().platformBlock, rights: ProcessRights(),
      executable: executable ?? "blectl", fileSystem: executable.flatMap { Mount(of: $0) },
      daemons: programs.filter { $0.name == "bluetoothd" }.map(\.process), seesAllProcesses: RunningProgram.areAllSeen,
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
  /// - Throws: CancellationError.
  @LoopActor
  fileprivate mutating func look(hasDaemon: Bool) async throws {
    let abilities = await info.abilities()
    (features, manufacturer) = (abilities.features, abilities.version?.company)
    links = (try? info.links()) ?? []
    autoConnections = info.autoConnections()
    wifi = info.wifiOfSameDevice()
    if hasDaemon { isDiscovering = try await BluetoothDaemon.isDiscovering(info.name) }
  }
}
