// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// A part of a Nordic package.
package enum FirmwarePart: String, Sendable, CaseIterable {
  // In the order in which devices take them, whatever the order of the manifest.
  case softdeviceBootloader = "softdevice_bootloader"
  case softdevice
  case bootloader
  case application

  /// Whether firmware of a type can stand here. An external application stands under `application`.
  func takes(_ type: InitPacket.FirmwareType) -> Bool {
    switch self {
    case .softdeviceBootloader: type == .softdeviceBootloader
    case .softdevice: type == .softdevice
    case .bootloader: type == .bootloader
    case .application: type == .application || type == .externalApplication
    }
  }
}

/// The file `manifest.json` of a Nordic package: for each part, the names of its binary and its init packet.
package struct DFUManifest: Hashable, Sendable {
  package struct Part: Hashable, Sendable {
    package let kind: FirmwarePart
    package let binary: String
    package let initPacket: String
  }

  package static let name = "manifest.json"

  /// The parts in the order in which devices take them.
  package let parts: [Part]

  package init(_ text: [UInt8]) throws(FirmwareFileError) {
    let tree: JSONTree
    do throws(JSONTree.Failure) { tree = try JSONTree.parse(text) } catch { throw .manifestSyntax(line: error.line, reason: error.reason) }
    if case .array(let files)? = tree["files"]?.kind, tree["format-version"] != nil {
      throw .imagePackage(files: files.compactMap { $0["file"]?.string })
    }
    guard let manifest = tree["manifest"], case .object = manifest.kind else { throw .manifestMember("manifest") }
    let present = FirmwarePart.allCases.compactMap { kind in manifest[kind.rawValue].map { (kind, $0) } }
    // Packages for the older DFU have the contents of the init packet in the manifest.
    if manifest["dfu_version"] != nil || present.contains(where: { $1["init_packet_data"] != nil }) { throw .legacyPackage }
    var parts: [Part] = []
    for (kind, value) in present {
      func file(_ key: String) throws(FirmwareFileError) -> String {
        guard let name = value[key]?.string, !name.isEmpty else { throw .manifestMember("manifest.\(kind.rawValue).\(key)") }
        return name
      }
      parts.append(Part(kind: kind, binary: try file("bin_file"), initPacket: try file("dat_file")))
    }
    guard !parts.isEmpty else { throw .manifestWithoutParts }
    var names: Set<String> = []
    if let shared = parts.flatMap({ [$0.binary, $0.initPacket] }).first(where: { !names.insert($0).inserted }) {
      throw .sharedEntry(shared)
    }
    self.parts = parts
  }
}
