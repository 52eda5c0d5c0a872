import ATT
import Bluetooth

/// The attribute values that the host read on one link, with an entry for each read.
struct RecordedReadings: Sendable {
  struct Reading: Sendable {
    /// The indices, on the link, of the requests that returned the value.
    var requests: [Int]
    var outcome: Result<[UInt8], Refusal>
    /// Whether the value is surely complete.
    var isWhole: Bool
  }

  /// The Error Response to a read.
  struct Refusal: Error, Sendable { let code: ErrorCode }

  private(set) var all: [Int: [Reading]] = [:]

  init(_ link: Recording.Link) {
    for (index, item) in link.requests.enumerated() {
      guard let octets = item.response, let request = try? Request(parsing: item.pdu), let response = try? Response(parsing: octets) else {
        continue
      }
      learn(index, request, response, mtu: item.mtu)
    }
  }

  private mutating func learn(_ index: Int, _ request: Request, _ response: Response, mtu: Int) {
    switch (request, response) {
    case (.read(let handle), .read(let value)): add(index, handle, .success(value), isWhole: value.count < mtu - 1)
    case (.read(let handle), .error(_, _, let code)): add(index, handle, .failure(Refusal(code: code)), isWhole: true)
    case (.readByType(_, let type), .readByType(let items)) where type != .characteristic && type != .include:
      // A value is cut to the available space, at most 253 bytes.
      for item in items { add(index, item.handle, .success(item.value), isWhole: item.value.count < min(mtu - 4, 253)) }
    case (.readByType, .error(_, let handle, let code)) where code != .attributeNotFound && handle.isValid:
      add(index, handle, .failure(Refusal(code: code)), isWhole: true)
    case (.readBlob(let handle, let offset), .readBlob(let part)): extend(index, handle, Int(offset), part, isWhole: part.count < mtu - 1)
    case (.readBlob(let handle, let offset), .error(_, _, .attributeNotLong)),
      (.readBlob(let handle, let offset), .error(_, _, .invalidOffset)):
      extend(index, handle, Int(offset), [], isWhole: true)
    default: break
    }
  }

  private mutating func add(_ index: Int, _ handle: AttributeHandle, _ outcome: Result<[UInt8], Refusal>, isWhole: Bool) {
    all[handle.number, default: []].append(Reading(requests: [index], outcome: outcome, isWhole: isWhole))
  }

  private mutating func extend(_ index: Int, _ handle: AttributeHandle, _ offset: Int, _ part: [UInt8], isWhole: Bool) {
    guard let last = all[handle.number]?.indices.last, case .success(let value)? = all[handle.number]?[last].outcome, value.count == offset,
      value.count + part.count <= 0xFFFF
    else { return }
    all[handle.number]?[last].outcome = .success(value + part)
    all[handle.number]?[last].isWhole = isWhole
    all[handle.number]?[last].requests.append(index)
  }
}
