// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEText

extension ManagementClient {
  /// Finds out whether the device joins the parts of a message.
  ///
  /// A server that does not takes each write as a message, and would execute one that looks like a request. So the question is an echo that is
  /// longer than one write, with a text whose bytes have an unknown version when they are taken as a header. Such a server answers the first
  /// part, with the right sequence number, that it is corrupt. All its other answers match no request.
  func askForReassembly() async throws {
    guard joinsParts == nil else { return }
    // The echo has a key of one character, and a text with a length of up to two bytes, so it may be two bytes shorter than the buffer.
    guard let size = try await parameters()?.bufferSize, size > writeSize + 2 else { return joinsParts = false }
    let text = String(repeating: "x", count: max(1, min(size, writeSize + 40) - ManagementMessage.headerSize - 6))
    _ = try await send(.echo, .map(["d": .text(text)]), joining: true)
    let answer = try await answer(until: EventLoop.shared.now.advanced(by: .seconds(5)))
    // A server that refuses an echo has read the whole message before.
    joinsParts = (try? answer?.result.get())?["r"]?.text == text || answer?.refusal == .notSupported || answer?.refusal == .accessDenied
    if answer == nil { try await clearServer() } else { forgetOpen() }
  }

  /// Finds out how long the requests of an upload may be, and makes its first fields.
  /// - Throws: `ManagementError.mtuTooSmall` if the upload is impossible; the errors of `parameters`.
  @discardableResult
  package func prepareUpload(_ bytes: ArraySlice<UInt8>, image: Int = 0) async throws -> UploadFields {
    try await askForReassembly()
    let size = try await parameters()?.bufferSize ?? writeSize
    let limit = joinsParts == true ? size : min(size, writeSize)
    guard let fields = UploadFields(bytes, image: image, limit: limit) else { throw ManagementError.mtuTooSmall(mtu: client.mtu) }
    return fields
  }
}
