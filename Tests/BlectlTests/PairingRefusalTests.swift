import ArgumentParser
import Foundation
import Glibc
import Presentation
import Terminal
import TestSupport

@testable import CommandLine

/// Pairings that fail: one sentence, one exit code, and nothing stored.
@Suite(.timeLimit(.minutes(15))) struct PairingRefusalTests {
  // MARK: Simulated devices

  /// What is special about a device, the options of `pair`, the exit code, and the message.
  private static let refusals: [(security: String, options: [String], status: Int32, message: String)] = [
    (#""refuses": "repeated_attempts""#, [], 5, "the device refused (Repeated Attempts, SMP 0x09). Wait before the next attempt."),
    (#""refuses": "pairing_not_supported""#, [], 5, "Some devices pair only after a key is pressed."),
    (#""refuses": "numeric_comparison_failed""#, [], 5, "the user of the device said that the numbers differ."),
    (#""refuses": "passkey_entry_failed""#, [], 5, "the user of the device entered no passkey."),
    (#""refuses": "authentication_requirements""#, [], 5, "It demands protection against an attacker in the middle."),
    (#""refuses": "key_rejected""#, [], 5, "the device refused (Key Rejected, SMP 0x0f)."),
    (#""key_size": 7"#, [], 5, "the device offers a key of 7 bytes, and the minimum is 16. To accept it: --min-key-size 7"),
    (
      #""key_size": 15"#, ["--level", "4", "--io", "keyboard", "--passkey", "000001"], 5,
      "To accept it: --min-key-size 15, without --level 4"
    ),
    (#""sc": false"#, ["--legacy", "refuse"], 5, "the device has only LE legacy pairing"),
    (#""passkey": "246810", "sc": false"#, ["--level", "4", "--passkey", "246810"], 5, "the device has only LE legacy pairing"),
    (#""passkey": "246810", "sc": false"#, ["--passkey", "246811"], 5, "the passkey differs from the passkey of the device."),
    (#""io": "keyboard""#, ["--io", "display"], 5, "the user of the device entered no passkey."),
    (#""io": "yesno""#, ["--confirm", "no"], 5, "you said that the numbers differ. If they really did"),
    (#""io": "yesno""#, ["--io", "yesno"], 64, "Answer on the command line: --confirm yes or no"),
    (#""io": "none""#, ["--level", "3", "--confirm", "yes"], 5, "the abilities of the devices allow only Just Works"),
  ]

  private static func expectNothing(_ result: Blectl.Result, _ status: Int32, _ message: String, _ state: String) {
    let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("blectl: Cannot") || $0.hasPrefix("blectl: The device") }
    #expect(result.status == status && result.text.isEmpty, "\(message): \(result.text)\(result.errors)")
    #expect(errors.count == 1 && errors.first?.contains(message) == true, "\(message): \(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: "\(state)/blectl/bonds"), "\(message)")
  }

  @Test func refusals() throws {
    let devices = Self.refusals.enumerated().map { number, row in
      """
      {"name": "D\(number)", "address": "D1:00:00:00:03:\(Hex.encode(UInt8(number)))/random", "advertisement": {"name": "D\(number)"},
       "security": {\(row.security)}, "services": []}
      """
    }
    let adapter = "sim:\(try TemporaryFolder.file("[\(devices.joined(separator: ","))]"))"
    for (number, row) in Self.refusals.enumerated() {
      let state = TemporaryFolder.path()
      let address = "D1:00:00:00:03:\(Hex.encode(UInt8(number)))/random"
      let result = try Blectl.run(["pair", address] + row.options, environment: ["XDG_STATE_HOME": state], adapter: adapter)
      Self.expectNothing(result, row.status, row.message, state)
    }
  }

  /// An answer is refused only with an ability that never leads to its question, whatever the device can do (Vol 3 Part H Table 2.8).
  @Test func answersWithoutAnEffect() {
    let abilities = ["display", "yesno", "keyboard", "none", "keyboard-display"]
    var refused: [String] = []
    for (own, ability) in abilities.enumerated() {
      let methods = (0..<5).flatMap { device in
        [true, false].map { AssociationTable.method(initiator: own, responder: device, mitm: true, isSecure: $0) }
      }
      let answers = [
        ("--passkey", "000001", methods.contains { $0.usesPasskey }), ("--confirm", "yes", methods.contains(.numericComparison)),
      ]
      for (option, value, hasEffect) in answers {
        let isAccepted = (try? PairingOptions.parse(["--io", ability, option, value])) != nil
        #expect(isAccepted == hasEffect, "--io \(ability) \(option)")
        if !isAccepted { refused.append("\(ability) \(option)") }
      }
    }
    #expect(refused == ["display --confirm", "keyboard --confirm", "none --passkey", "none --confirm"])
  }

  /// An impostor can provoke each of these failures, and the message says so.
  @Test(arguments: [.bondRejected(.pinOrKeyMissing), .bondRejected(.micFailure), .weakerThanBond] as [PairingFailure])
  func whatAnImpostorProvokes(_ failure: PairingFailure) {
    let warning = " Or another device uses its address: only pairing with a passkey or a number tells them apart."
    #expect(Failure(failure).message.hasSuffix(warning) && failure.needsUnpairing, "\(Failure(failure).message)")
  }

  // MARK: Silence

  @Test func sentencesForSilence() {
    for (failure, status, message) in [
      (PairingFailure.timedOut, ExitStatus.timeout, "Cannot pair: the device sent nothing for 30 s."),
      (.silent(.seconds(3)), .timeout, "Cannot pair: the device sent nothing for 3 s. To wait longer: --timeout SECONDS"),
      (.disconnected(.connectionTimeout), .linkLost, "Cannot pair: the connection ended (Connection Timeout, HCI 0x08)."),
      (.encryptionLost, .refused, "Cannot pair: the encryption ended before the devices had all keys."),
    ] {
      #expect(Failure(failure).message == message && Failure(failure).exitStatus == status)
    }
  }

  /// The program that controls a session does not answer: the device is not to blame.
  @Test(arguments: [true, false]) func nobodyAnswers(_ isPasskey: Bool) async throws {
    let errors = TemporaryPath()
    try errors.write([])
    try await onLoop {
      let file = unsafe open(errors.path, O_WRONLY)
      let output = Output(Output.Style(), out: file, err: file) { _ in nil }
      let dialogue = PairingDialogue(output, PairingAnswers(), .program(id: "p", OpenQuestions()))
      let number = try #require(SixDigits(1))
      let question = EventLoop.shared.spawn {
        if isPasskey { _ = await dialogue.passkey() } else { _ = await dialogue.isSame(number) }
      }
      await EventLoop.shared.spawn {}.value
      question.cancel()
      await question.value
      #expect(Failure(dialogue.explained(.timedOut)).message == "Cannot pair: you did not answer in 30 s.")
      #expect(dialogue.explained(.timedOut) as? PairingFailure == .timedOut)
      close(file)
    }
  }

  // MARK: Hostile devices

  private static let response: [UInt8] = [2, 3, 0, 0x09, 16, 0, 0]
  private static let features: [UInt8] = [3, 0, 0x09, 16, 0, 0]
  /// The x coordinate of the debug key, least significant byte first.
  private static let debugX: [UInt8] = [
    0xE6, 0x9D, 0x35, 0x0E, 0x48, 0x01, 0x03, 0xCC, 0xDB, 0xFD, 0xF4, 0xAC, 0x11, 0x91, 0xF4, 0xEF,
    0xB9, 0xA5, 0xF9, 0xE9, 0xA7, 0x83, 0x2C, 0x5E, 0x2C, 0xBE, 0x97, 0xF2, 0xD2, 0x03, 0xB0, 0x20,
  ]

  /// What a device answers to each PDU, by its code. No PDUs stand for the received one, which the device sends back.
  private typealias Answers = [UInt8: [[UInt8]]]

  private static func hostile() throws -> [(message: String, answers: Answers)] {
    let key = try P256KeyPair(privateKey: [UInt8](repeating: 7, count: 32)).publicKey
    let valid: [UInt8] = [0x0C] + key.x.reversed() + key.y.reversed()
    func pdu(_ code: UInt8, _ byte: UInt8, _ count: Int = 16) -> [UInt8] { [code] + [UInt8](repeating: byte, count: count) }
    return [
      ("public key that is not on the curve", [1: [response], 0x0C: [pdu(0x0C, 5, 64)]]),
      ("sent our own values back", [1: [response], 0x0C: []]),
      ("public debug key", [1: [response], 0x0C: [[0x0C] + debugX + [UInt8](repeating: 1, count: 32)]]),
      ("check values of the device are wrong", [1: [response], 0x0C: [valid, pdu(3, 1)], 4: [pdu(4, 2)]]),
      ("unexpected packet (SMP code 0x0d)", [1: [pdu(0x0D, 1)]]),
      // The device asks for a pairing itself, which only a central may.
      ("unexpected packet (SMP code 0x01)", [1: [[1] + features]]),
      ("unexpected packet (SMP code 0x02)", [1: [response, response]]),
      ("unexpected packet (SMP code 0x08)", [1: [response], 0x0C: [valid, pdu(8, 1)]]),
      ("malformed packet", [1: [Array(response.dropLast())]]),
      ("malformed packet", [1: [response], 0x0C: [pdu(0x0C, 5, 63)]]),
      ("announced keys that blectl did not ask for", [1: [[2, 3, 0, 0x09, 16, 0x0F, 0x0F]]]),
      ("wants out-of-band data", [1: [[2, 3, 1, 0x09, 16, 0, 0]]]),
      ("offers a key of 7 bytes", [1: [[2, 3, 0, 0x09, 7, 0, 0]]]),
      ("refused (Reserved Reason, SMP 0x7f)", [1: [[5, 0x7F]]]),
    ]
  }

  @Test func hostileDevices() throws {
    for (message, answers) in try Self.hostile() {
      let controller = try H4Controller(pairing: { pdu in
        guard let answer = answers[pdu[0]] else { return [] }
        return answer.isEmpty ? [pdu] : answer
      })
      let state = TemporaryFolder.path()
      let result = try Blectl.run(
        ["pair", "C0:FF:EE:00:00:07/random", "--io", "none"], environment: ["XDG_STATE_HOME": state], adapter: controller.adapter,
        virtual: false)
      Self.expectNothing(result, 5, message, state)
    }
  }
  /// A device that pretends to be a bonded one, with LE legacy pairing. The old bond stays.
  @Test func aBondedDeviceWithoutSecureConnections() throws {
    let state = TemporaryFolder.path()
    let path = "\(state)/blectl/bonds/00:1B:DB:00:00:01-public.json"
    let key = #"{"key":"000102030405060708090a0b0c0d0e0f","ediv":0,"rand":"0000000000000000","role":null}"#
    let bonds = """
      {"bonds":[{"identity":"C0:FF:EE:00:00:07","identity_type":"random","name":null,"created":"2026-01-01T00:00:00.000Z",
        "method":"just_works","secure_connections":true,"key_size":16,"adapter":"00:1B:DB:00:00:01","adapter_type":"public",
        "irk":null,"keys":[\(key)]}]}
      """
    try FileManager.default.createDirectory(atPath: "\(state)/blectl/bonds", withIntermediateDirectories: true)
    try bonds.write(toFile: path, atomically: true, encoding: .utf8)
    let controller = try H4Controller(
      { pdu in pdu[0] == 2 ? [.pdu([3, 23, 0])] : [.pdu([1, pdu[0], 3, 0, 5])] }, pairing: { $0[0] == 1 ? [[2, 2, 0, 5, 16, 0, 0]] : [] })
    let result = try Blectl.run(
      ["read", "C0:FF:EE:00:00:07/random", "0x0003", "--pair"],
      environment: ["XDG_STATE_HOME": state, "BLECTL_PASSKEY": "246810"], adapter: controller.adapter, virtual: false)
    #expect(
      result.status == 5 && result.errors.contains("it offers less security than the bond with it") && result.errors.contains("unpair"),
      "\(result.errors)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == bonds)
  }
}
