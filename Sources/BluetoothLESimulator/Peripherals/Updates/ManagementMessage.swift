// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEText

/// A request of the Simple Management Protocol: a header of eight bytes, big endian, and a CBOR map (Zephyr, `smp.c`).
struct ManagementMessage {
  /// The result of a request: a map, a code of the protocol, or a code of the request's group.
  enum Answer {
    case map([CBOR.Member])
    case failure(Int)
    case groupFailure(Int)

    static func map(_ members: KeyValuePairs<String, CBOR>) -> Self {
      .map(members.map { CBOR.Member(key: .text($0.key), value: $0.value) })
    }
    static let (invalid, unsupported) = (Self.failure(3), Self.failure(8))
  }

  let version, operation, sequence, command: UInt8
  let group: UInt16
  /// The number of bytes that follow the header.
  let length: Int
  let body: ArraySlice<UInt8>
  /// What follows the message in the same write.
  let rest: ArraySlice<UInt8>

  /// Reads a header. `body` is shorter than `length` if bytes are missing. Returns nil for fewer than eight bytes.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 8 else { return nil }
    let header = Array(bytes.prefix(8))
    (version, operation, sequence, command) = (header[0] >> 3 & 3, header[0] & 7, header[6], header[7])
    length = Int(header[2]) << 8 | Int(header[3])
    group = UInt16(header[4]) << 8 | UInt16(header[5])
    body = bytes.dropFirst(8).prefix(length)
    rest = bytes.dropFirst(8 + length)
  }

  var isWrite: Bool { operation == 2 }

  func encoded(_ answer: Answer, isOld: Bool) -> [UInt8] {
    let map: CBOR =
      switch answer {
      case .map(let members): .map(members)
      case .failure(let code): .map(["rc": .integer(code)])
      case .groupFailure(let code) where version == 0 || isOld: .map(["rc": .integer(coarse(code))])
      case .groupFailure(let code): .map(["err": .map(["group": .integer(Int(group)), "rc": .integer(code)])])
      }
    let body = map.encoded
    let first = (isOld ? 0 : version << 3) | (operation == 0 ? 1 : 3)
    return [first, 0, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)]
      + [UInt8(group >> 8), UInt8(truncatingIfNeeded: group), sequence, command] + body
  }

  /// The code of the protocol for a code of a group, for clients of version 0 (`img_mgmt_translate_error_code`).
  private func coarse(_ code: Int) -> Int {
    guard group == 1 else { return 1 }
    return switch code {
    case 3, 4: 5
    case 9, 27, 28: 6
    case 15: 2
    case 14, 19...25: 3
    default: 1
    }
  }
}
