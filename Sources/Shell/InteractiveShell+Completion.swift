import ATT
import ArgumentParser
import Bluetooth
import CommandLine
import Completion
import DeviceFiles
import EventLoop
import GATT
import LinuxIO
import Operations
import Terminal
import Text

extension InteractiveShell {
  func complete(_ line: String) -> LineEditor.Completion? {
    let home = process.configuration.variable("HOME")
    var completer = Completer(model: model(), shape: shape, files: { FolderNames.list($0, home: home) })
    completer.attributesOf = { [self] name in lane(named: name)?.connection.flatMap(attributes) }
    return completer.complete(line)
  }

  private func model() -> CompletionModel {
    var model = CompletionModel()
    model.commands = process.commands.all.map { $0.completion } + Self.ownCommands
    model.devices = seen.devices.map { .init(address: "\($0.peer)", name: $0.name, hint: $0.rssi.map { "\($0) dBm" } ?? "") }
    for lane in shell.lanes {
      guard let connection = lane.connection else { continue }
      if let index = model.devices.firstIndex(where: { $0.address == "\(connection.peer)" }) {
        model.devices[index].isLink = true
      } else {
        model.devices.append(.init(address: "\(connection.peer)", name: connection.name, isLink: true))
      }
    }
    model.aliases = Array(aliases.keys)
    model.linkAliases = Set(aliases.filter { alias in shell.lanes.contains { $0.isMeant(by: alias.value) } }.keys)
    guard let connection = shell.current?.connection, connection.isOpen else { return model }
    model.isConnected = true
    model.attributes = attributes(of: connection)
    let device = shell.current?.device ?? descriptions.first { $0.client === connection.client }?.device
    model.deviceCommands = device?.commands.map(CompletionModel.DeviceCommand.init) ?? []
    return model
  }

  private func lane(named name: String) -> Lane? {
    switch PeerArgument(argument: name) {
    case .selector(let selector)?: shell.lanes.last { $0.isMeant(by: selector) }
    case .alias(let alias)?: aliases[alias].flatMap { selector in shell.lanes.last { $0.isMeant(by: selector) } }
    case .current?: shell.current
    case .last?, nil: nil
    }
  }

  /// Returns the known attributes. If none are known, starts a discovery and returns nil.
  private func attributes(of connection: Connection) -> [CompletionModel.Attribute]? {
    guard connection.isOpen else { return nil }
    let texts = descriptions.first { $0.client === connection.client }?.texts
    // Until the names of the device are known, completion uses the assigned ones.
    if texts == nil { learn(connection) }
    return connection.client.table?.services.flatMap { service in
      service.characteristics.map {
        .init(
          service: service.uuid, uuid: $0.uuid, handle: $0.valueHandle, properties: $0.properties, description: texts?[$0.valueHandle])
      }
    }
  }

  /// The commands that only exist on a terminal.
  static let ownCommands = [(name: "history", hint: "The lines of this session and of earlier ones")]

  private func shape(_ name: String) -> CommandShape? {
    if let known = shapes[name] { return known }
    guard let shape = process.commands.type(named: name).map({ CommandShape(of: $0) }) else { return nil }
    shapes[name] = shape
    return shape
  }

  /// Discovers the attributes of the device. Then completes the typed text, unless it has changed.
  private func learn(_ connection: Connection) {
    guard learning == nil else { return }
    // Let virtual time continue although blectl waits for a key.
    EventLoop.shared.horizon = nil
    learning = EventLoop.shared.spawn { [weak self, editor] in
      await self?.ask(connection)
      self?.learning = nil
      if editor.isActive { EventLoop.shared.horizon = EventLoop.shared.now }
      editor.completeAgain()
    }
  }

  private func ask(_ connection: Connection) async {
    let client = connection.client
    guard let table = try? await client.discover() else { return }
    var texts: [AttributeHandle: String] = [:]
    for item in table.characteristics {
      guard let descriptor = item.descriptors.first(where: { $0.uuid == UUID(0x2901) }), !Task.isCancelled else { continue }
      guard let value = try? await client.read(descriptor.handle) else { continue }
      texts[item.valueHandle] = String(validating: DisplayText.withoutTrailingNULs(value), as: UTF8.self)
    }
    descriptions.removeAll { $0.client === client || $0.client.closed != nil }
    // The command that needs the file reports its errors.
    let device = try? await DeviceLibrary.device(for: connection, process.configuration, try? process.adapter())
    descriptions.append((client, texts, device))
  }
}
