import ATT
import Bluetooth
import EventLoop
import GATT
import TestSupport
import Text

/// The plainest ATT server, to test the client against something that is not our own server.
struct PlainServer: Sendable {
  struct Item: Sendable {
    var handle: AttributeHandle
    var type: UUID
    var value: [UInt8]
    var isReadable = true
    var isWritable = true
  }

  var items: [Item]
  var mtu = 23
  /// What it agrees to.
  var largestMTU = 517
  var prepared: [(AttributeHandle, Int, [UInt8])] = []
  /// Last handles of services by their first.
  var ends: [AttributeHandle: AttributeHandle] = [:]

  init(_ items: [Item]) { self.items = items }

  /// - Returns: nil for what is not a request.
  mutating func answer(_ bytes: [UInt8]) -> [UInt8]? {
    guard case .request(let request)? = try? PDU(parsing: bytes) else { return nil }
    func refuse(_ code: ErrorCode, _ handle: AttributeHandle? = nil) -> [UInt8] {
      Response.error(request: request.opcode, handle: handle ?? request.handle, code: code).bytes
    }
    func found(_ range: HandleRange, _ type: UUID) -> [Item] {
      items.filter { $0.type == type && $0.handle >= range.start && $0.handle <= range.end }
    }
    switch request {
    case .exchangeMTU(let asked):
      mtu = min(Int(asked), largestMTU)
      return Response.exchangeMTU(serverRxMTU: UInt16(clamping: largestMTU)).bytes
    case .findInformation(let range):
      let here = items.filter { $0.handle >= range.start && $0.handle <= range.end }
      guard let first = here.first else { return refuse(.attributeNotFound) }
      let isShort = first.type.short != nil
      let same = here.prefix { ($0.type.short != nil) == isShort }.prefix((mtu - 2) / (isShort ? 4 : 18))
      return Response.findInformation(same.map { HandleType($0.handle, $0.type) }).bytes
    case .findByTypeValue(let range, let type, let value):
      let here = found(range, UUID(UInt32(type))).filter { $0.value == value }.prefix((mtu - 1) / 4)
      return here.isEmpty ? refuse(.attributeNotFound) : Response.findByTypeValue(here.map { HandleRange($0.handle, end(of: $0)) }).bytes
    case .readByType(let range, let type):
      let here = found(range, type)
      guard let first = here.first else { return refuse(.attributeNotFound) }
      guard first.isReadable else { return refuse(.readNotPermitted, first.handle) }
      let count = min(first.value.count, mtu - 4, 253)
      let same = here.prefix { $0.isReadable && $0.value.count == first.value.count }.prefix(max(1, (mtu - 2) / (count + 2)))
      return Response.readByType(same.map { HandleValue($0.handle, Array($0.value.prefix(count))) }).bytes
    case .readByGroupType(let range, let type):
      guard type != UUID(0x2801) || !found(.all, type).isEmpty else { return refuse(.unsupportedGroupType) }
      let here = found(range, type)
      guard let first = here.first else { return refuse(.attributeNotFound) }
      let same = here.prefix { $0.value.count == first.value.count }.prefix((mtu - 2) / (first.value.count + 4))
      return Response.readByGroupType(same.map { HandleGroup($0.handle, end(of: $0), $0.value) }).bytes
    case .read(let handle), .readBlob(let handle, _):
      guard let item = items.first(where: { $0.handle == handle }) else { return refuse(.invalidHandle) }
      guard item.isReadable else { return refuse(.readNotPermitted) }
      guard case .readBlob(_, let offset) = request else { return Response.read(Array(item.value.prefix(mtu - 1))).bytes }
      guard Int(offset) <= item.value.count else { return refuse(.invalidOffset) }
      return Response.readBlob(Array(item.value.dropFirst(Int(offset)).prefix(mtu - 1))).bytes
    case .readMultiple(let handles):
      return Response.readMultiple(handles.flatMap { handle in items.first { $0.handle == handle }?.value ?? [] }).bytes
    case .write(let handle, let value):
      guard let index = items.firstIndex(where: { $0.handle == handle }) else { return refuse(.invalidHandle) }
      guard items[index].isWritable else { return refuse(.writeNotPermitted) }
      items[index].value = value
      return Response.write.bytes
    case .prepareWrite(let handle, let offset, let value):
      guard let item = items.first(where: { $0.handle == handle }), item.isWritable else { return refuse(.writeNotPermitted) }
      prepared.append((handle, Int(offset), value))
      return Response.prepareWrite(handle, offset: offset, value: value).bytes
    case .executeWrite(let flags):
      if flags == 1 {
        for (handle, offset, part) in prepared {
          guard let index = items.firstIndex(where: { $0.handle == handle }) else { continue }
          items[index].value = Array(items[index].value.prefix(offset)) + part
        }
      }
      prepared = []
      return Response.executeWrite.bytes
    case .readMultipleVariable: return refuse(.requestNotSupported, 0)
    }
  }

