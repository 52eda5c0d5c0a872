import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage

/// One question to the kernel over the Bluetooth management channel (HCI_CHANNEL_CONTROL), for those that it answers at once.
enum ManagementChannel {
  /// What Command Complete or Command Status said.
  struct Answer: Equatable {
    /// 0: success.
    let status: UInt8
    let parameters: [UInt8]
  }

  /// No adapter in particular.
  static let noIndex: UInt16 = 0xFFFF
  private static let commandComplete: UInt16 = 0x0001
  private static let commandStatus: UInt16 = 0x0002

  /// - Returns: nil when the kernel does not answer.
  static func ask(_ command: UInt16, adapter: UInt16 = noIndex, _ parameters: [UInt8] = []) -> Answer? {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), BTPROTO_HCI)
      let number = descriptor.rawValue
      // Whoever has CAP_NET_ADMIN now may ask for everything later.
      try Capabilities.raised(.netAdmin) { () throws(Errno) in
        try SystemCall.bind(number, .hci(adapter: noIndex, channel: HCI_CHANNEL_CONTROL))
      }
      var request = ByteWriter(capacity: 6 + parameters.count)
      for field in [command, adapter, UInt16(clamping: parameters.count)] { request.uint16(field) }
      request.append(parameters)
      _ = try SystemCall.write(descriptor.rawValue, request.bytes[...])
      var buffer = [UInt8](repeating: 0, count: 4096)
      // The answer is there when the request has been taken; what comes before it are events for everyone.
      for _ in 0..<64 {
        let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
        if let answer = try? answer(to: command, Array(buffer[..<count])) { return answer }
      }
      return nil
    } catch {
      return nil
    }
  }

  /// - Returns: nil for another event.
  static func answer(to command: UInt16, _ packet: [UInt8]) throws(MalformedPacket) -> Answer? {
    var reader = ByteReader(packet)
    let event = try reader.uint16("management event")
    _ = try reader.uint16("management index")
    _ = try reader.uint16("management length")
    guard event == commandComplete || event == commandStatus, try reader.uint16("management command") == command else { return nil }
    return Answer(status: try reader.uint8("management status"), parameters: reader.rest())
  }
}
