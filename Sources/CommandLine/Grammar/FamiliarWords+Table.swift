import BluetoothLEText

/// Words of other programs (bluetoothctl, gatttool, bleak, nRF Connect, LightBlue), with blectl's words for the same purpose.
enum FamiliarWords {
  static let commands = [
    "devices": "scan", "ls": "scan", "list": "scan", "lescan": "scan", "find": "scan", "search": "scan", "discover": "services",
    "primary": "services",
    "characteristics": "services", "char-desc": "services", "chars": "services", "info": "services", "list-attributes": "services",
    "attributes": "services", "gatt": "services", "explore": "services", "inspect": "services", "char-write-req": "write",
    "char-write-cmd": "write", "set-value": "write", "write-request": "write", "write-command": "write", "write_gatt_char": "write",
    "char-read-hnd": "read", "char-read-uuid": "read", "get": "read", "read_gatt_char": "read", "start_notify": "notify",
    "hcitool": "scan", "bluetoothctl": "repl",
    "cat": "read", "select-attribute": "read", "upload": "send-file", "push": "send-file", "flash": "update", "dfu": "update",
    "mcumgr": "firmware",
    "put": "send-file", "listen": "notify", "subscribe": "notify", "monitor": "notify", "watch": "notify", "indicate": "notify",
    "mac": "mac-from-adv", "test": "run", "script": "run", "exec": "run", "shell": "repl", "interactive": "repl", "session": "repl",
    "leadv": "advertise", "add-adv": "advertise", "broadcast": "advertise", "beacon": "advertise", "ibeacon": "advertise",
    "simulate": "sim", "simulator": "sim", "server": "sim", "ui": "browse", "tui": "browse", "gui": "browse", "show": "adapters",
    "hciconfig": "adapters", "adapter": "adapters", "dump": "decode", "parse": "decode", "btmon": "decode", "check": "doctor",
    "diagnose": "doctor", "status": "doctor", "history": "peers", "version": "--version", "link": "connect",
  ]

  /// Options of other programs, with the option of blectl to suggest if the command has it.
  static let options = [
    "--limit": "--count", "-o": "--output", "--filter": "--name", "--time": "--duration", "--seconds": "--duration",
    "--format": "--as", "--type": "--as", "--hci": "--adapter", "--interface": "--adapter", "--sec": "--timeout",
    "--uuid": "--service", "-u": "--service", "--uuids": "--service", "--company": "--manufacturer", "--vendor": "--manufacturer",
    "--continue": "--resume", "--chunk-size": "--chunk", "--list": "--devices", "--test": "--only", "--services": "--service",
    "--pin": "--passkey", "--passcode": "--passkey", "--code": "--passkey", "--addr": "--address", "--mac": "--address",
    "--bdaddr": "--address",
    "--with-response": "--mode request", "--response": "--mode request", "--no-response": "--mode command",
    "--without-response": "--mode command", "--write-without-response": "--mode command", "--conn-interval": "--interval",
    "--connection-interval": "--interval", "--retry": "--retries", "--verify-with": "--verify", "--block-size": "--chunk",
    "--segment-size": "--chunk", "--delay": "--gap", "--pause": "--gap", "--hex": "--as hex", "--utf8": "--as utf8", "--text": "--as utf8",
    "--ascii": "--as utf8", "--string": "--as utf8", "--wait-for": "--expect", "--until": "--expect", "--debug": "--verbose",
    "--log-level": "--verbose",
    "--pcap": "--trace", "--capture": "--trace", "--btsnoop": "--trace", "--simulator": "--adapter sim", "--sim": "--adapter sim",
    "--no-color": "--color never", "--no-colour": "--color never", "--colour": "--color", "--colors": "--color",
    "--nocolor": "--color never",
    "--rssi": "--min-rssi", "--listen": "--duration", "--xml": "--junit", "--filter-name": "--name", "--watch": "--every",
    "--loop": "--every",
  ]

  /// The forms of values by the placeholder of their options.
  static let forms = [
    "seconds": "seconds, or a time with its unit (5, 0.5, 500ms, 2s, 1m)", "s": "seconds, or a time with its unit (5, 0.5, 500ms, 2s, 1m)",
    "ms": "milliseconds, or a time with its unit (20, 20ms, 1s)", "format": "hex, utf8, u8, i16le, f32be, …", "name=value": "NAME=VALUE",
    "uuid": "a UUID or a name, as in 180d or heart_rate", "file": "the name of a file", "peer": PeerOptions.sentence, "glob": "a pattern",
    "[address=]hex": "32 hex digits, perhaps after ADDRESS=", "attr[=hex]": "ATTRIBUTE or ATTRIBUTE=HEX", "attr=hex": "ATTRIBUTE=HEX",
    "id[:hex]": "a company, perhaps with the first bytes of its data, as in 0305:01", "tag": "a tag", "ad": "hex",
    "template": "a value",
    "uuid/major/minor[/power]": "UUID/MAJOR/MINOR, perhaps with /POWER in dBm",
    "rule": "a rule, as in mfg:0x0305@-6:le",
  ]

