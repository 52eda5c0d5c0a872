// SPDX-License-Identifier: Apache-2.0
/// The properties that a controller reports about itself.
package struct ControllerInfo: Sendable, Equatable {
  /// The public address. Nil if the controller has none.
  package var address: Address?
  /// The address that the host uses on links, either the public address or a generated static random address.
  package var ownAddress = PeerAddress(Address(rawValue: 0), .public)
  package var version: ReadLocalVersion.Return?
  package var supported = SupportedCommands()
  package var leFeatures: LEFeatures = []
  /// The size of an LE ACL buffer in bytes. The controller has `aclCount` buffers.
  package var aclLength = 27
  package var aclCount = 1
  /// The largest LL payload, 27…251 bytes. `maxTxTime` is its time on air in µs.
  package var maxTxOctets: UInt16 = 27
  package var maxTxTime: UInt16 = 328

  package init() {}

  /// Sets the maximum payload in bytes and its time on air in µs, limited to the ranges of the specification.
  package mutating func setDataLength(bytes: UInt16, time: UInt16) {
    (maxTxOctets, maxTxTime) = (min(251, max(27, bytes)), min(17040, max(328, time)))
  }

  /// The version of the Core Specification, for example `5.4`. Nil if blectl does not know the version number.
  package var coreVersion: String? {
    guard let number = version?.hciVersion else { return nil }
    return ["1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0", "6.1"]
      .enumerated().first { $0.offset == Int(number) }?.element
  }

  /// The stable names of the features that blectl shows to users, for example `extended_advertising`.
  package var features: [String] {
    var names: [String] = []
    if let coreVersion { names.append("core_\(coreVersion)") }
    if supported.scansExtended { names.append("extended_advertising") }
    if maxTxOctets > 27 { names.append("data_length_\(maxTxOctets)") }
    if leFeatures.contains(.phy2M), supported.contains(LESetPHY.self) { names.append("2m") }
    if leFeatures.contains(.phyCoded), supported.contains(LESetPHY.self) { names.append("coded") }
    return names
  }
}
