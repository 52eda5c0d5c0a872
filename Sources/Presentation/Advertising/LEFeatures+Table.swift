/// The names of LE features (Vol 6 Part B §4.6).
enum LEFeatures {
  /// Returns the names of the set bits, the first byte first. A bit without a name is `bit N`.
  static func names(_ bytes: [UInt8]) -> [String] {
    bytes.enumerated().flatMap { index, byte in
      (0..<8).filter { byte >> UInt8($0) & 1 == 1 }.map { bit in
        let number = 8 * index + bit
        return number < names.count ? names[number] : later[number] ?? "bit \(number)"
      }
    }
  }

  private static let later = [
    63: "LL Extended Feature Set", 64: "Monitoring Advertisers", 65: "Frame Space Update",
    72: "Shorter Connection Intervals", 73: "Shorter Connection Intervals (Host Support)",
  ]

  /// By bit, from 0.
  private static let names = [
    "LE Encryption",
    "Connection Parameters Request Procedure",
    "Extended Reject Indication",
    "Peripheral-initiated Features Exchange",
    "LE Ping",
    "LE Data Packet Length Extension",
    "LL Privacy",
    "Extended Scanner Filter Policies",
    "LE 2M PHY",
    "Stable Modulation Index - Transmitter",
    "Stable Modulation Index - Receiver",
    "LE Coded PHY",
    "LE Extended Advertising",
    "LE Periodic Advertising",
    "Channel Selection Algorithm #2",
    "LE Power Class 1",
    "Minimum Number of Used Channels Procedure",
    "Connection CTE Request",
    "Connection CTE Response",
    "Connectionless CTE Transmitter",
    "Connectionless CTE Receiver",
    "Antenna Switching During CTE Transmission (AoD)",
    "Antenna Switching During CTE Reception (AoA)",
    "Receiving Constant Tone Extensions",
    "Periodic Advertising Sync Transfer - Sender",
    "Periodic Advertising Sync Transfer - Recipient",
    "Sleep Clock Accuracy Updates",
    "Remote Public Key Validation",
    "Connected Isochronous Stream - Central",
    "Connected Isochronous Stream - Peripheral",
    "Isochronous Broadcaster",
    "Synchronized Receiver",
    "Connected Isochronous Stream (Host Support)",
    "LE Power Control Request",
    "LE Power Control Request (bit 34)",
    "LE Path Loss Monitoring",
    "Periodic Advertising ADI support",
    "Connection Subrating",
    "Connection Subrating (Host Support)",
    "Channel Classification",
    "Advertising Coding Selection",
    "Advertising Coding Selection (Host Support)",
    "Decision-Based Advertising Filtering",
    "Periodic Advertising with Responses - Advertiser",
    "Periodic Advertising with Responses - Scanner",
    "Unsegmented Framed Mode",
    "Channel Sounding",
    "Channel Sounding (Host Support)",
    "Channel Sounding Tone Quality Indication",
  ]
}
