import Foundation
import TestSupport

/// The scripts in man/examples pass, and the CI files that run them work.
@Suite(.timeLimit(.minutes(15))) struct ExampleScriptTests {

  /// The command in the first comment works from the repository, and without its folder from the installed examples.
  @Test(arguments: [("lock.blectl", 4), ("wristband.blectl", 8), ("tracker.blectl", 7), ("button.blectl", 4)])
  func passes(_ name: String, _ tests: Int) throws {
    let examples = URL(fileURLWithPath: ExampleTests.folder)
    let script = try String(contentsOf: examples.appendingPathComponent(name), encoding: .utf8)
    let command = String(try #require(script.firstMatch(of: /\n#     blectl (run .+)\n/)).1)
    let repository = examples.deletingLastPathComponent().deletingLastPathComponent()
    for (folder, command) in [(repository, command), (examples, command.replacing("man/examples/", with: ""))] {
      let result = try Blectl.run(command.split(separator: " ").map(String.init), folder: folder.path, adapter: nil)
      #expect(result.status == 0 && result.lines.last?.hasPrefix("\(tests) passed in ") == true, "\(result.text)\(result.errors)")
    }
  }

  /// Runs the commands of a CI file with its variables, in a copy of the files that they name.
  @Test(arguments: ["github-actions.yml", "gitlab-ci.yml"])
  func continuousIntegration(_ name: String) throws {
    let lines = try String(contentsOfFile: "\(ExampleTests.folder)/\(name)", encoding: .utf8).split(separator: "\n").map(String.init)
    var variables = ["PATH": "\(URL(fileURLWithPath: Blectl.path).deletingLastPathComponent().path):/usr/bin:/bin", "HOME": "/dev/null"]
    for line in lines {
      if let match = line.firstMatch(of: /^ +(BLECTL_[A-Z]+): "?([^"]+)"?$/) { variables[String(match.1)] = String(match.2) }
    }
    #expect(variables["BLECTL_ADAPTER"] != nil && variables["BLECTL_CLOCK"] == "virtual")
    let folder = URL(fileURLWithPath: TemporaryFolder.path())
    try FileManager.default.createDirectory(at: folder.appendingPathComponent("man"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: URL(fileURLWithPath: ExampleTests.folder), to: folder.appendingPathComponent("man/examples"))
    let commands = lines.compactMap { $0.firstMatch(of: /(?:run:|-) (blectl run .+)$/).map { String($0.1) } }
    #expect(commands.count == 1)
    for command in commands {
      let result = try RunningProcess.run(["sh", "-c", "cd '\(folder.path)' && \(command)"], environment: variables)
      #expect(result.status == 0, "\(result.text)\(result.errors)")
    }
    let junit = try String(contentsOf: folder.appendingPathComponent("junit.xml"), encoding: .utf8)
    #expect(junit.contains("the battery is the same, whoever is asked"))
    let html = try String(contentsOf: folder.appendingPathComponent("report.html"), encoding: .utf8)
    #expect(html.contains("the battery is the same, whoever is asked"))
  }
}
