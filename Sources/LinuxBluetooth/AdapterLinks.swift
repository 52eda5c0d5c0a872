package import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage

/// A link of a kernel adapter, whichever program opened the link.
package struct AdapterLink: Hashable, Sendable {
  package let address: Address
  /// The type of the peer's address. Nil without CAP_NET_ADMIN, because the kernel then does not report it.
  package let type: AddressType?

  package init(_ address: Address, _ type: AddressType?) {
    self.address = address
    self.type = type
  }
}

extension AdapterInfo {
  /// Lists the LE links of this adapter through the management channel. If that fails, uses HCIGETCONNLIST, which needs
  /// no capability but reports no types.
  /// - Throws: AdapterProblem.
  package func links() throws(AdapterProblem) -> [AdapterLink] {
    let links: [AdapterLink]
    if let peers = ManagementConnections.read(adapter: index) {
      links = peers.map { AdapterLink($0.address, $0.type) }
    } else {
      links = try listed().map { AdapterLink($0, nil) }
    }
    return links.sorted { $0.address.rawValue < $1.address.rawValue }
  }

  private func listed() throws(AdapterProblem) -> [Address] {
    var addresses = [bdaddr_t](repeating: bdaddr_t(), count: 64)
    do throws(Errno) {
      let socket = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), BTPROTO_HCI)
      let count = try SystemCall.call { unsafe shim_le_links(socket.rawValue, UInt16(clamping: index), &addresses, Int32(addresses.count)) }
      return addresses.prefix(Int(count)).compactMap { unsafe withUnsafeBytes(of: $0) { unsafe Address(bigEndian: $0.reversed()) } }
    } catch {
      throw AdapterProblem.of(error, adapter: name, .listing)
    }
  }
}
