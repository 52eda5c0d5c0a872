// SPDX-License-Identifier: Apache-2.0
import CZlib

/// A decompressor of DEFLATE data (RFC 1951), by zlib. It works in steps of less than a millisecond, so that a caller can stop it anywhere.
@safe package final class Inflate {
  package enum Format: Int32, Sendable {
    /// DEFLATE data without a header.
    case raw = -15
    /// A part of a gzip file (RFC 1952) with its header, and checksums that zlib compares.
    case gzip = 31
  }

  package struct Problem: Error, Equatable {
    /// The problem in the words of zlib, such as `invalid block type`.
    package let reason: String
  }

  /// Whether the data ended as their format wants it.
  package private(set) var isAtEnd = false

  private let stream: UnsafeMutablePointer<z_stream>?
  private var buffer = [UInt8](repeating: 0, count: 16_384)

  package init(_ format: Format) { unsafe stream = shim_inflate_begin(format.rawValue) }

  deinit { unsafe shim_inflate_end(stream) }

  /// Decompresses up to 4 KiB of the input, to up to 16 KiB.
  /// - Returns: The number of bytes that it took from the input, and their contents.
  /// - Throws: `Problem`, also if the input is empty before the end of the data.
  package func step(_ input: ArraySlice<UInt8>) throws(Problem) -> (taken: Int, contents: ArraySlice<UInt8>) {
    var (taken, written) = (UInt32(min(input.count, 4096)), UInt32(buffer.count))
    let status = unsafe input.withUnsafeBufferPointer { input in
      unsafe buffer.withUnsafeMutableBufferPointer { output in
        unsafe shim_inflate(stream, input.baseAddress, &taken, output.baseAddress, &written)
      }
    }
    guard status == Z_OK || status == Z_STREAM_END else {
      throw Problem(reason: status == Z_BUF_ERROR ? "they end early" : unsafe String(cString: shim_inflate_problem(stream)))
    }
    isAtEnd = status == Z_STREAM_END
    return (Int(taken), buffer[..<Int(written)])
  }
}

/// The version of zlib with which blectl was built, such as `1.2.13`.
package let compressionLibraryVersion = ZLIB_VERSION