  private func end(of item: Item) -> AttributeHandle {
    if let end = ends[item.handle] { return end }
    let services = [UUID(0x2800), UUID(0x2801)]
    guard let next = items.first(where: { $0.handle > item.handle && services.contains($0.type) }) else {
      return items.last?.handle ?? 0xFFFF
    }
    return next.handle.previous
  }
}

/// Plays one side of a recorded exchange: sends what the peer sent as soon as the client has sent what comes before it.
@LoopActor
final class Replay {
  struct Step: Sendable {
    let isFromClient: Bool
    let bytes: [UInt8]
  }

  let channel: MemoryChannel
  private var steps: [Step] = []
  private var next = 0
  /// Answers what is not the next step.
  var server: PlainServer?
  private(set) var served = 0
  private(set) var unexpected: [[UInt8]] = []
  private(set) var received: [[UInt8]] = []

  init(_ channel: MemoryChannel) {
    self.channel = channel
    channel.handler = { event in
      if case .received(let pdu) = event { self.receive(pdu) }
    }
  }

  /// Steps that the client has not come to.
  var missing: [Step] { Array(steps[next...].filter(\.isFromClient)) }

  func play(_ steps: [Step]) {
    self.steps = steps
    next = 0
    sendTurn()
  }

  private func receive(_ pdu: [UInt8]) {
    received.append(pdu)
    if next < steps.count, steps[next].bytes == pdu {
      next += 1
      return sendTurn()
    }
    if let reply = server?.answer(pdu) {
      served += 1
      return channel.send(reply)
    }
    unexpected.append(pdu)
    // An error ends the operation instead of letting it wait.
    if let first = pdu.first, case .request(let method) = Opcode(rawValue: first) {
      channel.send(Response.error(request: .request(method), handle: 0, code: ErrorCode(rawValue: 0x9F)).bytes)
    }
  }

  private func sendTurn() {
    while next < steps.count, !steps[next].isFromClient {
      channel.send(steps[next].bytes)
      next += 1
    }
  }

  /// `> 0a0300 < 0b01`: `>` from the client.
  nonisolated static func steps(_ script: String) -> [Step] {
    var steps: [Step] = []
    for part in script.split(whereSeparator: { $0 == "\n" || $0 == " " }) where part != ">" && part != "<" {
      steps.append(Step(isFromClient: part.hasPrefix(">"), bytes: Hex.decode(String(part.dropFirst())) ?? []))
    }
    return steps
  }
}

func hex(_ bytes: some Collection<UInt8>) -> String { Hex.encode(Array(bytes)) }

/// `0012`.
func hex(_ handle: AttributeHandle) -> String { String(handle.description.dropFirst(2)) }

/// As on the air.
func little(_ handle: AttributeHandle) -> [UInt8] { [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)] }

/// For files that also import Foundation, which has a UUID of its own.
typealias AttributeUUID = UUID
