// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles

/// A reader of `link` and `firmware`: the properties of a device's link layer and of the firmware that processes received packets.
enum LinkReader {
  private static let linkKeys: FileEntry.Keys<LinkLimits> = [
    "packet_error_rate": { $0.packetErrorRate = try $1.decimal(in: 0...1) },
    "seed": { $0.seed = try $1.integer(0...1_000_000_000) },
    "guard_us": { $0.guardTime = try $1.integer(0...1_000_000) },
    "inter_frame_space_us": { $0.interFrameSpace = try $1.integer(0...10_000) },
    "polling_us": { $0.pollingTime = try $1.integer(0...4_000_000) },
    "encrypted": { $0.isEncrypted = try $1.bool() },
    "coded": { limits, value in
      guard let spreading = ["s2": true, "s8": false][try value.string()] else { throw value.error("Use s2 or s8.") }
      guard limits.phys.contains(.coded) else { throw value.error("No effect without coded in the device's \"phys\".") }
      limits.prefersS2 = spreading
    },
    "cut_after_octets": { $0.cutAfterBytes = try $1.integer(1...1_000_000_000) },
    "cuts": { $0.cuts = try $1.integer(1...1_000_000) },
    "controller_buffers": { $0.controllerBuffers = try $1.integer(1...255) },
    "controller_buffer_length": { $0.controllerBufferLength = try $1.integer(27...251) },
    "changes": { for item in try $1.bounded() { $0.changes.append(try change(item, $0)) } },
  ]

  static func read(_ entry: FileEntry, into limits: inout LinkLimits) throws(FileEntryError) {
    let fields = try entry.read(linkKeys, into: &limits)
    // A rate of 0 is allowed, because users compare rates.
    if let value = fields["seed"], fields["packet_error_rate"] == nil, limits.firmware == nil {
      throw value.error("No effect without \"packet_error_rate\" or \"firmware\".")
    }
    if let value = fields["cuts"], limits.cutAfterBytes == nil { throw value.error("No effect without \"cut_after_octets\".") }
  }

  private static func change(_ entry: FileEntry, _ limits: LinkLimits) throws(FileEntryError) -> LinkChange {
    let fields = try entry.object(["after_ms", "after_octets", "data_length", "phy", "interval_ms", "latency", "timeout_ms"])
    var change: LinkChange
    switch (fields["after_ms"], fields["after_octets"]) {
    case (let time?, nil): change = LinkChange(moment: .time(try time.milliseconds(0...86_400_000)))
    case (nil, let bytes?): change = LinkChange(moment: .bytes(try bytes.integer(0...1_000_000_000)))
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

  private static let firmwareKeys: FileEntry.Keys<Firmware> = [
    "buffers": { $0.buffers = try $1.integer(1...1024) },
    "ms_per_packet": { $0.timePerPacket = try time($1) },
    "jitter_ms": { $0.jitter = try time($1) },
    "ms_per_request": { $0.timePerRequest = try time($1) },
    "slow_every": { $0.slowEvery = try $1.integer(1...1_000_000) },
    "slow_ms": { $0.slowTime = try time($1) },
    "short_octets": { $0.shortBytes = try $1.integer(0...512) },
    "ms_per_long_octet": { $0.timePerLongByte = try time($1) },
    "uneven_ms": { $0.unevenTime = try time($1) },
    "when_full": { $0.whenFull = try $1.choice("Use \(Firmware.WhenFull.allCases.map(\.rawValue).joined(separator: " or ")).") },
    "ms_per_drop": { $0.timePerDrop = try time($1) },
    "answers_at_once": { $0.answersAtOnce = try $1.bool() },
    "drops_after": { $0.dropsAfter = try $1.integer(0...1_000_000_000) },
    "drops": { $0.drops = try $1.integer(1...1_000_000_000) },
  ]

  /// Reads a time in milliseconds, at most an hour.
  private static func time(_ entry: FileEntry) throws(FileEntryError) -> Duration {
    .nanoseconds(Int64(try entry.decimal(in: 0...3_600_000) * 1_000_000))
  }

  static func firmware(_ entry: FileEntry) throws(FileEntryError) -> Firmware {
    var firmware = Firmware()
    let fields = try entry.read(firmwareKeys, into: &firmware)
    for (key, other) in [
      ("slow_every", "slow_ms"), ("slow_ms", "slow_every"), ("short_octets", "ms_per_long_octet"), ("drops", "drops_after"),
    ] {
      if let value = fields[key], fields[other] == nil { throw value.error("No effect without \"\(other)\".") }
    }
    if let value = fields["ms_per_drop"], firmware.whenFull != .drop, fields["drops_after"] == nil {
      throw value.error("No effect without \"drops_after\" or \"when_full\": \"drop\".")
    }
    return firmware
  }
}
