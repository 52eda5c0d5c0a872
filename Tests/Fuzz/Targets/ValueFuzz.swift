import BluetoothLE
import BluetoothLEText

extension FuzzTarget {
  /// The bytes of a value after their kind, in every format and as every characteristic.
  static let value = FuzzTarget("value") { bytes in
    var tape = Tape(bytes)
    let (uuid, format) = (described[Int(tape.number16()) % described.count], formats[Int(tape.byte()) % formats.count])
    let parts = (0..<tape.byte() & 3).compactMap { _ in PresentationFormat(tape.bytes(7)) }
    let value = Array(tape.rest)
    _ = try? DecodedValue.of(value, type: uuid)
    _ = try? DecodedValue.of(value, type: nil, formats: parts)
    _ = (PresentationFormat.handles(inAggregate: value), ClassOfDevice(value), ArrivalReport(value), CharacteristicDescription.unit(uuid))
    let text = format.render(value)
    expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "\(format.name) shows a control character")
    switch format {
    case .hex, .base64: expect((try? format.parse(text)) == value, "\(format.name): \(text) is another value")
    case .unsigned, .signed:
      if !value.isEmpty, format.numbers(value) != nil {
        expect((try? format.parse(text)) == value, "\(format.name): \(text) is another value")
      }
    case .utf8, .auto, .float: _ = try? format.parse(text)
    }
  }

  private static let described = CharacteristicDescription.all
  private static let formats = ValueFormat.names.compactMap { try? ValueFormat($0) }
}
