import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import Testing

@testable import LinuxBluetooth

/// The sizes and offsets of these layouts are part of the kernel's interface.
@Suite(.timeLimit(.minutes(1))) struct SocketAddressTests {
  @Test func att() {
    let address = Address(rawValue: 0xF0F1_F2F3_F4F5)
    #expect(SocketAddress.att(address, .random).bytes == [31, 0, 0, 0, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 4, 0, 2, 0])
    #expect(SocketAddress.att(address, .public).bytes == [31, 0, 0, 0, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 4, 0, 1, 0])
    #expect(SocketAddress.att(nil, .public).bytes == [31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0])
  }

  @Test func hci() {
    #expect(SocketAddress.hci(adapter: 0x0102, channel: 1).bytes == [31, 0, 2, 1, 1, 0])
    #expect(SocketAddress.hci(adapter: 0xFFFF, channel: HCI_CHANNEL_CONTROL).bytes == [31, 0, 0xFF, 0xFF, 3, 0])
  }

  @Test func filter() {
    #expect(MemoryLayout<hci_filter>.size == 16)
    let needed = HCIFilter.needed.structure
    #expect(needed.type_mask == 0x12)
    #expect(needed.event_mask.0 == 1 << 5 | 1 << 14 | 1 << 15)
    #expect(needed.event_mask.1 == 1 << 30)
  }

  @Test func optionStructures() {
    #expect(MemoryLayout<l2cap_conninfo>.size == 6)
    #expect(MemoryLayout<timeval>.size == 16)
  }

  @Test func unix() {
    #expect(SocketAddress.unix("/a")?.bytes == [1, 0, 0x2F, 0x61, 0])
    #expect(SocketAddress.unix("") == nil)
    #expect(SocketAddress.unix("a\0b") == nil)
    #expect(SocketAddress.unix(String(repeating: "a", count: 107))?.bytes.count == 110)
    #expect(SocketAddress.unix(String(repeating: "a", count: 108)) == nil)
  }
}
