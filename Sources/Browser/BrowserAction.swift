import ATT
import Bluetooth
import GATT

/// An action that a key requests and the session performs.
enum BrowserAction: Equatable {
  case connect(PeerAddress)
  case disconnect(PeerAddress)
  /// One attribute.
  case read(PeerAddress, AttributeHandle)
  /// Whatever is readable.
  case readAll(PeerAddress)
  case write(PeerAddress, AttributeHandle, [UInt8], WriteMode)
  /// By the handle of the value.
  case subscribe(PeerAddress, AttributeHandle)
  case unsubscribe(PeerAddress, AttributeHandle)
  /// Into the terminal's clipboard.
  case copy(String)
  /// Everything that crosses HCI and ATT goes to this file from now on; nil ends it.
  case trace(String?)
  /// Others may have written on the screen.
  case redraw
  case quit
}
