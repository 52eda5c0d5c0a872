import TestSupport

extension KernelTests {
  /// blectl and BlueZ's tools show the same handles, UUIDs, properties and values of Lock-01.
  @Suite struct TreeTests {
    private func ours(_ adapter: String) throws -> AttributeTable {
      // Overwrite the value that another test left.
      let written = try Blectl.run(["write", "\(BumbleAir.peer)/random", "ffe4", "00ff10"], adapter: adapter, virtual: false)
      #expect(written.status == 0, "\(written.errors)")
      let result = try Blectl.run(["services", "\(BumbleAir.peer)/random", "--values", "--json"], adapter: adapter, virtual: false)
      #expect(result.status == 0, "\(result.errors)")
      let table = AttributeTable(try result.records)
      #expect(table.types.count == 42 && table.services.count == 4 && table.properties.count == 16 && table.values.count == 9, "\(table)")
      return table
    }

    @Test func gatttool() throws {
      try Guest.lock()
      let ours = try ours("hci0")
      let tool = try Conversation("gatttool", "-I", "-i", "hci0", "-b", BumbleAir.peer, "-t", "random")
      try tool.say("connect", until: "Connection successful")
      var theirs = AttributeTable()
      for line in try tool.say("primary", until: "end grp handle", times: ours.services.count).matches(
        of: /attr handle: 0x(\w+), end grp handle: 0x(\w+) uuid/)
      {
        theirs.services[hexadecimal(line.1)] = hexadecimal(line.2)
      }
      for line in try tool.say("characteristics", until: "char value handle", times: ours.properties.count).matches(
        of: /handle: 0x(\w+), char properties: 0x(\w+), char value handle: 0x(\w+), uuid: (\S+)/)
      {
        theirs.properties[hexadecimal(line.1)] = hexadecimal(line.2)
        theirs.types[hexadecimal(line.3)] = String(line.4)
      }
      for line in try tool.say("char-desc", until: "uuid: ", times: ours.types.count).matches(of: /handle: 0x(\w+), uuid: (\S+)/) {
        theirs.types[hexadecimal(line.1)] = String(line.2)
      }
      for handle in ours.values.keys.sorted() {
        let answer = try tool.say("char-read-hnd 0x\(String(handle, radix: 16))", until: "value/descriptor: ")
        theirs.values[handle] = answer.firstMatch(of: /descriptor: ([0-9a-f ]*)/).map { String($0.1.filter { $0 != " " }) }
      }
      tool.end()
      #expect(theirs == ours)
      try Guest.waitForNoLink()
    }

    /// bluetoothd hides Generic Access, and does not show the end of a service.
    @Test func bluetoothctl() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      var expected = try ours(air.adapter)
      let daemon = try Bluetoothd(air.adapter)
      defer { daemon.stop() }
      let tool = try daemon.control()
      defer { tool.end() }
      try daemon.connect(tool)
      try tool.say("menu gatt", until: "Print environment")
      expected.services = [:]
      // bluetoothd writes to Client Supported Features, so its value differs.
      expected.values[0x0B] = nil
      for handle in 1..<6 {
        expected.types[handle] = nil
        expected.properties[handle] = nil
        expected.values[handle] = nil
      }
      var theirs = AttributeTable()
      var characteristics: [String] = []
      for entry in try tool.say("list-attributes \(BumbleAir.peer)", until: "desc002a\n").matches(
        of: /(Service|Characteristic|Descriptor) \(Handle \w+\)\n\t(\S*?(\w{4}))\n\t(\S+)/)
      {
        let handle = hexadecimal(entry.3)
        switch entry.1 {
        case "Service": theirs.types[handle] = AttributeTable.primaryService
        case "Characteristic":
          theirs.types[handle] = AttributeTable.characteristic
          theirs.types[handle + 1] = String(entry.4)
          characteristics.append(String(entry.2))
        default: theirs.types[handle] = String(entry.4)
        }
      }
      for path in characteristics {
        let handle = hexadecimal(path.suffix(4))
        // The version appears when the flags are complete.
        let flags = try tool.say("attribute-info \(path)\nversion", until: "Version").matches(of: /Flags: (\S+)/)
        theirs.properties[handle] = flags.reduce(0) { $0 | (AttributeTable.bits[String($1.1).replacing("-", with: "_")] ?? 0x100) }
        guard let value = expected.values[handle + 1] else { continue }
        // bluetoothctl shows the value as the attribute's, and again as the answer.
        let answer = try tool.say("select-attribute \(path)\nread") { bytes($0).count >= 2 * value.count }
        theirs.values[handle + 1] = String(bytes(answer).prefix(value.count))
        #expect(String(bytes(answer).dropFirst(value.count)) == value)
      }
      #expect(theirs == expected)
    }

    /// Returns the bytes of a hexadecimal dump.
    private func bytes(_ text: String) -> String {
      text.matches(of: #/  ((?:[0-9a-f]{2} ){1,16}) /#).map { String($0.1.filter { $0 != " " }) }.joined()
    }

    private func hexadecimal(_ text: some StringProtocol) -> Int { Int(text, radix: 16) ?? -1 }
  }
}
