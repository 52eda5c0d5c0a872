// SPDX-License-Identifier: Apache-2.0
@_exported public import BluetoothLE

extension Adapter {
  /// Updates the firmware of a device over MCUmgr or Nordic Secure DFU, and proves that the new firmware runs.
  ///
  /// The update begins with the iteration, and ends with it: iterate to the end. The device restarts meanwhile, so the update opens and closes
  /// connections of its own. Call it when there is none. It continues after lost links, and a later call continues an interrupted update. If
  /// the device already runs the image, nothing is sent. A device that comes back with another image is an error.
  ///
  /// ```swift
  /// for try await event in adapter.updateFirmware(of: try await adapter.find("Sensor"), with: image) { print(event) }
  /// ```
  /// - Parameters:
  ///   - device: The device, or its bootloader.
  ///   - file: The contents of an MCUboot image, also as Intel HEX, or of a package that nrfutil made.
  ///   - options: The demands and requests of each connection. `reconnect` has no effect.
  /// - Returns: The events, whose iteration throws the errors of the update.
  public func updateFirmware(
    of device: Peripheral, with file: [UInt8], _ options: ConnectionOptions = ConnectionOptions()
  ) -> FirmwareUpdating { FirmwareUpdating(self, device, file, options) }
}

/// The events of an update: its steps, the progress of each upload in about a hundred events, and the outcome at the end.
///
/// Iterate once: another iteration sends nothing.
public struct FirmwareUpdating: AsyncSequence, Sendable {
  private let queue: CallQueue<UpdateEvent>

  init(_ adapter: Adapter, _ device: Peripheral, _ file: [UInt8], _ options: ConnectionOptions) {
    queue = CallQueue(of: adapter, Endings()) { queue in
      let update = FirmwareUpdate(try FirmwareFile.recognize(file))
      let linked = LinkedUpdateDevice(adapter.links, try options.request(for: device)) { await adapter.links.release($0) }
      var shown = 0
      let result = await Result(of: {
        try await update.run(linked) { event in
          linked.follow(event)
          if case .progress(let sent, let confirmed, let total) = event {
            // A person sees no difference below a hundredth, and a slow caller must not lose any.
            guard sent + confirmed < shown || sent + confirmed - shown >= total / 100 || confirmed == total else { return }
            shown = sent + confirmed
          }
          queue.add(event)
        }
      })
      if let connection = linked.connection { await shielded { await adapter.links.release(connection) } }
      queue.add(.finished(try result.get()))
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(queue: CallQueue.Reader(queue)) }

  /// The one iteration of the events, which updates.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: CallQueue<UpdateEvent>.Reader

    /// Waits for the next event.
    /// - Throws: `BluetoothError` with the reasons `invalidArgument` before the first byte if the file is damaged or not for this device,
    ///   `unsupported` if the device refuses it or takes no firmware, `verification` if the new firmware does not run, and those of a
    ///   connection; CancellationError.
    public mutating func next() async throws -> UpdateEvent? { try await queue.next() }
  }
}
