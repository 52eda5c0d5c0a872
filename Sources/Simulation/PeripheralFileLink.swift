import DeviceFiles

/// `link` and `firmware`: how a device's link layer, and what takes its packets, are to be.
enum LinkReader {
  private static let longest = 3_600_000.0

  static func read(_ entry: FileEntry, into limits: inout LinkLimits) throws(FileEntryError) {
    let fields = try entry.object(["packet_error_rate", "guard_us", "inter_frame_space_us", "polling_us"])
    if let value = fields["packet_error_rate"] { limits.packetErrorRate = try value.decimal(in: 0...1) }
    if let value = fields["guard_us"] { limits.guardTime = try value.integer(0...1_000_000) }
    if let value = fields["inter_frame_space_us"] { limits.interFrameSpace = try value.integer(0...10_000) }
    if let value = fields["polling_us"] { limits.pollingTime = try value.integer(0...4_000_000) }
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
      if let value = fields[key], fields[other] == nil { throw value.error("it says nothing without \(other)") }
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
      throw value.error("nothing is dropped unless when_full is drop, or with drops_after")
    }
    firmware.timePerDrop = try time("ms_per_drop")
    if let value = fields["answers_at_once"] { firmware.answersAtOnce = try value.bool() }
    firmware.dropsAfter = try fields["drops_after"]?.integer(0...1_000_000_000)
    firmware.drops = try fields["drops"]?.integer(1...1_000_000_000)
    return firmware
  }

  private static func whenFull(_ entry: FileEntry) throws(FileEntryError) -> Firmware.WhenFull {
    guard let kind = Firmware.WhenFull(rawValue: try entry.string()) else {
      throw entry.error("there are \(Firmware.WhenFull.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return kind
  }
}
