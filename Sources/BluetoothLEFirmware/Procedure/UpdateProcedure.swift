// SPDX-License-Identifier: Apache-2.0
public import BluetoothLE

/// A protocol with which a device takes firmware. One value serves one update.
@LoopActor
package protocol UpdateProcedure: AnyObject {
  /// Reads the state of the device, checks the file against it, and decides. Changes nothing on the device.
  /// - Throws: The refusals of the procedure, which say why this file cannot be installed; the error of the link.
  func plan(_ device: any UpdateDevice) async throws -> UpdatePlan
  /// Does what `plan` returned, and proves it. Continues after a lost link, and skips each step that is already done.
  /// - Throws: The error of the first step that failed, `UnprovenUpdate`, the errors of `onEvent`, CancellationError.
  func run(_ device: any UpdateDevice, _ onEvent: @escaping @LoopActor (UpdateEvent) throws -> Void) async throws -> UpdateOutcome
}

/// The device of an update. Its links end with each restart, and may be lost.
@LoopActor
package protocol UpdateDevice: AnyObject {
  /// Returns the client of the open link. Connects first if there is none.
  /// - Throws: The error of the search or of the connection attempt.
  func client() async throws -> Client
  /// Pauses and connects again after a lost link.
  /// - Throws: `error` if a new link does not help, or if no attempt is left; CancellationError.
  func reconnect(after error: any Error) async throws -> Client
  /// Waits for the end of the link after a command that restarts the device. Closes the link after 5 s. Then finds the device again, and
  /// connects, with no handle of the old link.
  /// - Returns: Nil if the device does not come back within `patience`.
  /// - Throws: CancellationError; the error of a connection attempt that would not pass.
  func restarted(as identity: RestartedIdentity, within patience: Duration) async throws -> Client?
}

/// How a device is found after a restart.
package enum RestartedIdentity: Hashable, Sendable {
  case same
  /// A Nordic bootloader without bonds advertises with the last byte of the address plus one.
  case nextAddress
  /// The application of such a bootloader. Its address is that of the bootloader with the last byte minus one.
  case previousAddress
  /// The address of the device before the update, as the user named it.
  case original
  /// The name that was set before the restart, or that of all bootloaders. The device is not found while several have this name.
  case named(String)
}

/// The steps of an update, and the facts that the user decides by.
package struct UpdatePlan: Hashable, Sendable {
  /// The version that runs now. Nil if the device does not report it.
  package var runningVersion: String?
  package var runningHash: [UInt8]?
  /// The version in the file. Nil if the file has none.
  package var version: String?
  package var hash: [UInt8]?
  /// The number of bytes that the device gets.
  package var bytes = 0
  /// The steps that are left, in order. Empty if the device already runs this image.
  package var steps: [UpdateStep] = []
  /// Whether the device returns to the old image by itself if the new one is not confirmed.
  package var canRevert = false
  package var notes: [UpdateNote] = []
}

/// A step of an update. A device may need it several times, or not at all.
public enum UpdateStep: Hashable, Sendable {
  /// Resets the device, so that an image on trial or a pending one ends.
  case finishEarlier
  /// Starts the bootloader.
  case enterBootloader
  /// Uploads an image, or a part of a package. The values are its zero-based number, and their count.
  case upload(Int, of: Int)
  /// Marks the new image for one trial.
  case test
  /// Restarts the device.
  case restart
  /// Compares version and hash with the file.
  case compare
  /// Makes the device keep the new image.
  case confirm
}

/// An event of an update.
public enum UpdateEvent: Hashable, Sendable {
  /// A step began.
  case began(UpdateStep)
  /// The bytes of the current upload that were sent, that the device confirmed, and all.
  case progress(sent: Int, confirmed: Int, total: Int)
  /// The upload continues at this byte. The device already has the bytes before it.
  case resumed(at: Int)
  /// The update goes on, but people should know a fact.
  case note(UpdateNote)
  /// The update is over. Only users of the library see this event.
  case finished(UpdateOutcome)
}

/// A fact that changes nothing, but that people should know.
public enum UpdateNote: Hashable, Sendable {
  /// The padding at the end of the file, in bytes, is left out.
  case paddingLeftOut(Int)
  /// The image is encrypted, so its hash cannot be checked before the upload.
  case encrypted
  /// The image is compressed. The device reports another hash after the restart.
  case compressed
  /// The device runs the same content. The signature may differ.
  case sameContent
  /// The device has only one slot, the one that runs.
  case singleSlot
  /// The device does not join the parts of a message, so each message is one write.
  case noReassembly
  /// The device has this part of a package already, or a newer version. The zero-based number of the part, and their count.
  case partInstalled(Int, of: Int)
  /// Another image, of this version, is on trial, or pending, so that the next restart would start it. The update ends that first.
  case unfinished(version: String?, isOnTrial: Bool)
  /// The device did not come back within this time.
  case notBackWithin(Duration)
  /// The firmware is installed, but the connection after the restart failed.
  case notConnected(ReturnFailure)
}

/// The error of the connection after the last restart.
public struct ReturnFailure: Hashable, Sendable {
  package let error: any Error

  init(_ error: any Error) { self.error = error }

  /// The error for users of the library.
  public var bluetoothError: BluetoothError { BluetoothError(error) }

  public static func == (one: Self, other: Self) -> Bool { "\(one.error)" == "\(other.error)" }
  public func hash(into hasher: inout Hasher) { hasher.combine("\(error)") }
}

/// The result of an update.
public struct UpdateOutcome: Hashable, Sendable {
  /// The version before the update. Nil if the device does not report it.
  public internal(set) var versionBefore: String?
  /// The hash of the image before the update. Nil if the device does not report it.
  public internal(set) var hashBefore: [UInt8]?
  /// The version that runs now. Nil if the device does not report it.
  public internal(set) var versionAfter: String?
  /// The hash of the image that runs now. Nil if the device does not report it.
  public internal(set) var hashAfter: [UInt8]?
  /// Whether the new image stays after the next restart. Nil if the protocol does not know trials.
  public internal(set) var isConfirmed: Bool?
  /// The bytes sent by this call, without those that the device already had.
  public var bytes: Int { sent.bytes }
  /// The time of the uploads, from their first bytes to their last, without restarts and lost links. Zero if nothing was uploaded.
  public var uploadTime: Duration { sent.time }
  /// The number of times that the upload was resumed.
  public internal(set) var resumptions = 0
  package internal(set) var sent = UploadCount()

  /// Counts and reports the progress of an upload.
  /// - Throws: The errors of `onEvent`.
  @LoopActor mutating func count(
    _ offset: Int, _ confirmed: Int, of total: Int, _ onEvent: @LoopActor (UpdateEvent) throws -> Void
  ) throws {
    if sent.add(upTo: offset), offset > 0 { try onEvent(.resumed(at: offset)) }
    try onEvent(.progress(sent: offset, confirmed: confirmed, total: total))
  }
}

/// The reason why an installed update is not proven.
package enum UnprovenUpdate: Error {
  /// The device did not come back. The new image is not confirmed, so the device reverts at its next restart if it can.
  case notBack(canRevert: Bool)
  /// The device came back, but its images could not be read, for this reason. The new image is not confirmed.
  case unreadable(canRevert: Bool, any Error)
  /// Another image runs than the one that was sent: the device reverted, or refused to start it.
  case otherImage(version: String?, hash: [UInt8]?)
  /// The device reports no hash, and the same version as before the upload, so either image may run.
  case sameVersion(String)
  /// The new image runs, but stays on trial after the confirmation, so the device reverts at its next restart.
  case notConfirmed
}
