// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The object that a device gets next, and where to continue. An init packet is one object, and an image is a sequence of them.
struct DFUObjectPlan: Hashable, Sendable {
  /// The bytes of the object, as offsets in the init packet or in the image.
  private(set) var object: Range<Int>
  /// The offset of the first byte to send. The end of the object if the device has all its bytes.
  private(set) var offset: Int
  /// Whether the device has begun the object, so that it needs no `create`.
  private(set) var isCreated: Bool
  /// The maximum size of an object in bytes.
  let maximum: Int
  private let count: Int

  /// Continues where the device is if it has the first bytes of `bytes`. Otherwise begins the same object again.
  init(_ bytes: [UInt8], _ state: DFUObjectState, resumes: Bool) {
    let offset = resumes && state.offset <= bytes.count ? state.offset : 0
    var crc = CRC32()
    crc.add(bytes[..<offset])
    (count, maximum, isCreated) = (bytes.count, state.maximum, offset > 0 && crc.value == state.crc)
    // The state does not tell whether a complete object was executed. A second execution does no harm.
    let start = max(0, offset - 1) / maximum * maximum
    object = start..<min(start + maximum, count)
    self.offset = isCreated ? offset : start
  }

  var isComplete: Bool { offset == object.upperBound }
  var isLast: Bool { object.upperBound == count }

  /// Goes to the next object.
  mutating func advance() {
    object = object.upperBound..<min(object.upperBound + maximum, count)
    (offset, isCreated) = (object.lowerBound, false)
  }
}
