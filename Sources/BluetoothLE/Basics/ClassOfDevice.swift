// SPDX-License-Identifier: Apache-2.0
/// The Class of Device of BR/EDR (Assigned Numbers), which dual-mode devices advertise.
package struct ClassOfDevice: Equatable, Sendable, CustomStringConvertible {
  /// The Class of Device as a number of 24 bits.
  package let rawValue: UInt32

  /// Creates the value from three bytes of an advertisement, least significant first. Nil for any other number of bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 3 else { return nil }
    rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The device class and the services, as in `Phone: Smartphone; Telephony, Networking`. Unassigned values appear as numbers.
  package var description: String {
    let services = Self.serviceNames.enumerated().compactMap {
      rawValue >> (UInt32($0.offset) + 13) & 1 == 1 && !$0.element.isEmpty ? $0.element : nil
    }
    return device + (services.isEmpty ? "" : "; " + services.joined(separator: ", "))
  }

  /// The names of the major device class and, if present, of the minor device class.
  package var device: String {
    let (major, minor) = (Int(rawValue >> 8 & 0x1F), Int(rawValue >> 2 & 0x3F))
    let majorName = major == 31 ? "Uncategorized" : Self.majors.indices.contains(major) ? Self.majors[major] : "major class \(major)"
    let parts: [String]
    switch major {
    case 3: parts = [Self.name(minor >> 3, of: Self.access)]
    case 5: parts = [Self.name(minor >> 4, of: Self.input), Self.name(minor & 0x0F, of: Self.peripherals)]
    case 6: parts = Self.imaging.enumerated().compactMap { minor >> ($0.offset + 2) & 1 == 1 ? $0.element : nil }
    default: parts = [Self.name(minor, of: Self.minors[major] ?? [])]
    }
    let named = parts.filter { !$0.isEmpty }
    return named.isEmpty ? majorName : "\(majorName): \(named.joined(separator: ", "))"
  }

  /// Returns the name at an index of a list. An index without a name yields `minor class N`, or an empty text if the index is 0.
  private static func name(_ number: Int, of names: [String]) -> String {
    names.indices.contains(number) ? names[number] : number == 0 ? "" : "minor class \(number)"
  }

  private static let serviceNames = [
    "Limited Discoverable", "LE Audio", "", "Positioning", "Networking", "Rendering", "Capturing", "Object Transfer", "Audio", "Telephony",
    "Information",
  ]
  private static let majors = [
    "Miscellaneous", "Computer", "Phone", "Network Access Point", "Audio/Video", "Peripheral", "Imaging", "Wearable", "Toy", "Health",
  ]
  private static let access = [
    "Fully available", "1–17 % used", "17–33 % used", "33–50 % used", "50–67 % used", "67–83 % used", "83–99 % used", "No service",
  ]
  private static let input = ["", "Keyboard", "Pointing Device", "Keyboard and Pointing Device"]
  private static let peripherals = [
    "", "Joystick", "Gamepad", "Remote Control", "Sensing Device", "Digitizer Tablet", "Card Reader", "Digital Pen", "Handheld Scanner",
    "Handheld Gestural Input Device",
  ]
  private static let imaging = ["Display", "Camera", "Scanner", "Printer"]
  private static let minors: [Int: [String]] = [
    1: ["", "Desktop", "Server", "Laptop", "Handheld", "Palm-size", "Wearable Computer", "Tablet"],
    2: ["", "Cellular", "Cordless", "Smartphone", "Wired Modem or Voice Gateway", "Common ISDN Access"],
    4: [
      "", "Wearable Headset", "Hands-free", "minor class 3", "Microphone", "Loudspeaker", "Headphones", "Portable Audio", "Car Audio",
      "Set-top Box", "HiFi Audio", "VCR", "Video Camera", "Camcorder", "Video Monitor", "Video Display and Loudspeaker",
      "Video Conferencing",
      "minor class 17", "Gaming/Toy", "Hearing Aid", "Glasses",
    ],
    7: ["", "Wristwatch", "Pager", "Jacket", "Helmet", "Glasses", "Pin"],
    8: ["", "Robot", "Vehicle", "Doll/Action Figure", "Controller", "Game"],
    9: [
      "", "Blood Pressure Monitor", "Thermometer", "Weighing Scale", "Glucose Meter", "Pulse Oximeter", "Heart/Pulse Rate Monitor",
      "Health Data Display", "Step Counter", "Body Composition Analyzer", "Peak Flow Monitor", "Medication Monitor", "Knee Prosthesis",
      "Ankle Prosthesis", "Generic Health Manager", "Personal Mobility Device",
    ],
  ]
}
