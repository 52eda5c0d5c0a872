import Glibc
import SystemPackage

/// The advertising instance of this process on an adapter of the kernel. The kernel keeps an instance after its process has ended, so a
/// file has the number of the instance. The next process removes an instance that a killed one left.
@LoopActor
final class AdvertisingInstance {
  private let adapter: AdapterInfo
  private let management: ManagementSocket
  private let record: InstanceRecord?
  private let features: Features
  /// The number of the instance, 1–255. Nil while the process has none.
  private(set) var number: UInt8?

  /// Finds out what the adapter can advertise, and removes the instance of a killed process.
  /// - Parameter file: The path of the file with the number. Nil keeps no number.
  /// - Throws: KernelAdvertisingProblem, KernelPairingProblem, FileError, MalformedPacket, CancellationError.
  init(_ adapter: AdapterInfo, _ management: ManagementSocket, file: String?) async throws {
    (self.adapter, self.management) = (adapter, management)
    record = try file.map { try InstanceRecord($0, adapter.name) }
    var features = try await Self.features(management, adapter.name)
    if let left = record?.left, features.instances.contains(left) {
      _ = try await Self.ask(management, .removeAdvertising(instance: left), adapter.name)
      features.instances.removeAll { $0 == left }
    }
    record?.left = nil
    self.features = features
  }

  /// Advertises, or changes what is advertised.
  /// - Throws: GAPError, KernelAdvertisingProblem, KernelPairingProblem, CancellationError.
  func set(_ advertising: Advertising) async throws {
    try features.check(advertising, adapter.name)
    if !advertising.isConnectable { try await refuseConnectableSetting() }
    let free = (1...max(1, features.most)).first { !features.instances.contains($0) }
    guard let number = number ?? (Int(features.most) > features.instances.count ? free : nil) else {
      throw KernelAdvertisingProblem.noFreeInstance(adapter: adapter.name, instances: features.instances.count)
    }
    // Before the kernel has it: a process may be killed at any time.
    record?.left = number
    self.number = number
    do {
      _ = try await Self.ask(management, .addAdvertising(instance: number, advertising), adapter.name)
      _ = try await Self.ask(management, .addAdvertisingData(instance: number, advertising), adapter.name)
    } catch {
      await remove()
      throw error
    }
  }

  /// With this setting, the kernel takes connections through every advertisement.
  private func refuseConnectableSetting() async throws {
    var reader = ByteReader(try await Self.ask(management, .readInformation, adapter.name))
    _ = try reader.bytes(13, "information of an adapter")
    if try reader.uint32("settings of an adapter") & 1 << 1 != 0 { throw KernelAdvertisingProblem.alwaysConnectable(adapter: adapter.name) }
  }

  /// Stops advertising. Also works in a canceled task.
  func remove() async {
    guard let number else { return }
    self.number = nil
    let deadline = EventLoop.shared.now.advanced(by: .seconds(1))
    await shielded { [management] in
      _ = try? await management.start(.removeAdvertising(instance: number)).value(until: deadline)
    }
    record?.left = nil
  }

  private static func ask(_ management: ManagementSocket, _ command: ManagementCommand, _ adapter: String) async throws -> [UInt8] {
    do { return try await management.send(command) } catch let problem as KernelPairingProblem {
      switch problem {
      case .notPermitted: throw KernelAdvertisingProblem.notPermitted(adapter: adapter)
      case .refused(_, let command, let status):
        throw KernelAdvertisingProblem.refused(adapter: adapter, command: command, status: status)
      default: throw problem
      }
    }
  }

  /// The limits of an adapter's advertising (Read Advertising Features).
  private struct Features {
    var dataLimit = 31
    var scanResponseLimit = 31
    var most: UInt8 = 0
    /// The numbers of all instances, also those of other programs.
    var instances: [UInt8] = []

    /// The bytes that the kernel puts in front of data without Flags. Longer data would lose them in silence, or overflow.
    static let addedFlags = 3

    func check(_ advertising: Advertising, _ adapter: String) throws {
      guard AdvertisingCommands.intervals.contains(advertising.interval) else {
        throw GAPError.advertisingIntervalOutOfRange(advertising.interval)
      }
      let lacksFlags = advertising.data.count < 3 || advertising.data[0] < 2 || advertising.data[1] != 0x01
      let whole = advertising.isExtended ? dataLimit : min(dataLimit, 31)
      let limit = whole - (lacksFlags ? Self.addedFlags : 0)
      guard advertising.data.count <= limit else {
        throw KernelAdvertisingProblem.dataTooLong(adapter: adapter, count: advertising.data.count, limit: limit, lacksFlags: lacksFlags)
      }
      let room = advertising.isExtended ? (advertising.isConnectable ? 0 : scanResponseLimit) : min(scanResponseLimit, 31)
      guard advertising.scanResponse.count <= room else {
        throw GAPError.advertisingTooLong(adapter: adapter, .scanResponse, advertising.scanResponse.count, limit: room)
      }
    }
  }

  private static func features(_ management: ManagementSocket, _ adapter: String) async throws -> Features {
    var reader = ByteReader(try await ask(management, .readAdvertisingFeatures, adapter))
    _ = try reader.uint32("advertising flags")
    var features = Features()
    features.dataLimit = Int(try reader.uint8("length of advertising data"))
    features.scanResponseLimit = Int(try reader.uint8("length of a scan response"))
    features.most = try reader.uint8("number of advertising instances")
    for _ in 0..<(try reader.uint8("number of advertising instances")) {
      features.instances.append(try reader.uint8("advertising instance"))
    }
    return features
  }
}

/// The file with the number of the advertising instance of a process. The process locks it.
@LoopActor
final class InstanceRecord {
  private let file: OwnedDescriptor
  private let start: String

  /// Opens and locks the file.
  /// - Throws: KernelAdvertisingProblem.servesAlready, FileError.unwritable.
  init(_ path: String, _ adapter: String, start: String? = SmallFile.text(of: "/proc/sys/kernel/random/boot_id", limit: 64)) throws {
    self.start = (start ?? "").split(separator: "\n").first.map(String.init) ?? ""
    do throws(Errno) {
      try StateFile.makeFolders(above: path)
      file = try SystemCall.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    } catch { throw FileError.unwritable(path, error) }
    guard try StateLog.lock(file.rawValue, LOCK_EX, tries: 1) else {
      throw KernelAdvertisingProblem.servesAlready(adapter: adapter, path)
    }
  }

  /// The number that a process of the same start of the system has written. Nil without one.
  var left: UInt8? {
    get {
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = unsafe pread(file.rawValue, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      let words = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
      return words.count == 2 && words[0] == start ? UInt8(words[1]) : nil
    }
    set {
      // The new text before the end of the old one: a process may be killed in between.
      let text = Array((newValue.map { "\(start) \($0)" } ?? "").utf8)
      _ = unsafe pwrite(file.rawValue, text, text.count, 0)
      _ = ftruncate(file.rawValue, off_t(text.count))
    }
  }
}
