import Bluetooth
import EventLoop
import HCI
import LinuxBluetooth
import LinuxIO

/// The facts that `doctor` collects on this machine. `findings` interprets them.
struct Examination: Sendable {
  struct Adapter: Sendable {
    var info: AdapterInfo
    /// The features, named as in `adapters`.
    var features: [String] = []
    /// The company identifier of the controller's manufacturer. Nil if unknown.
    var manufacturer: UInt16?
    var links: [AdapterLink] = []
    /// The devices that the kernel connects to automatically. Nil if this process may not read them.
    var autoConnections: [PeerAddress]?
    /// Whether bluetoothd scans with it. Nil if bluetoothd was not asked or did not answer.
    var isDiscovering: Bool?
    /// The Wi-Fi interface of the same USB device.
    var wifi: String?
  }

  /// The kernel's release. Nil if /proc is not mounted.
  var kernel: String?
  /// The upstream version of the kernel.
  var version: KernelVersion?
  var adapters: Result<[Adapter], AdapterProblem>
  /// The index in --adapter. Nil selects the first usable adapter.
  var wanted: Int?
  /// The switch of the platform that hides the adapters.
  var platformBlock: RFKill.Switch?
  /// The capabilities of this process. Nil if /proc is not mounted.
  var rights: ProcessRights?
  /// The program's path.
  var executable = "blectl"
  /// The file system of the program's file.
  var fileSystem: Mount?
  /// The process IDs of bluetoothd.
  var daemons: [Int] = []
  /// False if /proc may hide some processes.
  var seesAllProcesses = true
  /// The programs that have HCI sockets or L2CAP sockets open.
  var hci = SocketUsers()
  var l2cap = SocketUsers()

  var found: [Adapter] { (try? adapters.get()) ?? [] }
  /// The adapter in --adapter, or all adapters.
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
