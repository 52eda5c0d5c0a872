import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import LinuxIO
import Operations
import Terminal
import Text

extension InteractiveShell {
  func complete(_ line: String) -> LineEditor.Completion? {
    let home = process.configuration.variable("HOME")
    return Completer(model: model(), shape: shape, files: { FolderNames.list($0, home: home) }).complete(line)
  }

  private func model() -> CompletionModel {
    var model = CompletionModel()
    model.commands = Self.commands
    model.devices = seen.devices
    model.aliases = aliases
    guard let connection = shell.current?.connection, connection.isOpen else { return model }
    model.isConnected = true
    guard let table = connection.client.table else {
      learn(connection)
      return model
    }
    // Until the device has said its own names, its attributes are found by the others.
    if descriptions?.client !== connection.client { learn(connection) }
    let texts = descriptions?.client === connection.client ? descriptions?.texts ?? [:] : [:]
    model.attributes = table.services.flatMap { service in
      service.characteristics.map {
        .init(
          service: service.uuid, uuid: $0.uuid, handle: $0.valueHandle, properties: $0.properties, description: texts[$0.valueHandle])
      }
    }
    return model
  }

  /// With those that only a terminal has.
  private static var commands: [(name: String, hint: String)] {
    ShellCommands.all.compactMap { type in
      type.configuration.commandName.map { ($0, String(type.configuration.abstract.prefix { $0 != "." })) }
    } + [("history", "The lines of this session and of earlier ones"), ("exit", "End the session")]
  }

  private func shape(_ name: String) -> CommandShape? {
    if let known = shapes[name] { return known }
    guard let shape = CommandShape(named: name) else { return nil }
    shapes[name] = shape
    return shape
  }

  /// Nobody has looked yet what the device has: that is done now, and what was typed is completed then, unless it has changed.
  private func learn(_ connection: Connection) {
    guard learning == nil else { return }
    // In virtual time it goes on meanwhile, although a key is waited for.
    EventLoop.shared.horizon = nil
    learning = EventLoop.shared.spawn { [weak self, editor] in
      let client = connection.client
      defer {
        self?.learning = nil
        if editor.isActive { EventLoop.shared.horizon = EventLoop.shared.now }
      }
      guard let table = try? await client.discover() else { return }
      var texts: [AttributeHandle: String] = [:]
      for item in table.characteristics {
        guard let descriptor = item.descriptors.first(where: { $0.uuid == UUID(0x2901) }), !Task.isCancelled else { continue }
        guard let value = try? await client.read(descriptor.handle) else { continue }
        texts[item.valueHandle] = String(validating: DisplayText.withoutTrailingNULs(value), as: UTF8.self)
      }
      self?.descriptions = (client, texts)
      editor.completeAgain()
    }
  }
}
