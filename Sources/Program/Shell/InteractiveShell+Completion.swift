import BluetoothLEDeviceFiles
import BluetoothLELinux
import CommandLine

/// The completion of a session's lines with Tab: the attributes of connected devices, found devices, aliases and commands.
extension InteractiveShell {
  func complete(_ line: String) -> LineEditor.Completion? {
    let home = process.configuration.variable("HOME")
    var completer = Completer(model: model(), shape: shape, files: { FolderNames.list($0, home: home) })
    completer.attributesOf = { [self] name in device(named: name)?.connection.flatMap(attributes) }
    return completer.complete(line)
  }

  private func model() -> CompletionModel {
    var model = CompletionModel()
    model.commands = process.commands.all.map { $0.completion } + Self.ownCommands
    model.devices = seen.devices.map { .init(address: "\($0.peer)", name: $0.name, hint: $0.rssi.map { "\($0) dBm" } ?? "") }
    for device in shell.devices {
      guard let connection = device.connection else { continue }
      if let index = model.devices.firstIndex(where: { $0.address == "\(connection.identityAddress)" }) {
        model.devices[index].isLink = true
      } else {
        model.devices.append(.init(address: "\(connection.identityAddress)", name: connection.name, isLink: true))
      }
    }
    model.aliases = Array(aliases.keys)
    model.linkAliases = Set(aliases.filter { alias in shell.devices.contains { $0.isMeant(by: alias.value) } }.keys)
    guard let connection = shell.current?.connection, connection.isOpen else { return model }
    model.isConnected = true
    model.attributes = attributes(of: connection)
    let device = shell.current?.description ?? descriptions.first { $0.client === connection.client }?.device
    model.deviceCommands = device?.commands.map(CompletionModel.DeviceCommand.init) ?? []
    return model
  }

  private func device(named name: String) -> SessionDevice? {
    switch PeerArgument(argument: name) {
    case .selector(let selector)?: shell.devices.last { $0.isMeant(by: selector) }
    case .alias(let alias)?: aliases[alias].flatMap { selector in shell.devices.last { $0.isMeant(by: selector) } }
    case .current?: shell.current
    case .last?, nil: nil
    }
  }

  /// Returns the known attributes of a device. Nil if blectl knows none. Starts to read the user descriptions if they are unknown.
  private func attributes(of connection: Connection) -> [CompletionModel.Attribute]? {
    guard connection.isOpen else { return nil }
    let texts = descriptions.first { $0.client === connection.client }?.texts
    // Until the names of the device are known, completion uses the assigned ones.
    if texts == nil { learn(connection) }
    return connection.client.table?.services.flatMap { service in
      service.characteristics.map {
        .init(service: service.uuid, uuid: $0.uuid, handle: $0.valueHandle, properties: $0.properties, description: texts?[$0.valueHandle])
      }
    }
  }

  /// The names and hints of the commands that only an interactive session has.
  static let ownCommands = [(name: "history", hint: "The lines of this session and of earlier ones")]

  private func shape(_ name: String) -> CommandShape? {
    if let known = shapes[name] { return known }
    guard let shape = process.commands.type(named: name).map({ CommandShape(of: $0) }) else { return nil }
    shapes[name] = shape
    return shape
  }

  /// Starts a task that discovers the attributes of a device. The task then completes the typed text, unless the user has changed the text.
  private func learn(_ connection: Connection) {
    guard learning == nil else { return }
    // Let virtual time continue although blectl waits for a key.
    EventLoop.shared.virtualTime.horizon = nil
    learning = EventLoop.shared.spawn { [weak self, editor] in
      await self?.ask(connection)
      self?.learning = nil
      if editor.isActive { EventLoop.shared.virtualTime.horizon = EventLoop.shared.now }
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
