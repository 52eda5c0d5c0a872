import GATT
import LinuxIO

/// What is sent.
extension OctetFile: OctetSource {}
