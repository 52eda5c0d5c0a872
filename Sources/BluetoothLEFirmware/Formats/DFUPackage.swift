// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLECompression

/// A package for Nordic Secure DFU: a ZIP archive with a manifest, and with a binary and an init packet for each part.
package struct DFUPackage: Sendable {
  package struct Part: Sendable {
    package let kind: FirmwarePart
    /// The name of the binary in the archive.
    package let name: String
    package let binary: [UInt8]
    /// The init packet as devices get it.
    package let initPacketBytes: [UInt8]
    package let initPacket: InitPacket

    /// The reason why the init packet does not belong to the binary: nrfutil itself writes such packages. Nil if it does.
    package var problem: FirmwareFileError? {
      guard kind.takes(initPacket.type) else { return .partType(kind, initPacket.type) }
      guard let size = initPacket.size else { return .initPacket(kind, .missingField("size")) }
      guard size == binary.count else { return .partSize(kind, initPacket: size, file: binary.count) }
      let hash = SHA2.sha256.hash(binary)
      return hash == initPacket.hash ? nil : .partHash(kind, initPacket: initPacket.hash, file: hash)
    }
  }

  /// The parts in the order in which devices take them. There is at least one.
  package let parts: [Part]

  /// The maximum lengths of a manifest and of an init packet, in bytes.
  private static let (manifestLimit, initPacketLimit) = (1 << 20, 1 << 16)

  /// Reads an archive. `validate` compares its init packets with the binaries.
  /// - Parameter limit: The maximum number of bytes in all files of the parts together.
  package init(_ archive: ZipArchive, limit: Int = FirmwareFile.limit) throws(FirmwareFileError) {
    guard let entry = archive.entry(named: DFUManifest.name) else { throw .noManifest }
    let manifest = try DFUManifest(try archive.contents(of: entry, limit: Self.manifestLimit))
    var (parts, left): ([Part], Int) = ([], limit)
    for part in manifest.parts {
      func contents(_ name: String, _ limit: Int) throws(FirmwareFileError) -> [UInt8] {
        guard let entry = archive.entry(named: name) else { throw .missingEntry(part.kind, name) }
        let contents = try archive.contents(of: entry, limit: min(limit, left))
        left -= contents.count
        return contents
      }
      let (binary, packet) = (try contents(part.binary, FirmwareFile.limit), try contents(part.initPacket, Self.initPacketLimit))
      guard !binary.isEmpty else { throw .emptyPart(part.kind) }
      let initPacket: InitPacket
      do throws(InitPacket.Failure) { initPacket = try InitPacket(packet) } catch { throw .initPacket(part.kind, error) }
      parts.append(Part(kind: part.kind, name: part.binary, binary: binary, initPacketBytes: packet, initPacket: initPacket))
    }
    self.parts = parts
  }

  /// Checks type, size and hash of each part.
  package func validate() throws(FirmwareFileError) {
    for part in parts { if let problem = part.problem { throw problem } }
  }
}

extension ZipArchive {
  /// Reads the directory of a package. Packages have fewer than ten entries.
  package init(_ file: [UInt8]) throws(FirmwareFileError) {
    do throws(Problem) { try self.init(file, maximumEntries: 256) } catch { throw .archive(error) }
  }

  /// Expands an entry of at most `limit` bytes.
  package func contents(of entry: Entry, limit: Int) throws(FirmwareFileError) -> [UInt8] {
    do throws(Problem) {
      var expansion = try expansion(of: entry, limit: limit)
      while !expansion.isAtEnd { _ = try expansion.step() }
      return expansion.contents
    } catch { throw .archive(error) }
  }
}
