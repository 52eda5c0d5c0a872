import TestSupport
import Testing

/// What people type without reading the manual: a plain name for a device, a time with a unit.
@Suite(.timeLimit(.minutes(5))) struct TypedNamesTests {
  @Test func aWordIsTheNameOfADevice() throws {
    let read = try Blectl.run("read", "Band-7", "battery_level")
    #expect(read.status == 0 && read.text == "3c  60 %\n", "\(read.errors)")
    let execute = try Blectl.run("-q", "-e", "read battery_level", "Band-7")
    #expect(execute.status == 0 && execute.text == "3c  60 %\n", "\(execute.errors)")
  }

  @Test func inASession() throws {
    let result = try Blectl.run("-q", "repl", input: Array("connect Band-7\nread battery_level\ndisconnect Band-7\n".utf8))
    #expect(result.status == 0 && result.text.contains("3c  60 %"), "\(result.text) \(result.errors)")
  }

  @Test func inAScript() throws {
    let script = TemporaryPath()
    try script.write(Array("device Band-7\ntest \"battery\"\n  read 2a19\n  expect == 3c\nend\n".utf8))
    let result = try Blectl.run("run", script.path)
    #expect(result.status == 0, "\(result.text) \(result.errors)")
  }

  @Test func aNameThatIsNotHeard() throws {
    let result = try Blectl.run("read", "Band-8", "2a19")
    #expect(result.status == 2 && result.errors.contains("name:Band-8"), "\(result.errors)")
  }

  @Test(arguments: [
    ["scan", "-d", "1500ms"], ["scan", "--duration", "1s"], ["read", "Band-7", "2a19", "-t", "1m"],
    ["write", "Panel", "fff8", "00", "--gap", "2ms"], ["read", "Band-7", "2a19", "--interval", "0.03s"],
    ["-e", "sleep 20ms; set timeout 2s; read 2a19", "Band-7"], ["mac-from-adv", "-d", "500ms"],
  ])
  func timesHaveUnits(_ arguments: [String]) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 0, "\(arguments): \(result.errors)")
  }

  @Test func aScanThatHearsNothingSaysWhy() throws {
    let result = try Blectl.run("scan", "--phy", "coded", "-d", "2")
    #expect(result.status == 0 && result.errors.contains("--phy 1m,coded"), "\(result.errors)")
  }

  @Test func unitsAreKept() throws {
    let result = try Blectl.run("scan", "-d", "1500ms", "-n", "100")
    #expect(result.errors.contains(" in 1.5 s"), "\(result.errors)")
  }
}
