import TestSupport

/// Replays 94 conversations of GATT.TS server test purposes byte for byte. Our own are in ServerProcedureTests.
@Suite(.timeLimit(.minutes(15))) struct ServerVectorTests {
  @Test(.enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the 94 conversations with GATT servers were not held"))
  func everyCaseByteForByte() async throws {
    let file = try ServerConversations.all()
    try await onLoop {
      for entry in file.cases {
        let database = try file.database(of: entry)
        let channel = ServerTestChannel()
        let server = Server(database: database, channel: channel, rxMTU: 512)
        server.start()
        var answers: [String] = []
        for step in entry.pdus {
          switch step.dir {
          case "c2s":
            #expect(answers.isEmpty, "\(entry.id): more than one answer before \(step.hex)")
            channel.deliver(step.hex)
            answers += channel.take()
          case "s2c":
            // The application sends unsolicited PDUs.
            if answers.isEmpty, step.hex.hasPrefix("1b") { server.notify(0x0003, [1, 2, 3]) }
            if answers.isEmpty, step.hex.hasPrefix("1d") { server.indicateWhenFree(0x0003, [1, 2, 3]) }
            answers += channel.take()
            #expect(answers == [step.hex], "\(entry.id)")
            answers = []
          default: #expect(answers.isEmpty, "\(entry.id): an answer where there is none")
          }
        }
        #expect(answers.isEmpty, "\(entry.id): an answer too many")
      }
    }
  }
}