  /// Extensions of files, with the prefix that makes the file an adapter.
  static let adapters = [
    "json": "sim:", "btsnoop": "replay:", "pcap": "replay:", "pcapng": "replay:", "pklg": "replay:", "log": "replay:", "cfa": "replay:",
  ]

  /// Commands of the shell, which a session has after `!`.
  static let ofShell: Set = [
    "ls", "cd", "cat", "echo", "grep", "pwd", "clear", "sudo", "jq", "head", "tail", "vi", "vim", "nano", "export", "env", "bash", "sh",
    "date",
    "awk", "sed", "xxd", "hexdump", "tee", "kill", "which", "mkdir", "rm", "cp", "mv", "python", "python3", "make",
  ]

  /// Options by which other programs take the device.
  static let ofDevice = ["-b", "--device", "--peer", "--address", "--addr", "--mac", "--bdaddr", "--device-address"]

  /// Options by which other programs take commands.
  static let ofExecute: Set = ["-c", "-x", "--exec", "--execute", "--eval", "--command"]

  /// Options that show that a command line is one of gatttool.
  static let ofGatttool = [
    "--char-read", "--char-write", "--char-write-req", "--char-desc", "--primary", "--characteristics", "--interactive", "-I",
  ]

  /// Words without a counterpart in blectl, with advice for the user. A key of two words is a command with an option or its next word.
  static let advice = [
    "--active": "A scan is active unless you add --passive.", "-b": device, "--peer": device, "--device-address": device,
    "--handle": attribute, "-a": attribute, "--char": attribute, "--characteristic": attribute, "-u": attribute, "--uuid": attribute,
    "-d": "For a time limit: --timeout. The device needs no option: it is the first argument.",
    "scan -a": "For the adapter: --adapter. For an address: --address", "adapters -a": "It lists all adapters.",
    "--value": "Write the value without an option, after the attribute.", "--latency": "blectl cannot change the latency.",
    "--output": records, "--csv": records, "--format": records, "--time": records, "-o": records,
    "--list": "To list devices: blectl scan. Attributes: blectl services PEER. Adapters: blectl adapters",
    "notify --every": "The device decides when it notifies. To read at fixed times: read PEER ATTRIBUTE --every SECONDS",
    "notify --expect":
      "To wait for a value: blectl -e 'wait ff01=567b' PEER. To write first: write PEER ATTRIBUTE VALUE --expect ff01=567b",
    "call --expect": "The device file describes the answer. Without a file: write PEER ATTRIBUTE VALUE --expect ff01=567b",
    "run --report": "Reports are --junit FILE, --html FILE, --tap and --json.", "run --continue": "Did you mean --keep-going?",
    "config --set": settings, "config --timeout": settings,
    "--sim": "The simulator is an adapter: blectl -i sim scan", "blectl": "In a session, type commands without blectl.",
    "send": "For a file: send-file. For a value: write.",
    "use": "Outside a session, each command names its device: blectl read PEER ATTRIBUTE",
    "set": "Outside a session, each command takes options such as --timeout. For defaults of all commands: blectl config",
    "exit": endsSession, "quit": endsSession,
    "disconnect": "A command disconnects at its end. To end another program's connection: bluetoothctl disconnect ADDRESS",
    "man": "For the manual: man blectl. For the help of a command: blectl COMMAND --help",
    "replay": "A recording is an adapter: blectl -i replay:FILE scan",
    "record": "To record a script: blectl --record FILE COMMAND. To capture packets: blectl --trace FILE COMMAND",
    "power": "blectl does not switch adapters on. Their state, and how to switch one on: blectl doctor",
    "completion": "In ~/.bashrc: source <(blectl --generate-completion-script bash). For zsh or fish: man blectl, COMPLETION",
    "completion zsh": "In ~/.zshrc, after compinit: source <(blectl --generate-completion-script zsh)",
    "completion fish": "In config.fish: blectl --generate-completion-script fish | source",
  ]

  private static let device = "Write the device without an option, as the first argument."
  private static let attribute = "Write the attribute without an option, after the device: 0x0011, 2a19 or battery_level."
  private static let records = "adapters, call, mac-from-adv, notify, peers, read, run and scan take it. For records here, use --json."
  private static let endsSession = "It ends a session. To start one: blectl repl"
  private static let settings = #"Write defaults into config.json: {"defaults": {"timeout": 5}}. Its path: blectl config"#

  /// Returns the advice on a command without a counterpart. The user's next word replaces the placeholder COMMAND or FILE.
  static func advice(on name: String, _ next: String?) -> String? {
    guard let next, let advice = advice["\(name) \(next)"] ?? advice[name] else { return advice[name] }
    let word = DisplayText.clip(ShellWords.quoteForShell(next), to: 60)
    return name == "man" ? advice.replacing("COMMAND", with: word) : advice.replacing("FILE", with: word)
  }

  /// Prefixes of a device in other programs, with blectl's prefix for the same purpose.
  static let prefixes = [
    "addr:": "", "address:": "", "bdaddr:": "", "device:": "", "uuid:": "service:", "svc:": "service:", "srv:": "service:", "alias:": "@",
    "name=": "name:", "mac=": "mac:", "service=": "service:", "address=": "", "alias=": "@",
  ]
}
