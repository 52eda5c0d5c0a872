// SPDX-License-Identifier: Apache-2.0
/// A source of bytes for a transfer, with random access, so that the transfer can resume at an earlier offset.
@LoopActor
package protocol ByteSource: AnyObject {
  /// The total number of bytes. Nil while the source does not know its end.
  var count: Int? { get }
  /// Returns up to `count` bytes without waiting, or nil if they are not available yet. Returns fewer bytes only at the end of the source.
  func buffered(at offset: Int, atMost count: Int) -> ArraySlice<UInt8>?
  /// Returns up to `count` bytes at an offset, and waits for them if necessary.
  /// - Throws: the error that makes the bytes unavailable, CancellationError.
  func bytes(at offset: Int, atMost count: Int) async throws -> ArraySlice<UInt8>
  /// Releases the bytes before this offset, which the transfer does not request again.
  func release(before offset: Int)
  /// Computes the CRC-32 of all bytes before this offset.
  /// - Throws: the errors of `bytes`.
  func crc(upTo offset: Int) async throws -> UInt32
  /// Throws an error if the source has changed since the transfer read its bytes.
  func checkUnchanged() throws
}

extension ByteSource { package func checkUnchanged() throws {} }

/// An error of a byte source, such as a file that changed during a transfer.
package protocol ByteSourceError: Error {
  /// The size of the source in bytes, before and after it changed. Nil if the error has another cause.
  var change: (before: Int, now: Int)? { get }
}

/// A source of bytes in memory.
@LoopActor
package final class ByteArray: ByteSource {
  private let array: [UInt8]

  package init(_ array: [UInt8]) { self.array = array }

  package var count: Int? { array.count }

  package func buffered(at offset: Int, atMost count: Int) -> ArraySlice<UInt8>? {
    let start = min(max(0, offset), array.count)
    return array[start..<min(array.count, start + min(max(0, count), array.count - start))]
  }

  package func bytes(at offset: Int, atMost count: Int) async throws -> ArraySlice<UInt8> { buffered(at: offset, atMost: count) ?? [] }

  package func release(before offset: Int) {}

  package func crc(upTo offset: Int) async throws -> UInt32 {
    var crc = CRC32()
    crc.add(array.prefix(max(0, offset)))
    return crc.value
  }
}
