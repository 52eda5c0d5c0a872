// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// The kind of an object: an init packet, or a piece of the image.
package enum DFUObjectType: UInt8, Sendable { case command = 1, data = 2 }

/// The opcodes of the control point that an update needs. `create` discards the unfinished object, if any, and begins one. `setPRN` asks for a
/// receipt, in the form of an answer to `crc`, after each group of so many packets, or for none. `execute` makes the object permanent.
package enum DFUOperation: UInt8, Sendable { case create = 1, setPRN, crc, execute, select = 6 }

/// The number of bytes that a device has received, and their CRC-32. Both count from the beginning of the init packet or of the image.
struct DFUObjectState: Hashable, Sendable {
  /// The maximum size of an object, in bytes, above zero. Only answers to `select` have it.
  var maximum = Int.max
  var offset = 0
  var crc: UInt32 = 0

  /// Reads an answer: 0x60, the opcode, the result, the values. Returns nil if it does not answer this operation, or `crc` without values.
  init?(answer bytes: [UInt8], to operation: DFUOperation) throws(DFUError) {
    guard bytes.count >= 3, bytes[0] == 0x60, bytes[1] == operation.rawValue else { return nil }
    let result = DFUResult(bytes[2])
    let extended = result == .extended ? bytes.dropFirst(3).first.map { DFUExtendedError($0) } : nil
    guard result == .success else { throw .refused(operation, result, extended) }
    guard operation == .crc || operation == .select else { return }
    // Some bootloaders answer each packet like this.
    if operation == .crc, bytes.count == 3 { return nil }
    do throws(MalformedPacket) {
      var reader = ByteReader(bytes[3...])
      if operation == .select { maximum = Int(try reader.uint32("maximum size")) }
      (offset, crc) = (Int(try reader.uint32("offset")), try reader.uint32("CRC"))
    } catch { throw .invalidAnswer(operation) }
    guard maximum > 0 else { throw .invalidAnswer(operation) }
  }
}
