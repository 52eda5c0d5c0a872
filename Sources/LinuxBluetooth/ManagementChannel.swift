import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage

/// Sends requests with an immediate answer to the kernel over the Bluetooth management channel (HCI_CHANNEL_CONTROL).
enum ManagementChannel {
  /// The contents of Command Complete or Command Status.
  struct Answer: Equatable {
    /// The status code of the management channel. 0 is success.
    let status: UInt8
    let parameters: [UInt8]
  }

  /// The adapter index of requests without a particular adapter.
  static let noIndex: UInt16 = 0xFFFF
  private static let commandComplete: UInt16 = 0x0001
  private static let commandStatus: UInt16 = 0x0002

  /// Sends a request. Returns nil if the kernel does not answer.
  static func ask(_ command: UInt16, adapter: UInt16 = noIndex, _ parameters: [UInt8] = []) -> Answer? {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), BTPROTO_HCI)
      let number = descriptor.rawValue
      // The kernel checks CAP_NET_ADMIN only at bind: the socket may send any request later.
      try Capabilities.raised(.netAdmin) { () throws(Errno) in
        try SystemCall.bind(number, .hci(adapter: noIndex, channel: HCI_CHANNEL_CONTROL))
      }
      var request = ByteWriter(capacity: 6 + parameters.count)
      for field in [command, adapter, UInt16(clamping: parameters.count)] { request.uint16(field) }
      request.append(parameters)
      _ = try SystemCall.write(descriptor.rawValue, request.bytes[...])
      var buffer = [UInt8](repeating: 0, count: 4096)
      // The answer is available once the request was taken. Events before it go to all sockets.
      for _ in 0..<64 {
        let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
        if let answer = try? answer(to: command, Array(buffer[..<count])) { return answer }
      }
      return nil
    } catch {
      return nil
    }
  }

  /// Parses the answer to a command. Returns nil for another event.
  static func answer(to command: UInt16, _ packet: [UInt8]) throws(MalformedPacket) -> Answer? {
    var reader = ByteReader(packet)
    let event = try reader.uint16("management event")
    _ = try reader.uint16("management index")
    _ = try reader.uint16("management length")
    guard event == commandComplete || event == commandStatus, try reader.uint16("management command") == command else { return nil }
    return Answer(status: try reader.uint8("management status"), parameters: reader.rest())
  }
}
