import BluetoothLEText

extension AdapterProblem: DescribedError {
  package var kind: BluetoothError.Reason { .adapter }

  package var sentence: String {
    switch self {
    case .kernelWithoutBluetooth: "This kernel has no Bluetooth (AF_BLUETOOTH): it may be that of a container or of WSL."
    case .none(let block):
      block == nil ? "This machine has no Bluetooth adapter." : "No Bluetooth adapter found: an rfkill switch blocks it."
    case .unknown(let name, let others):
      "No adapter \(name)." + (others.isEmpty ? "" : " Found: \(others.joined(separator: ", ")).")
    case .down(let name): "\(name) is down. Run: bluetoothctl power on"
    case .blocked(let name, _): "An rfkill switch blocks \(name). Run: rfkill unblock bluetooth"
    case .withoutLE(let name): "\(name) has no Bluetooth LE."
    case .leDisabled(let name): "Bluetooth LE is off on \(name). Run: sudo btmgmt -i \(name) le on"
    case .notPermitted(let name, _): "\(name) needs CAP_NET_RAW, and its user channel also CAP_NET_ADMIN: see setcap(8)."
    case .taken(let name): "Another program owns the HCI user channel of \(name)."
    case .inUse(let name): "The kernel's Bluetooth stack uses \(name). Run: sudo hciconfig \(name) down"
    case .unplugged(let name): "\(name) was unplugged or reset."
    case .silent(let name, let opcode, let limit): "\(name) did not answer \(opcode) within \(limit.inSeconds) s."
    case .other(let name, _, let errno): "\(name) failed: \(errno)."
    }
  }
}

extension NoConnection: DescribedError {
  package var kind: BluetoothError.Reason {
    switch cause {
    case .takenByAnother, .tooManyLinks: .adapter
    case .endedByPeer, .givenUpHere, .notEstablished: .disconnected
    case .security: .security
    }
  }

  package var sentence: String {
    let reason =
      switch cause {
      case .takenByAnother: "another program uses or makes it. If that is bluetoothd, run: bluetoothctl disconnect \(peer.address)"
      case .tooManyLinks: "\(adapter) has no room for another link. End a connection first."
      case .endedByPeer: "the device ended it immediately."
      case .givenUpHere: "this machine canceled it, perhaps for another program."
      case .notEstablished: "\(status ?? .connectionFailedToBeEstablished). Bring the device closer, or try again."
      case .security: "the device refused for security reasons. If it was paired, remove the bond on both sides, and pair again."
      }
    return "The connection to \(peer) failed: \(reason)"
  }
}

extension SocketEnd: DescribedError {
  package var kind: BluetoothError.Reason { .disconnected }

  package var sentence: String {
    switch cause {
    case .reason(let code): "The link to \(peer) is lost: \(code)."
    case .errno(let errno?): "The link to \(peer) is lost: \(Self.words(endedWith: errno))."
    case .errno(nil): "The link to \(peer) is closed."
    case .adapterGone(let name): "The link to \(peer) is lost: \(name) was switched off or unplugged."
    }
  }
}

extension KernelPairingProblem: DescribedError {
  package var kind: BluetoothError.Reason {
    switch self {
    case .choosesPasskey: .unsupported
    default: .adapter
    }
  }

  package var sentence: String {
    switch self {
    case .bluetoothdRuns(let peer):
      "The bond with \(peer) is of no use while bluetoothd runs, which has keys of its own. Remove it from the key ring, and pair again."
    case .notPermitted(let name): "Keys on \(name) need CAP_NET_ADMIN: see setcap(8)."
    case .noSecurityManager(let name):
      "\(name) cannot encrypt, because hciconfig switched it on. "
        + "Run: sudo btmgmt -i \(name) power off && sudo btmgmt -i \(name) power on"
    case .choosesPasskey(let name): "The kernel chooses the passkey that \(name) shows. Use the user channel to choose it."
    case .otherPairing(let name, _): "Another pairing is running on \(name). Pair again when it has ended."
    case .refused(let name, let command, let status):
      "\(name) refused the management command 0x\(Hex.encode(command)) with status 0x\(Hex.encode(status))."
    case .silent(let name, let command): "\(name) did not answer the management command 0x\(Hex.encode(command))."
    }
  }
}

extension KernelAdvertisingProblem: DescribedError {
  package var kind: BluetoothError.Reason { if case .dataTooLong = self { .invalidArgument } else { .adapter } }

  package var sentence: String {
    switch self {
    case .bluetoothdRuns(let name):
      "bluetoothd runs, and would answer the centrals of \(name). Stop it, or use a controller that the kernel's stack does not use."
    case .servesAlready(let name, _): "Another process serves a device on \(name)."
    case .notPermitted(let name): "Advertising on \(name) needs CAP_NET_ADMIN: see setcap(8)."
    case .dataTooLong(let name, let count, let limit, let lacksFlags):
      "\(count) bytes of advertising data are too many for \(name): the limit is \(limit)\(lacksFlags ? " without Flags" : "")."
    case .alwaysConnectable(let name): "\(name) makes every advertisement connectable. Switch that setting off, or serve a device."
    case .noFreeInstance(let name, let count): "Other programs use all \(count) advertising instances of \(name)."
    case .refused(let name, let command, let status):
      "\(name) refused the management command 0x\(Hex.encode(command)) with status 0x\(Hex.encode(status))."
    case .cannotListen(let name, let errno): "Cannot listen for centrals on \(name): \(errno)."
    }
  }
}

extension BluetoothDaemonProblem: DescribedError {
  package var kind: BluetoothError.Reason {
    switch self {
    case .noLibrary, .silent: .adapter
    case .refused: isForbidden ? .adapter : .pairing
    case .isPaired: .pairing
    }
  }

  package var sentence: String {
    switch self {
    case .noLibrary: "libdbus-1.so.3 cannot be opened, without which bluetoothd cannot pair. Run: sudo apt install libdbus-1-3"
    case .silent: "bluetoothd does not answer, or does not know the device. Run: sudo systemctl restart bluetooth"
    case .refused(let method, _, _) where isForbidden:
      "bluetoothd does not permit \(method) to this user. Run: sudo usermod -aG bluetooth \"$USER\""
    case .refused(let method, let name, let text): "bluetoothd refused \(method): \(DisplayText.escape("\(text) (\(name))"))."
    case .isPaired(let peer): "bluetoothd has a bond with \(peer) that gives less security. Run: bluetoothctl remove \(peer.address)"
    }
  }
}
