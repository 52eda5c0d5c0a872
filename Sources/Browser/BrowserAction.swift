import ATT
import Bluetooth
import GATT

/// An action that a key requests and the session performs.
enum BrowserAction: Equatable {
  case connect(PeerAddress)
  case disconnect(PeerAddress)
  /// Reads one attribute.
  case read(PeerAddress, AttributeHandle)
  /// Reads all readable attributes.
  case readAll(PeerAddress)
  case write(PeerAddress, AttributeHandle, [UInt8], WriteMode)
  /// Subscribes to a characteristic, by the handle of its value.
  case subscribe(PeerAddress, AttributeHandle)
  case unsubscribe(PeerAddress, AttributeHandle)
  /// Copies text to the terminal's clipboard.
  case copy(String)
  /// Starts recording HCI and ATT traffic to a file. Nil stops the recording.
  case trace(String?)
  /// Redraws the screen, because other programs may have written on it.
  case redraw
  case quit
}
