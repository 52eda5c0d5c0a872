import Bluetooth
import DeviceFiles

/// Reads `link` and `firmware`: the properties of a device's link layer and of the firmware that processes its packets.
enum LinkReader {
  private static let longest = 3_600_000.0

  private static let keys = [
    "packet_error_rate", "seed", "guard_us", "inter_frame_space_us", "polling_us", "encrypted", "coded", "cut_after_octets", "cuts",
    "controller_buffers", "controller_buffer_length", "changes",
  ]

  static func read(_ entry: FileEntry, into limits: inout LinkLimits) throws(FileEntryError) {
    let fields = try entry.object(keys)
    if let value = fields["packet_error_rate"] { limits.packetErrorRate = try value.decimal(in: 0...1) }
    if let value = fields["seed"] { limits.seed = try value.integer(0...1_000_000_000) }
    // A rate of 0 is allowed, because users compare rates.
    if let value = fields["seed"], fields["packet_error_rate"] == nil, limits.firmware == nil {
      throw value.error("No effect without \"packet_error_rate\" or \"firmware\".")
    }
    if let value = fields["guard_us"] { limits.guardTime = try value.integer(0...1_000_000) }
    if let value = fields["inter_frame_space_us"] { limits.interFrameSpace = try value.integer(0...10_000) }
    if let value = fields["polling_us"] { limits.pollingTime = try value.integer(0...4_000_000) }
    if let value = fields["encrypted"] { limits.isEncrypted = try value.bool() }
    if let value = fields["coded"] {
      guard let spreading = ["s2": true, "s8": false][try value.string()] else { throw value.error("Use s2 or s8.") }
      guard limits.phys.contains(.coded) else { throw value.error("No effect without coded in the device's \"phys\".") }
      limits.prefersS2 = spreading
    }
    limits.cutAfterOctets = try fields["cut_after_octets"]?.integer(1...1_000_000_000)
    limits.cuts = try fields["cuts"]?.integer(1...1_000_000)
    if let value = fields["cuts"], limits.cutAfterOctets == nil { throw value.error("No effect without \"cut_after_octets\".") }
    limits.controllerBuffers = try fields["controller_buffers"]?.integer(1...255)
    limits.controllerBufferLength = try fields["controller_buffer_length"]?.integer(27...251)
    for item in try fields["changes"]?.bounded() ?? [] { limits.changes.append(try change(item, limits)) }
  }

  private static func change(_ entry: FileEntry, _ limits: LinkLimits) throws(FileEntryError) -> LinkChange {
    let fields = try entry.object(["after_ms", "after_octets", "data_length", "phy", "interval_ms", "latency", "timeout_ms"])
    var change: LinkChange
    switch (fields["after_ms"], fields["after_octets"]) {
    case (let time?, nil): change = LinkChange(moment: .time(try time.milliseconds(0...86_400_000)))
    case (nil, let octets?): change = LinkChange(moment: .octets(try octets.integer(0...1_000_000_000)))
    default: throw entry.error("Use either \"after_ms\" or \"after_octets\".")
    }
    change.dataLength = try fields["data_length"]?.integer(27...251)
    if let value = fields["phy"] {
      guard let phy = PHY(name: try value.string()), limits.phys.contains(phy) else { throw value.error("Use a value of \"phys\".") }
      change.phy = phy
    }
    if let value = fields["interval_ms"] {
      let interval = ConnectionInterval(rawValue: UInt16(clamping: Int((try value.decimal(in: 7.5...4000) / 1.25).rounded())))
      let parameters = ConnectionParameters(
        intervalMin: interval, intervalMax: interval, latency: UInt16(clamping: try fields["latency"]?.integer(0...499) ?? 0),
        supervisionTimeout: Centiseconds(rawValue: UInt16(clamping: (try fields["timeout_ms"]?.integer(100...32_000) ?? 20_000) / 10)))
      guard parameters.isValid else { throw entry.error("\"timeout_ms\" must be above 2 · (1 + latency) · interval_ms.") }
      change.parameters = parameters
    } else if let value = fields["latency"] ?? fields["timeout_ms"] {
      throw value.error("No effect without \"interval_ms\".")
    }
    guard change.dataLength != nil || change.phy != nil || change.parameters != nil else {
      throw entry.error("Nothing changes. Add \"data_length\", \"phy\" or \"interval_ms\".")
    }
    return change
  }

  static func firmware(_ entry: FileEntry) throws(FileEntryError) -> Firmware {
    let fields = try entry.object([
      "buffers", "ms_per_packet", "jitter_ms", "ms_per_request", "slow_every", "slow_ms", "short_octets", "ms_per_long_octet", "uneven_ms",
      "when_full", "ms_per_drop", "answers_at_once", "drops_after", "drops",
    ])
    func time(_ key: String) throws(FileEntryError) -> Duration {
      guard let value = fields[key] else { return .zero }
      return .nanoseconds(Int64(try value.decimal(in: 0...longest) * 1_000_000))
    }
    func together(_ key: String, _ other: String) throws(FileEntryError) {
      if let value = fields[key], fields[other] == nil { throw value.error("No effect without \"\(other)\".") }
    }
    for (key, other) in [
      ("slow_every", "slow_ms"), ("slow_ms", "slow_every"), ("short_octets", "ms_per_long_octet"), ("drops", "drops_after"),
    ] { try together(key, other) }
    var firmware = Firmware()
    if let value = fields["buffers"] { firmware.buffers = try value.integer(1...1024) }
    firmware.timePerPacket = try time("ms_per_packet")
    firmware.jitter = try time("jitter_ms")
    firmware.timePerRequest = try time("ms_per_request")
    firmware.slowEvery = try fields["slow_every"]?.integer(1...1_000_000)
    firmware.slowTime = try time("slow_ms")
    if let value = fields["short_octets"] { firmware.shortOctets = try value.integer(0...512) }
    firmware.timePerLongOctet = try time("ms_per_long_octet")
    firmware.unevenTime = try time("uneven_ms")
    if let value = fields["when_full"] { firmware.whenFull = try whenFull(value) }
    if let value = fields["ms_per_drop"], firmware.whenFull != .drop, fields["drops_after"] == nil {
      throw value.error("No effect without \"drops_after\" or \"when_full\": \"drop\".")
    }
    firmware.timePerDrop = try time("ms_per_drop")
    if let value = fields["answers_at_once"] { firmware.answersAtOnce = try value.bool() }
    firmware.dropsAfter = try fields["drops_after"]?.integer(0...1_000_000_000)
    firmware.drops = try fields["drops"]?.integer(1...1_000_000_000)
    return firmware
  }

  private static func whenFull(_ entry: FileEntry) throws(FileEntryError) -> Firmware.WhenFull {
    guard let kind = Firmware.WhenFull(rawValue: try entry.string()) else {
      throw entry.error("Use \(Firmware.WhenFull.allCases.map(\.rawValue).joined(separator: " or ")).")
    }
    return kind
  }
}
