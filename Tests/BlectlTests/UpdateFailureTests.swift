import BluetoothLEFirmware
import Terminal
import TestSupport

@testable import Presentation

/// The message and the exit code of each reason why an update fails.
@Suite(.timeLimit(.minutes(15))) struct UpdateFailureTests {
  private static let results: [DFUResult] = [
    .opcodeNotSupported, .invalidParameter, .insufficientResources, .invalidObject, .unsupportedType, .notPermitted, .failed, .extended,
    .unknown(99),
  ]
  private static let extended: [DFUExtendedError] = [
    .commandFormat, .unknownCommand, .initCommand, .firmwareVersion, .hardwareVersion, .softdeviceVersion, .signatureMissing, .hashType,
    .hash, .signatureType, .verification, .space, .alreadyPresent, .unknown(15),
  ]
  private static let buttons: [ButtonlessResult] = [
    .opcodeNotSupported, .failed, .invalidName, .busy, .notBonded, .unknown(9),
  ]

  private static let updates: [(any Error, Presentation.ExitStatus)] = [
    (DFUError.noTarget, .notFound), (DFUError.noAnswer(nil, after: .seconds(10)), .timeout),
    (DFUError.noAnswer(.crc, after: .seconds(10)), .timeout), (DFUError.invalidAnswer(.select), .refused),
    (DFUError.crcMismatch(.data, at: 4096, tries: 3), .refused), (DFUError.crcMismatch(.command, at: 0, tries: 3), .refused),
    (DFUError.initPacketTooLarge(600, limit: 512), .refused), (DFUError.bootloaderNotFound, .expectation),
    (DFUError.lastExecuteUnanswered, .linkLost), (FirmwareUpdateError.unknownDevice, .notFound), (FirmwareUpdateError.legacyDFU, .refused),
    (FirmwareUpdateError.packageForMCUmgr, .input), (FirmwareUpdateError.imageForDFU, .input),
    (FirmwareUpdateError.unusedOption(.prn, .mcumgr), .usage), (FirmwareUpdateError.unusedOption(.image, .nordicDFU), .usage),
    (FirmwareUpdateError.unusedOption(.confirms, .nordicDFU), .usage), (UnprovenUpdate.notBack(canRevert: true), .expectation),
    (UnprovenUpdate.notBack(canRevert: false), .expectation), (UnprovenUpdate.otherImage(version: nil, hash: nil), .expectation),
    (UnprovenUpdate.otherImage(version: "1.0.0", hash: [1, 2]), .expectation), (UnprovenUpdate.notConfirmed, .expectation),
    (UnprovenUpdate.sameVersion("1.0.0"), .expectation),
    (UnprovenUpdate.unreadable(canRevert: true, ManagementError.noAnswer(.images, after: .seconds(10))), .expectation),
    (UnprovenUpdate.unreadable(canRevert: false, ManagementError.noService), .expectation),
  ]
  private static let management: [(ManagementError, Presentation.ExitStatus)] = [
    (.noService, .notFound), (.noAnswer(.erase, after: .seconds(75)), .timeout), (.invalidAnswer(.images), .refused),
    (.noAnswer(.upload, after: .seconds(225), tries: 3), .timeout),
    (.pendingStays(ImageVersion(major: 2, minor: 0, revision: 0), file: ImageVersion(major: 1, minor: 0, revision: 0)), .refused),
    (.messageTooLong(.echo, 300, limit: 20), .refused), (.mtuTooSmall(mtu: 23), .refused), (.uploadStuck(at: 512, tries: 5), .refused),
    (.uploadMismatch, .expectation), (.imageTooLarge(2, limit: 1), .input), (.noSuchImage(3), .usage), (.slotNotAddressable(1), .usage),
    (
      .versionNotHigher(running: ImageVersion(major: 2, minor: 0, revision: 0), file: ImageVersion(major: 2, minor: 0, revision: 0)),
      .refused
    ), (.stillBlocked, .refused), (.noTrials(.overwriteOnly), .usage), (.notBack(after: .seconds(120)), .expectation),
    (
      .downgradeForbidden(
        running: ImageVersion(major: 2, minor: 0, revision: 0), file: ImageVersion(major: 1, minor: 0, revision: 0)), .refused
    ),
  ]

  private static var errors: [(any Error, Presentation.ExitStatus)] {
    var all = updates
    for result in results { all.append((DFUError.refused(.execute, result, nil), .refused)) }
    for reason in extended { all.append((DFUError.refused(.execute, .extended, reason), .refused)) }
    for result in buttons { all.append((DFUError.buttonlessRefused(result), .refused)) }
    for (error, status) in management { all.append((error, status)) }
    return all
  }

  @Test func everyErrorHasItsSentences() {
    for (error, status) in Self.errors {
      let failure = Failure(error)
      #expect(failure.exitStatus == status, "\(error)")
      let message = failure.message.asMessage(of: "blectl")
      // A command at the end has no full stop.
      #expect(message.contains(/(\.|: blectl [^.]+|: --pair)$/), "\(message)")
      for sentence in message.split(separator: ". ") { #expect(sentence.split(separator: " ").count <= 25, "\(sentence)") }
    }
    #expect(Failure(ManagementError.uploadMismatch).message.hasSuffix("--no-resume."))
    let silent = Failure(ManagementError.noAnswer(.upload, after: .seconds(225), tries: 3)).message
    #expect(silent.hasPrefix("The device did not answer within 225 s to \"upload\", which was sent 3 times."), "\(silent)")
    #expect(Set(Self.errors.map { Failure($0.0).message }).count == Self.errors.count)
  }

  /// A lost update continues with the same command, unless only its last answer is missing.
  @Test func onlyAnUpdateThatCanContinueSaysSo() async throws {
    try await onLoop {
      let progress = UploadProgress(.none, Output(Output.Style()) { _ in nil })
      try progress.show(300, 200, of: 300)
      let lost = Failure(update: Failure(.linkLost, "Lost."), progress)
      #expect(lost.message == "Lost. The device confirmed 200 of 300 bytes. To continue, run the same command again.")
      let done = Failure(update: DFUError.lastExecuteUnanswered, progress)
      #expect(done.message.hasSuffix("Check its version.") && done.kind == .linkLost && done.resumeOffset == nil)
    }
  }

  /// The codes of the groups 0, 1 and 3, and those that all groups share. Unknown ones are numbers.
  @Test func everyCodeOfMCUmgrHasAName() {
    var messages: Set<String> = []
    for (group, count) in [(nil, 13), (0, 6), (1, 34), (3, 8)] as [(UInt16?, Int)] {
      for code in 1...count {
        let failure = Failure(ManagementError.refused(.setState, ManagementRefusal(group: group, code: code), reason: nil))
        #expect(failure.exitStatus == .refused && failure.code == code && failure.name?.contains(" ") == false, "\(failure.message)")
        #expect(failure.message.hasPrefix("The device refused the request \"set state\": "))
        messages.insert(failure.message)
      }
      let unknown = Failure(ManagementError.refused(.reset, ManagementRefusal(group: group, code: count + 1), reason: "no\u{1B}"))
      #expect(unknown.name == nil && unknown.message.contains("code \(count + 1))") && !unknown.message.contains("\u{1B}"))
    }
    #expect(messages.count == 61)
    let full = Failure(ManagementError.refused(.upload, ManagementRefusal(group: 1, code: 9), reason: nil))
    #expect(full.message.contains("no free slot (image group, code 9). If another image is pending") && full.name == "no_free_slot")
    for code in [0, -1, .min, .max] {
      #expect(Failure(ManagementError.refused(.reset, ManagementRefusal(group: 77, code: code), reason: nil)).message.contains("group 77"))
    }
  }
}
