// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A state machine that delays or drops the ATT PDUs of one link like a device's firmware. Times are nanoseconds on any clock.
struct FirmwareQueue {
  struct PDU: Equatable {
    let bytes: [UInt8]
    /// Whether the PDU arrived in several link layer packets and the last one was not full.
    let isUneven: Bool

    /// Whether the PDU has the command flag (Vol 3 Part F §3.3.1).
    var isCommand: Bool { bytes.first.map { $0 & 0x40 != 0 } ?? false }
    /// Whether the PDU is a Write Request or a Write Command.
    var isWrite: Bool { bytes.first.map { $0 & 0xBF == 0x12 } ?? false }
  }

  enum Arrival: Equatable {
    /// The device's ATT layer receives the PDU immediately.
    case passed
    case waits
    case dropped
  }

  /// The maximum number of PDUs that wait for the firmware. The firmware drops further PDUs.
  static let mostWaiting = 4096

  private let firmware: Firmware
  private var random: SeededRandom
  private var waiting: [PDU] = []
  /// The time, in nanoseconds, at which the firmware finishes the first waiting PDU.
  private var doneAt: Int64 = 0
  private var writes = 0
  private var commands = 0
  private(set) var dropped = 0

  init(_ firmware: Firmware, random: SeededRandom) { (self.firmware, self.random) = (firmware, random) }

  var count: Int { waiting.count }
  /// The time in nanoseconds from which `next` returns a PDU. Nil if no PDU waits.
  var due: Int64? { waiting.isEmpty ? nil : doneAt }

  mutating func arrive(_ pdu: PDU, at now: Int64) -> Arrival {
    guard !firmware.answersAtOnce || pdu.isCommand else { return .passed }
    if pdu.isCommand { commands += 1 }
    guard !(pdu.isCommand && isDropped), waiting.count < Self.mostWaiting else {
      dropped += 1
      if waiting.isEmpty { doneAt = max(now, doneAt) }
      doneAt = doneAt &+ firmware.timePerDrop.wholeNanoseconds
      return .dropped
    }
    waiting.append(pdu)
    if waiting.count == 1 { doneAt = max(now, doneAt) &+ time(of: pdu) }
    return .waits
  }

  /// Pauses the firmware until `time`, in nanoseconds.
  mutating func pause(until time: Int64) { doneAt = max(doneAt, time) }

  /// Whether the firmware drops the command that arrived last.
  private var isDropped: Bool {
    if firmware.whenFull == .drop, waiting.count >= firmware.buffers { return true }
    guard let after = firmware.dropsAfter, commands > after else { return false }
    return firmware.drops.map { commands - after <= $0 } ?? true
  }

  /// Removes and returns the next PDU that the firmware has finished. Nil if there is none.
  mutating func next(at now: Int64) -> [UInt8]? {
    guard let first = waiting.first, doneAt <= now else { return nil }
    waiting.removeFirst()
    if let following = waiting.first { doneAt = doneAt &+ time(of: following) }
    return first.bytes
  }

  private mutating func time(of pdu: PDU) -> Int64 {
    var time = firmware.timePerPacket.wholeNanoseconds
    let jitter = firmware.jitter.wholeNanoseconds
    if jitter > 0 { time &+= Int64(random.fraction() * Double(jitter)) }
    if !pdu.isCommand { time &+= firmware.timePerRequest.wholeNanoseconds }
    guard pdu.isWrite else { return time }
    writes += 1
    if let every = firmware.slowEvery, every > 0, writes % every == 0 { time &+= firmware.slowTime.wholeNanoseconds }
    // The value follows the opcode and the handle.
    let long = max(0, pdu.bytes.count - 3 - firmware.shortBytes)
    time &+= Int64(long) &* firmware.timePerLongByte.wholeNanoseconds
    if pdu.isUneven { time &+= firmware.unevenTime.wholeNanoseconds }
    return time
  }
}
