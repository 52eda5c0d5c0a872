// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
import SystemPackage

/// Opens a controller on a serial line: 8 data bits, no parity, one stop bit, RTS/CTS, as H4 requires (Vol 4 Part A §2).
@LoopActor
package enum SerialPort {
  /// The default baud rate in bits per second, which the Zephyr sample `hci_uart` uses on common boards (`btattach -S 1000000`).
  /// USB CDC devices (`/dev/ttyACM0`) ignore the baud rate.
  package nonisolated static let defaultBaud = 1_000_000

  /// The termios constant of each supported baud rate.
  package nonisolated static let speeds: [Int: UInt32] = [
    9600: UInt32(B9600), 19_200: UInt32(B19200), 38_400: UInt32(B38400), 57_600: UInt32(B57600), 115_200: UInt32(B115200),
    230_400: UInt32(B230400), 460_800: UInt32(B460800), 500_000: UInt32(B500000), 576_000: UInt32(B576000), 921_600: UInt32(B921600),
    1_000_000: UInt32(B1000000), 1_152_000: UInt32(B1152000), 1_500_000: UInt32(B1500000), 2_000_000: UInt32(B2000000),
    2_500_000: UInt32(B2500000), 3_000_000: UInt32(B3000000), 3_500_000: UInt32(B3500000), 4_000_000: UInt32(B4000000),
  ]

  /// Opens a serial line in raw mode with RTS/CTS. The line keeps these settings after the transport closes it.
  /// - Throws: `.serialLine`, or `.unknownBaudRate` for a rate that termios does not know.
  package static func open(_ path: String, baud: Int = defaultBaud) throws(TransportError) -> StreamTransport {
    guard let speed = speeds[baud] else { throw .unknownBaudRate(baud) }
    let address = TransportAddress.serial(path: path, baud: baud)
    do throws(Errno) {
      // Without O_NONBLOCK the open waits for a modem's carrier.
      let descriptor = try SystemCall.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      var settings = termios()
      try SystemCall.call { unsafe tcgetattr(descriptor.rawValue, &settings) }
      unsafe cfmakeraw(&settings)
      settings.c_cflag |= tcflag_t(CLOCAL | CREAD) | tcflag_t(CRTSCTS)
      settings.c_cflag &= ~tcflag_t(CSTOPB)
      unsafe cfsetspeed(&settings, speed)
      try SystemCall.call { unsafe tcsetattr(descriptor.rawValue, TCSANOW, &settings) }
      // Two programs on one line would each get half of the packets. This does not keep root out.
      try SystemCall.call { shim_make_exclusive(descriptor.rawValue) }
      try SystemCall.call { tcflush(descriptor.rawValue, TCIOFLUSH) }
      return StreamTransport(descriptor, name: address.description)
    } catch {
      throw .serialLine(address, error)
    }
  }
}
