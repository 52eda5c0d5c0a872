import ArgumentParser
import Bluetooth
import DeviceFiles
import EventLoop
import GAP
import GATT
import Operations
import Terminal
import Text

struct Scan: ListeningCommand, PeerNamingCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan", _superCommandName: "blectl",
    abstract: "Show advertisements.",
    discussion: """
      A record is printed for every new (address, PDU type, payload); --duplicates prints every report. Advertisements and scan responses \
      are separate records. On a terminal a table shows one line per device, the strongest first (p public, r random, ~ changing address; c connectable). Filters look at all that was heard of a device. -v adds one line for each AD structure. \
      iBeacon, AltBeacon, Eddystone, BTHome, Apple's and Microsoft's messages are decoded, in JSON as `decoded`, \
      and with --device the manufacturer data that the file describes.
      """)

  @OptionGroup var process: ProcessOptions

  @Option(
    name: [.customShort("d", allowingJoined: true), .long], parsing: .unconditional,
    help: ArgumentHelp("Scan time in seconds; 0 scans until Ctrl-C (default: 10).", valueName: "seconds"), transform: TimeText.seconds)
  var duration: Double = 10

  @Flag(help: "Only listen; sends no scan requests and so sees no scan responses.")
  var passive = false

  @Option(
    help: ArgumentHelp("Only devices with this word in their name, or a whole name like this glob; repeatable.", valueName: "word|glob"))
  var name: [String] = []

  @Option(help: ArgumentHelp("Only devices that advertise this service (UUID or name); repeatable.", valueName: "uuid"))
  var service: [ServiceArgument] = []

  @Option(help: ArgumentHelp("Only this device: an address, also with /public or /random, or @ALIAS; repeatable.", valueName: "address"))
  var address: [ScannedPeerArgument] = []

  @Option(
    help: ArgumentHelp(
      "Only devices with data of this company (004c, 0x004c, apple), beginning with HEX; repeatable.", valueName: "id[:hex]"))
  var manufacturer: [ManufacturerArgument] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only reports at least this strong, -127 to 20 dBm; weaker ones do not change the table.", valueName: "dBm"))
  var minRssi: Int?

  @Flag(help: "Print every report, not only new ones.")
  var duplicates = false

  @Option(help: ArgumentHelp("Primary PHYs to scan on: 1m, coded or 1m,coded.", valueName: "phys"))
  var phy: ScanPHYs = .le1M

  @Option(
    name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional,
    help: ArgumentHelp("Stop after this many records; exit 2 when the time is over first.", valueName: "n"))
  var count: Int?

  @Option(
    help: ArgumentHelp(
      "Order of the table: rssi (the strongest first), name, last (heard last first) or first (default: rssi).", valueName: "key"))
  var sort: DeviceOrder.Key?

  @Option(help: ArgumentHelp("Add the JSON records to this file, whatever is shown.", valueName: "file"), completion: .file())
  var log: String?

  @Option(
    help: ArgumentHelp(
      "Decrypts BTHome: 32 hex digits, for this address or for everyone who has none of their own; repeatable.",
      valueName: "[address=]hex"))
  var key: [KeyArgument] = []

  @OptionGroup var file: DeviceOptions

  @Flag(help: "Show the octets of each record instead of the table.")
  var raw = false

  func validate() throws {
    if !(duration >= 0 && duration <= 31_536_000) {
      throw ValidationError("--duration takes seconds from 0 to 31536000, not \(duration.plainText)")
    }
    if let minRssi, !(-127...20).contains(minRssi) { throw ValidationError("--min-rssi takes -127 to 20 dBm, not \(minRssi)") }
    if name.contains("") { throw ValidationError("--name is empty, as an unset variable is; without --name every name passes.") }
    if log == "-" { throw ValidationError("--log takes the name of a file; the records on standard output are --json.") }
    if let count, count < 1 { throw ValidationError("--count takes 1 or more, not \(count)") }
  }

  var runsUntilStopped: Bool { count == nil && duration == 0 }
  var hasTimeLimit: Bool { duration > 0 }
  var failureAtInputEnd: Failure? { count.map { Failure(.notFound, "the input ended before \($0) record(s) arrived") } }

  /// What is a record, as the options say.
  @LoopActor
  private func watch(_ configuration: Configuration) async throws -> DeviceWatch.Options {
    var options = DeviceWatch.Options()
    options.keepsDuplicates = duplicates
    options.filter.names = name.map { ScanFilter.NamePattern($0) }
    options.filter.services = service.map(\.uuid)
    for argument in address { options.filter.devices.append(try await configuration.resolve(argument.peer)) }
    options.filter.manufacturers = manufacturer.map(\.manufacturer)
    options.filter.minimumRSSI = minRssi
    return options
  }

  @LoopActor
  func name(_ files: inout CommandFiles) {
    files.reads(file.device, as: "--device")
    files.writes(log, as: "--log")
  }

  func run(in context: Context) async throws {
    let options = try await watch(context.configuration)
    let device = try await file.load()
    if let device, device.advertisement?.manufacturerData.isEmpty ?? true {
      context.output.note("\(DisplayText.escape(device.file)) describes no manufacturer data: it has no advertisement.manufacturer_data")
    }
    if step.timeout != nil { context.output.note("--timeout does nothing here: --duration says how long to scan") }
    let log = try log.map { try ScanLog($0) }
    let view = ScanView(
      options, sort: sort ?? .rssi, showsOctets: raw, formats: AdvertisingFormats(keys: key.keys, device: device), context.output, log)
    if sort != nil, !view.isLive {
      context.output.note("--sort has no effect here: it orders the table on a terminal, and records appear as they are heard")
    }
    defer { context.process.memory.hear(view.heard) }
    do { try await listen(view, in: context) } catch {
      // The table as it was when it ended; a scan that never began has none.
      try await view.finish(after: error)
      throw error
    }
    try await view.finish()
    if let count, view.records < count {
      throw Failure(
        .notFound,
        "\(view.records) of \(count) records in \(Duration.limited(seconds: duration).secondsText) s; \(view.deviceCount) device(s) heard in all"
      )
    }
    if view.records == 0, !options.filter.isEmpty {
      context.output.note("nothing passed the filters; \(view.deviceCount) device(s) heard in all")
    } else if view.deviceCount == 0, !phy.phys.contains(.le1M) {
      context.output.note("no device was heard. Most devices, and the simulator's, advertise on 1m only: use --phy 1m,coded")
    }
  }

  @LoopActor
  private func listen(_ view: ScanView, in context: Context) async throws {
    let radio = try await context.radio()
    var parameters = ScanParameters()
    parameters.isActive = !passive
    parameters.phys = phy.phys
    try view.start()
    // An argument is looked up at each access.
    let count = count
    try await radio.listen(parameters, for: duration > 0 ? .limited(seconds: duration) : nil) { report, time in
      try await view.add(report, at: time)
      return count.map { view.records >= $0 } ?? false ? .end : .goOn
    } onDrop: {
      context.tellOfDropped($0)
    }
  }
}

