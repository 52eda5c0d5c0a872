import BluetoothLELinux
import BluetoothLESimulator

/// Reads the bonds that `bonds import` adds: an exported file, or files of bluetoothd.
@LoopActor
package enum BondSource {
  /// Returns the bonds at a path, and the failure to report after their import.
  /// - Throws: `Failure(.input)` if there are no bonds.
  package static func read(_ path: String) async throws -> (bonds: [StoredBond], failure: Failure?) {
    let isFolder = FolderNames.isFolder(path)
    if !isFolder {
      let contents = try await InputFile.read(path, limit: 1 << 20)
      if contents.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") {
        return (try BondStore.parse(contents, path), nil)
      }
    }
    let files = isFolder ? infoFiles(in: path, depth: 2) : [path]
    var (bonds, faults): ([StoredBond], [String]) = ([], [])
    for file in files {
      do { bonds.append(try bond(file)) } catch let fault as BlueZInfo.Fault {
        // In a folder, a device without LE is no mistake.
        if isFolder, fault == .withoutKey { continue }
        faults.append("\(file):\(fault.line.map { "\($0):" } ?? "") \(fault.reason)")
      } catch { faults.append(Failure(error).message) }
    }
    if bonds.isEmpty {
      throw Failure(.input, faults.first ?? "\(DisplayText.quote(path)) contains no bond of an LE device, or only root can read it.")
    }
    return (bonds, faults.isEmpty ? nil : Failure(.input, "Not imported: \(faults.joined(separator: "; "))"))
  }

  /// Returns a note about bonds of adapters that blectl does not know: neither of this machine, nor of earlier bonds. Nil without any.
  package static func note(on bonds: [StoredBond], _ context: Context) -> String? {
    var known = ((try? context.process.bonds.all()) ?? []).map(\.adapter.address)
    known += ((try? AdapterList.adapters()) ?? []).compactMap(\.address)
    if case .simulation? = try? context.process.adapter() { known.append(VirtualController.defaultAddress) }
    let unknown = Set(bonds.map(\.adapter.address)).subtracting(known).map(\.description).sorted()
    guard !unknown.isEmpty else { return nil }
    return "The bonds of \(unknown.joined(separator: ", ")) work only with an adapter of this address, and blectl knows none. "
      + "On another adapter, pair again: \(context.process.commands.program)pair PEER"
  }

  /// Returns the paths of the files `info` in a folder and in its folders.
  private static func infoFiles(in folder: String, depth: Int) -> [String] {
    let names = FolderNames.list(folder, home: nil).sorted()
    let inner = depth == 0 ? [] : names.filter { $0.hasSuffix("/") && Address($0.dropLast()) != nil }
    return (names.contains("info") ? ["\(folder)/info"] : [])
      + inner.flatMap { infoFiles(in: "\(folder)/\($0.dropLast())", depth: depth - 1) }
  }

  private static func bond(_ file: String) throws -> StoredBond {
    // bluetoothd names the two folders by the addresses.
    let folders = file.split(separator: "/").dropLast().suffix(2).map { Address($0) }
    guard folders.count == 2, let adapter = folders[0], let device = folders[1] else {
      throw Failure(
        .input, "\(file): Expected bonds of blectl, or a file of bluetoothd with its whole path, /var/lib/bluetooth/ADAPTER/DEVICE/info")
    }
    let text = String(decoding: try InputFile.readIfThere(file, limit: 1 << 16) ?? [], as: UTF8.self)
    return try BlueZInfo.bond(in: text, of: device, adapter, created: EventLoop.shared.wallClock)
  }
}
