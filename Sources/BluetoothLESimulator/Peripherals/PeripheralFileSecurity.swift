// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles

/// A reader of `security`: whether and how a device pairs.
enum SecurityReader {
  private static let keys: FileEntry.Keys<DeviceSecurity> = [
    "io": { $0.parameters.ioCapability = try capability($1) },
    "sc": { $0.parameters.secureConnections = try $1.bool() ? .preferred : .never },
    "mitm": { $0.parameters.requestsMITM = try $1.bool() },
    "bonding": { $0.parameters.isBonding = try $1.bool() },
    "key_size": { $0.parameters.keySizes = 7...UInt8(clamping: try $1.integer(7...16)) },
    "passkey": { security, value in
      guard let passkey = SixDigits(try value.string()) else { throw value.error("Use six digits, such as \"012345\".") }
      (security.passkey, security.parameters.passkey) = (passkey, passkey)
    },
    "refuses": { security, value in
      let name = try value.string()
      guard let reason = PairingFailedReason.all.first(where: { $0.snakeName == name }) else {
        throw value.error("Unknown reason. Use \(PairingFailedReason.all.map(\.snakeName).joined(separator: ", ")).")
      }
      security.refusal = reason
    },
    "forgets": { $0.forgets = try $1.bool() },
  ]

  static func read(_ entry: FileEntry) throws(FileEntryError) -> DeviceSecurity {
    var security = DeviceSecurity()
    security.parameters.keySizes = 7...16
    let fields = try entry.read(keys, into: &security)
    if fields["io"] == nil, security.passkey != nil { security.parameters.ioCapability = .displayOnly }
    if fields["mitm"] == nil { security.parameters.requestsMITM = security.parameters.ioCapability != .noInputNoOutput }
    if let value = fields["passkey"], [.noInputNoOutput, .displayYesNo].contains(security.parameters.ioCapability) {
      throw value.error("No effect with this \"io\". Use display, keyboard or keyboard-display.")
    }
    if security.refusal != nil, let other = fields.filter({ $0.key != "refuses" }).min(by: { $0.key < $1.key }) {
      throw other.value.error("No effect with \"refuses\".")
    }
    return security
  }

  private static func capability(_ entry: FileEntry) throws(FileEntryError) -> IOCapability {
    let name = try entry.string()
    guard let found = IOCapability.allCases.first(where: { $0.name == name }) else {
      throw entry.error("Unknown capability. Use \(IOCapability.allCases.map(\.name).joined(separator: ", ")).")
    }
    return found
  }
}
