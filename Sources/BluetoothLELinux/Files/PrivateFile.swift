import Glibc
import SystemPackage

/// Opens files for keys and captured packets. Another user may have put a link, a file or a pipe with this name into a shared folder.
enum PrivateFile {
  /// Opens a file for writing, if it is a regular file of this user with a single name, a pipe of this user, or a device that stores nothing.
  /// Follows no link, except to a descriptor of this process.
  /// - Throws: ELOOP for a symbolic link, ENOTSUP for any other device, EPERM for any other file.
  static func open(_ path: String, creating: Bool = false) throws(Errno) -> OwnedDescriptor {
    // /dev/fd/N is a link by nature: `>(wireshark -k -i -)` of a shell.
    let mayBeLink = path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")
    let flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | (creating ? O_CREAT : 0) | (mayBeLink ? 0 : O_NOFOLLOW)
    let file = try SystemCall.open(path, flags, mode: 0o600)
    let status = try SystemCall.status(file.rawValue)
    let isOurs =
      switch status.kind {
      case S_IFREG: status.st_nlink == 1 && status.st_uid == geteuid()
      // The pipe of a descriptor may be from the user who ran sudo.
      case S_IFIFO: mayBeLink || status.st_uid == geteuid()
      // null, zero and full. Other devices pass packets on: to a screen, to a line, to the log of the kernel.
      case S_IFCHR where ![0x103, 0x105, 0x107].contains(status.st_rdev): throw .notSupported
      case S_IFCHR: true
      default: false
      }
    guard isOurs else { throw .notPermitted }
    return file
  }
}
