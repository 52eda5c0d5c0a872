import BluetoothLE
package import BluetoothLEDeviceFiles

/// Hostile input for the readers of device files and of the packets that these describe.
package enum DeviceFuzz {
  /// Parses a device file, and uses it if it is valid.
  package static func parse(_ bytes: [UInt8]) {
    guard let device = try? DeviceFile.parse(bytes, name: "fuzz") else { return }
    for command in device.commands.prefix(8) {
      guard let request = try? command.encode([], number: 3) else { continue }
      guard command.decode(request.bytes) != nil else { preconditionFailure("\(command.name): its own request is not read") }
    }
    packets(Array(bytes.suffix(256)), of: device)
  }

  /// Gives packets, each after its length, to commands of a device (default: its first 16). Checks accepted answers.
  /// - Returns: The number of packets that were accepted as an answer.
  @discardableResult
  package static func packets(_ bytes: [UInt8], of device: DeviceDescription, for commands: [DeviceCommand]? = nil) -> Int {
    var count = 0
    var packets: [[UInt8]] = []
    var rest = bytes[...]
    while let length = rest.popFirst(), packets.count < 64 {
      packets.append(Array(rest.prefix(Int(length & 0x3F))))
      rest = rest.dropFirst(Int(length & 0x3F))
    }
    for command in commands ?? Array(device.commands.prefix(16)) {
      guard let answer = command.answer else { continue }
      // The packets of `seeds` answer this request: fields in both have equal values.
      let values = command.request.fields.map { NamedValue($0.name, sample($0)) }
      var reader = AnswerReader(answer, request: values, command: command.name, of: device)
      for packet in packets {
        let before = reader.packets.count
        switch reader.take(packet) {
        case .part, .finished, .endless:
          count += 1
          guard reader.packets.count == before + 1, reader.packets.last == packet else { preconditionFailure("another packet was taken") }
          guard answer.parts.contains(where: { (try? $0.frame.decode(packet)) != nil }) else {
            preconditionFailure("\(command.name): no packet of the answer")
          }
        case .failure, .event, .refused:
          guard reader.packets.count == before else { preconditionFailure("a refused packet was taken") }
        }
      }
      reader.fellSilent()
      _ = (reader.values, reader.progress, reader.silence)
    }
    return count
  }

  /// Returns valid packets of a device for `packets`, from small numbers in those frames that can encode them.
  package static func seeds(_ device: DeviceDescription) -> [[UInt8]] {
    let frames = device.commands.flatMap { $0.answer?.parts.map(\.frame) ?? [] } + device.events.map(\.frame)
    let packets = frames.compactMap { frame -> [UInt8]? in
      try? frame.encode(frame.fields.map { NamedValue($0.name, sample($0)) })
    }
    return packets.map { [UInt8(clamping: min($0.count, 63))] + $0 } + [packets.flatMap { [UInt8(clamping: min($0.count, 63))] + $0 }]
  }

  private static func sample(_ field: Frame.Field) -> DeviceValue {
    switch field {
    case .number, .bit: field.value(of: 1) ?? .integer(1)
    case .string(let string): string.isText ? .text(string.choices.first ?? "a") : .bytes([1])
    case .list(let list):
      switch list.item {
      case .number(let number): .list(Array(repeating: number.value(sample: 1), count: 2))
      case .group(let pieces):
        .list([.object(Frame(name: "item", pieces: pieces).fields.map { NamedValue($0.name, sample($0)) })])
      }
    }
  }
}

extension NumberField {
  fileprivate func value(sample number: Int64) -> DeviceValue { Frame.Field.number(self).value(of: number) ?? .integer(1) }
}
