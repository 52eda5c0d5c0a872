// SPDX-License-Identifier: Apache-2.0
package import Glibc
package import SystemPackage

/// Wraps system calls. Each function returns a result or throws `Errno`, and repeats a call that a signal interrupted.
package enum SystemCall {
  /// Makes a system call, and repeats the call if a signal interrupts it.
  /// - Throws: errno if `body` returns a negative number.
  @discardableResult
  package static func call<T: FixedWidthInteger & SignedInteger>(_ body: () -> T) throws(Errno) -> T {
    while true {
      let result = body()
      if result >= 0 { return result }
      let code = Errno(rawValue: errno)
      if code != .interrupted { throw code }
    }
  }

  /// Reads into a buffer. Returns the number of bytes read, or 0 at the end of the file.
  package static func read(_ descriptor: Int32, into buffer: inout [UInt8]) throws(Errno) -> Int {
    try call { unsafe Glibc.read(descriptor, &buffer, buffer.count) }
  }

  /// Reads into a part of `buffer`. Returns the number of bytes read, or 0 at the end of the file.
  /// - Parameter position: The offset in the file, in bytes. Nil reads at the current position and advances it.
  package static func read(_ descriptor: Int32, into buffer: inout [UInt8], _ part: Range<Int>, at position: Int?) throws(Errno) -> Int {
    try call {
      unsafe buffer.withUnsafeMutableBytes {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: $0[part])
        guard let position else { return unsafe Glibc.read(descriptor, room.baseAddress, room.count) }
        return unsafe pread(descriptor, room.baseAddress, room.count, position)
      }
    }
  }

  /// Writes bytes. Returns the number of bytes that the kernel took, possibly fewer than given.
  package static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
    try call { unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) } }
  }

  package static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(try call { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) })
  }

  package static func status(_ descriptor: Int32) throws(Errno) -> stat {
    var status = stat()
    try call { unsafe fstat(descriptor, &status) }
    return status
  }

  /// Returns the status of the file at a path, after following links. Nil if stat(2) fails.
  package static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }
}

extension stat {
  /// The type of the file, such as S_IFREG.
  package var kind: mode_t { st_mode & S_IFMT }
}

/// A file descriptor with one owner. Closes itself at the end of its lifetime, unless `close()` did so earlier.
package struct OwnedDescriptor: ~Copyable {
  /// The descriptor, or −1 after closing.
  package private(set) var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // Not retried on EINTR: Linux has closed the descriptor by then.
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
  }

  /// Closes the descriptor. Idempotent.
  package mutating func close() {
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
    rawValue = -1
  }
}