struct ServiceArgument: ExpressibleByArgument, Sendable {
  let uuid: UUID

  init?(argument: String) {
    guard let uuid = AssignedNumbers.uuid(named: argument) ?? UUID(argument) else { return nil }
    self.uuid = uuid
  }
}

/// An address with or without its type, `@last` or `@ALIAS`: who is meant whatever else they advertise.
struct ScannedPeerArgument: ExpressibleByArgument, Sendable {
  let peer: PeerArgument

  init?(argument: String) {
    switch PeerArgument(form: argument) {
    case .selector(.address(let address, let type)): peer = .selector(.address(address, type))
    case .last: peer = .last
    case .alias(let name): peer = .alias(name)
    case .current: peer = .current
    case .selector, nil: return nil
    }
  }
}

struct AddressArgument: ExpressibleByArgument, Sendable {
  let address: Address

  init?(argument: String) {
    guard let address = Address(argument) else { return nil }
    self.address = address
  }
}

/// `0x0305`, `0305:1240`, `apple`: a company identifier, four hex digits with or without 0x, or the company's name or how it begins, and the
/// first octets of its data.
struct ManufacturerArgument: ExpressibleByArgument, Sendable {
  let manufacturer: ScanFilter.Manufacturer

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let id = parts.first, let company = Self.company(String(id)), let prefix = parts.count == 2 ? Hex.decode(String(parts[1])) : []
    else { return nil }
    manufacturer = ScanFilter.Manufacturer(company: company, prefix: prefix)
  }

  private static func company(_ text: String) -> UInt16? {
    // Fewer digits without 0x may be a name: ace, abb.
    let digits = text.after("0x") ?? (text.utf8.count == 4 ? text : "")
    if let number = Hex.number(digits) { return UInt16(exactly: number) }
    let named = AssignedNumbers.companies(named: text)
    return named.count == 1 ? named.first : nil
  }
}

/// `231d39…b932` or `54:48:E6:8F:80:A5=231d39…b932`: the key of encrypted sensor data.
struct KeyArgument: ExpressibleByArgument, Sendable {
  let address: Address?
  let key: AES128

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count <= 2, let digits = parts.last, let octets = Hex.decode(String(digits)), let key = AES128(key: octets) else {
      return nil
    }
    self.key = key
    address = parts.count == 2 ? Address(parts[0]) : nil
    if parts.count == 2, address == nil { return nil }
  }
}

extension [KeyArgument] {
  var keys: BTHomeKeys {
    var keys = BTHomeKeys()
    for argument in self { keys.add(argument.key, of: argument.address) }
    return keys
  }
}

struct ScanPHYs: ExpressibleByArgument, Sendable {
  let phys: Set<PHY>

  static let le1M = Self(phys: [.le1M])

  private init(phys: Set<PHY>) { self.phys = phys }

  init?(argument: String) {
    var phys: Set<PHY> = []
    for word in argument.split(separator: ",") {
      guard let phy = PHY(name: word), phy != .le2M else { return nil }
      phys.insert(phy)
    }
    guard !phys.isEmpty else { return nil }
    self.phys = phys
  }

  var defaultValueDescription: String { phys.map(\.name).sorted().joined(separator: ",") }
}

extension DeviceOrder.Key: ExpressibleByArgument {}
