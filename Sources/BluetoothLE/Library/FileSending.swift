// SPDX-License-Identifier: Apache-2.0
extension RemoteCharacteristic {
  /// How to prove that a device has a file.
  public enum Verification: Sendable {
    /// No proof beyond the arrival of the last packet.
    case none
    /// A comparison of the characteristic's value with the file, which may have at most 512 bytes.
    case readBack
    /// A notification of the named characteristic with the number of bytes and their CRC-32 (that of zlib), 4 bytes each, least
    /// significant first. ``TimeLimits/report`` limits the wait.
    case notification(AttributeName)
  }

  /// Sends bytes of any length in segments, each a Write Command or Write Request, as fast as link and device take them.
  ///
  /// The transfer begins with the iteration, and ends with it: iterate to the end. After a lost link, it continues if the connection has a
  /// ``ReconnectPolicy``.
  ///
  /// ```swift
  /// for try await progress in try await panel.characteristic("fff6").send(image, verify: .notification("fff7")) {
  ///   print(progress.confirmed, "of", progress.total)
  /// }
  /// ```
  /// - Parameters:
  ///   - bytes: The contents of the file, at least one byte.
  ///   - verification: The proof that the device has the file.
  ///   - segment: The bytes of a segment, from 1 to three less than ``ConnectedDevice/mtu``, at most 512. Nil chooses the fastest size.
  /// - Throws: Nothing yet: the iteration throws the errors of the transfer.
  public func send(_ bytes: [UInt8], verify verification: Verification = .none, segment: Int? = nil) async throws -> FileSending {
    FileSending(bytes, to: self, verification, segment)
  }

  /// The progress of a transfer. The sequence ends after the last byte and its verification.
  ///
  /// Iterate once: another iteration sends nothing. There is an element for about each hundredth of the file.
  public struct FileSending: AsyncSequence, Sendable {
    /// How far a transfer is, in bytes of the file.
    public struct Progress: Sendable, Hashable {
      /// The bytes that have left.
      public let sent: Int
      /// The bytes that have certainly arrived.
      public let confirmed: Int
      /// The bytes of the file.
      public let total: Int
      /// Whether the device has proved that it has the file. False before the end, and without ``Verification``.
      public let isVerified: Bool
    }

    private let queue: CallQueue<Progress>

    init(_ bytes: [UInt8], to target: RemoteCharacteristic, _ verification: Verification, _ segment: Int?) {
      let device = target.device
      queue = CallQueue(of: device.adapter, device.endings) { queue in
        var plan = FileDelivery.Plan(target.selector)
        plan.transfer.chunk = segment
        plan.patience = TimeLimits.report
        switch verification {
        case .none: break
        case .readBack: plan.verification = .readBack
        case .notification(let name): plan.verification = .notification(try name.selector)
        }
        plan.reconnection = device.reconnection
        let observer = ProgressObserver(queue, total: bytes.count)
        let delivery = FileDelivery(plan, ByteArray(bytes), observer, observer)
        let request = LinkRequest(.address(device.peripheral.peer.address, device.peripheral.peer.type))
        let verdict = try await device.present { connection in
          try await delivery.run(PresentLinks(device.adapter.session, connection, device.lifeline), request)
        }
        switch verdict {
        case .notAsked: break
        case .passed: queue.add(Progress(sent: bytes.count, confirmed: bytes.count, total: bytes.count, isVerified: true))
        case .failed(let failure): throw UnverifiedFile(failure: failure)
        }
      }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(queue) }

    /// The one iteration of the progress, which sends.
    public struct Iterator: AsyncIteratorProtocol {
      private let queue: CallQueue<Progress>.Reader

      init(_ queue: CallQueue<Progress>) { self.queue = CallQueue.Reader(queue) }

      /// Waits for progress.
      /// - Throws: ``BluetoothError/Reason/verification`` if the device does not have the file,
      ///   ``BluetoothError/Reason/invalidArgument`` before the first segment if the file is empty or cannot be verified, and the reasons
      ///   of a write; CancellationError.
      public mutating func next() async throws -> Progress? { try await queue.next() }
    }
  }
}

/// The difference between a file and what the device has.
struct UnverifiedFile: Error {
  let failure: VerificationFailure
}

/// Passes on the progress of a delivery. Keeps what its process learns about devices as long as the transfer.
@LoopActor
private final class ProgressObserver: DeliveryObserver, TransferStore {
  private let queue: BoundedQueue<RemoteCharacteristic.FileSending.Progress>
  private let total: Int
  private var last = WriteProgress()

  init(_ queue: BoundedQueue<RemoteCharacteristic.FileSending.Progress>, total: Int) { (self.queue, self.total) = (queue, total) }

  let transfers = TransferMemory(parsing: [])
  func remember(_ record: TransferMemory.Record) -> Bool { false }

  func delivery(_ event: FileDelivery.Event) {}
  func willSend(on connection: Connection) {}
  func didSend() {}

  func didProgress(_ transfer: FileTransfer) throws {
    // A person sees no difference below a hundredth, and a slow caller must not lose any.
    let now = transfer.progress
    guard now != last, now.sent - last.sent >= total / 100 || now.sent == total || now.confirmed - last.confirmed >= total / 100 else {
      return
    }
    last = now
    queue.add(.init(sent: now.sent, confirmed: now.confirmed, total: total, isVerified: false))
  }

  func didDeliver(_ transfer: FileTransfer, _ verdict: FileDelivery.Verdict) async throws {}
}
