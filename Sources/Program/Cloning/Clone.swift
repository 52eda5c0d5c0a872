import BluetoothLESimulator
import CommandLine
import Traces

package struct Clone: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "clone", abstract: "Write a file that simulates a real device.",
    discussion: """
      Reads the services, characteristics, descriptors and values of PEER, and its advertisement. Writes a peripheral file to standard output, see blectl-peripheral(5). Simulate the device with -i sim:FILE.

      blectl only reads. It reads without pairing first, so that the file has the errors with which the device refuses. With --pair, blectl then pairs and reads the refused values.

      With --trace FILE, blectl uses no radio, but clones the device of a capture. Here, --trace reads FILE instead of writing it. Notes name what the capture lacks.
      """)
  static let examples = ["blectl -i sim clone Band-7 >band.json", "blectl clone --trace phone.btsnoop >band.json"]
  static let traits = CommandTraits(
    runsInSessions: false, isRecordable: false, scriptRefusal: "Clone the device with blectl clone, then use the file: -i sim:FILE")

  @OptionGroup var process: ProcessOptions
  @Argument(help: "Address, name, name:GLOB, mac:MAC, service:UUID, @last or @ALIAS") var peer: PeerArgument?
  @Option("With --trace: the device, if the capture has several", value: "address") var device: Address?
  @OptionGroup var choice: ChoiceOptions
  @OptionGroup var link: LinkOptions

  var usesAdapter: Bool { process.trace == nil }

  /// The maximum size of a capture in bytes.
  private static let traceLimit = 256 << 20
  /// The width of the file in columns.
  private static let width = 120

  func validate() throws {
    if process.trace != nil {
      guard peer == nil else {
        throw ValidationError("PEER and --trace exclude each other. To choose a device of a capture: --device ADDRESS")
      }
      if process.trace == "-" { throw ValidationError("clone --trace needs a file.") }
    } else {
      guard peer != nil else { throw ValidationError("Give a device, or a capture with --trace FILE.") }
      if device != nil { throw ValidationError("--device needs --trace FILE.") }
    }
  }

  func run(in context: Context) async throws {
    let (snapshot, failure) =
      if let peer { try await live(peer, context) } else { (try await recorded(process.trace ?? "", context), nil as FailedRead?) }
    var writer = PeripheralFileWriter(snapshot)
    let file = writer.file()
    for line in context.output.style.json ? [file.line] : file.lines(width: Self.width) { try await context.output.line(line) }
    for gap in writer.gaps { context.output.note(gap) }
    if let failure { throw failure }
  }

  // MARK: A real device

  @LoopActor private func live(_ peer: PeerArgument, _ context: Context) async throws -> (DeviceSnapshot, FailedRead?) {
    let selector = try await context.configuration.resolve(peer)
    let search = PeerSearch(
      selector, takesFirst: choice.first, demandsOne: choice.unique, limit: link.wait ? step.waitLimit : step.searchLimit)
    let match = try await context.session.find(search, LinkText(context.process, context.output))
    var heard = DeviceSnapshot(match.peer)
    // Connected devices often stop advertising.
    try await context.radio().listen(ScanParameters(), for: step.searchLimit) { report, _ in
      heard.add(report)
      if heard.isAdvertisementWhole { return .end }
      return heard.advertisement == nil ? .goOn : .endAfter(Self.scanResponseLimit)
    }
    if heard.advertisement == nil { heard.gaps.append("The device did not advertise while blectl listened.") }
    if heard.isScannable, heard.scanResponse == nil { heard.gaps.append("The device did not answer scan requests.") }
    let found = PeerArgument.selector(.address(match.peer.address, match.peer.type))
    return try await context.withPeer(PeerOptions(found, choice, link), isRepeatable: true) { [heard] connection in
      var snapshot = heard
      let wasEncrypted = connection.security?.level != nil
      let failure = try await connection.client.complete(&snapshot) { connection.security?.level }
      if wasEncrypted {
        snapshot.gaps.append("The link was encrypted from the start, so the file lacks the permissions that need encryption.")
      }
      if let security = connection.security?.level, let bond = connection.security?.stored?.bond {
        snapshot.pairing = (bond.method, security)
      }
      if let failure { snapshot.gaps.append("The read of \(failure.attribute) failed, so later values may be missing.") }
      return (snapshot, failure)
    }
  }

  /// The time to wait for the scan response after the first advertisement.
  private static let scanResponseLimit = Duration.seconds(3)

  // MARK: A capture

  @LoopActor private func recorded(_ path: String, _ context: Context) async throws -> DeviceSnapshot {
    let recording = try await AdapterSpec.recording(path, limit: Self.traceLimit, isStrict: false, for: "clone") { context.output.note($0) }
    let name = DisplayText.quote(path)
    let all = recording.usedPeers
    let peers = all.filter { device == nil || $0?.address == device }
    guard let peer = peers.first else {
      let wanted = device.map { "\($0)" } ?? "a device"
      throw Failure(.notFound, "\(name) has no connection to \(wanted).\(all.isEmpty ? "" : " It has: \(Self.list(all)).")")
    }
    guard peers.count == 1 else {
      throw Failure(.usage, "\(name) has connections to \(peers.count) devices: \(Self.list(peers)). Choose one: --device ADDRESS")
    }
    var snapshot = recording.snapshot(of: peer)
    guard !snapshot.table.services.isEmpty else {
      let who = peer.map { "\($0.address)" } ?? "the device"
      throw Failure(
        .notFound,
        "\(name) does not show the services of \(who): the host knew them. Remove the device from the host, and record its first connection."
      )
    }
    if recording.drops + recording.cut > 0 {
      snapshot.gaps.append("The capture lost \(recording.drops) packets and cut \(recording.cut).")
    }
    return snapshot
  }

  private static func list(_ peers: [PeerAddress?]) -> String {
    peers.prefix(20).map { $0.map { "\($0.address)" } ?? "an unknown address" }.joined(separator: ", ")
  }
}
