import Foundation
import TestSupport

@testable import BluetoothLE

/// The order of the texts that a key ring delivers, and its list of devices.
@Suite(.timeLimit(.minutes(15))) struct KeyRingTests {
  private static func address(_ number: UInt64) -> PeerAddress { PeerAddress(Address(rawValue: 0xD1_00_00_00_00_00 + number), .random) }

  private static func device(_ number: UInt64) -> Peripheral { Peripheral(address(number)) }

  /// Returns the line of a bond with the device of a number.
  private static func line(_ number: UInt64, adapter: UInt64 = 0, created: Int64 = 0) -> String {
    let security = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
    let bond = Bond(identity: address(number), irk: nil, keys: [LongTermKey(key: 1, security: security)], method: .justWorks)
    var json = RecordWriter()
    StoredBond(bond, of: address(0xF0 + adapter), created: created, name: nil).write(&json)
    return String(decoding: json.finished(), as: UTF8.self)
  }

  /// A change during the delivery of a text waits for its turn, and does not wait for the callee, which may wait for it.
  @Test(arguments: [false, true]) func theLastTextIsThatOfTheLastChange(onOtherThread: Bool) throws {
    let (texts, kept) = (Guarded<[String]>([]), Guarded<KeyRing?>(nil))
    let ring = try KeyRing(Self.line(1) + Self.line(2) + Self.line(3)) { text in
      let isFirst = texts.withLock { $0.isEmpty } && text == Self.line(2) + Self.line(3)
      let ring = kept.withLock { $0 }
      if isFirst, let ring {
        if onOtherThread {
          let end = DispatchSemaphore(value: 0)
          Thread.detachNewThread {
            ring.remove(Self.device(2))
            end.signal()
          }
          end.wait()
        } else {
          ring.remove(Self.device(2))
        }
        #expect(ring.text == Self.line(3))
      }
      texts.withLock { $0.append(text) }
    }
    kept.withLock { $0 = ring }
    #expect(ring.remove(Self.device(1)) && !ring.remove(Self.device(1)))
    #expect(texts.withLock { $0 } == [Self.line(2) + Self.line(3), Self.line(3)])
    ring.remove(Self.device(3))
    #expect(texts.withLock { $0 }.last == "")
    kept.withLock { $0 = nil }
  }

  @Test(.onLoop) @LoopActor func aBondReplacesTheOneOfItsDeviceAndAdapter() async throws {
    let ring = try KeyRing(Self.line(1) + Self.line(2) + Self.line(1, adapter: 1))
    let bonds = KeyRingBonds(ring)
    bonds.add([try StoredBond(JSONTree.parse(Array(Self.line(1, created: 1_000_000_000).utf8)))])
    #expect(ring.text == Self.line(2) + Self.line(1, adapter: 1) + Self.line(1, created: 1_000_000_000))
    #expect(bonds.bonds(of: Self.address(0xF0)).count == 2 && bonds.bonds(of: Self.address(0xF1)).count == 1)
    #expect(bonds.bond(of: Self.address(0xF1), with: Self.address(2)) == nil)
  }

  @Test func aDeviceWithBondsOfTwoAdaptersIsListedOnce() throws {
    let ring = try KeyRing(Self.line(2, adapter: 0) + Self.line(1, adapter: 0) + Self.line(2, adapter: 1))
    #expect(ring.peripherals == [Self.device(2), Self.device(1)])
  }
}
