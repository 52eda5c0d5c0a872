import Text

/// Words of other programs (bluetoothctl, gatttool, bleak, nRF Connect, LightBlue), with blectl's words for the same purpose.
enum FamiliarWords {
  static let commands = [
    "devices": "scan", "list": "scan", "lescan": "scan", "find": "scan", "search": "scan", "discover": "services", "primary": "services",
    "characteristics": "services", "char-desc": "services", "chars": "services", "info": "services", "list-attributes": "services",
    "attributes": "services", "gatt": "services", "explore": "services", "inspect": "services", "char-write-req": "write",
    "char-write-cmd": "write", "set-value": "write", "send": "write", "char-read-hnd": "read", "char-read-uuid": "read", "get": "read",
    "cat": "read", "select-attribute": "read", "upload": "send-file", "push": "send-file", "flash": "send-file", "dfu": "send-file",
    "put": "send-file", "listen": "notify", "subscribe": "notify", "monitor": "notify", "watch": "notify", "indicate": "notify",
    "mac": "mac-from-adv", "test": "run", "script": "run", "exec": "run", "shell": "repl", "interactive": "repl", "session": "repl",
    "simulate": "sim", "simulator": "sim", "server": "sim", "ui": "browse", "tui": "browse", "gui": "browse", "show": "adapters",
    "hciconfig": "adapters", "adapter": "adapters", "dump": "decode", "parse": "decode", "btmon": "decode", "check": "doctor",
    "diagnose": "doctor", "status": "doctor", "history": "peers", "version": "--version", "link": "connect",
  ]

  /// Options of other programs, with the option of blectl to suggest if the command has it.
  static let options = [
    "--limit": "--count", "-o": "--log", "--output": "--log", "--filter": "--name", "--time": "--duration", "--seconds": "--duration",
    "--format": "--as", "--type": "--as", "--hci": "--adapter", "--interface": "--adapter", "--sec": "--timeout", "-a": "--adapter",
    "--uuid": "--service", "--services": "--service", "--addr": "--address", "--mac": "--address", "--bdaddr": "--address",
    "--with-response": "--mode request", "--response": "--mode request", "--no-response": "--mode command",
    "--without-response": "--mode command", "--write-without-response": "--mode command", "--conn-interval": "--interval",
    "--connection-interval": "--interval", "--retry": "--retries", "--verify-with": "--verify", "--block-size": "--chunk",
    "--segment-size": "--chunk", "--delay": "--gap", "--pause": "--gap", "--hex": "--as hex", "--utf8": "--as utf8", "--text": "--as utf8",
    "--ascii": "--as utf8", "--string": "--as utf8", "--wait-for": "--expect", "--until": "--expect", "--debug": "--verbose",
    "--log-level": "--verbose",
    "--pcap": "--trace", "--capture": "--trace", "--btsnoop": "--trace", "--simulator": "--adapter sim", "--sim": "--adapter sim",
    "--rssi": "--min-rssi", "--listen": "--duration", "--xml": "--junit", "--filter-name": "--name",
  ]

  /// Words without a counterpart in blectl, with advice for the user.
  static let advice = [
    "--active": "A scan is active unless you add --passive.", "-b": "Write the device without an option, as the first argument.",
    "--peer": "Write the device without an option.", "--device-address": "Write the device without an option, as the first argument.",
    "--handle": "Write the handle without an option: 0x0011.", "--char": "Write the characteristic without an option.",
    "--characteristic": "Write the characteristic without an option.", "--value": "Write the value without an option, after the attribute.",
    "--latency": "blectl cannot change the latency.",
    "blectl": "In a session, type commands without blectl.",
    "man": "For the manual: man blectl. For the help of a command: blectl COMMAND --help",
    "replay": "A recording is an adapter: blectl -i replay:FILE scan", "record": "To record: blectl --trace FILE COMMAND",
  ]

  /// Returns the advice on a command without a counterpart. The user's next word replaces the placeholder COMMAND or FILE.
  static func advice(on name: String, _ next: String?) -> String? {
    guard let advice = advice[name], let next else { return advice[name] }
    let word = DisplayText.clip(ShellWords.quoteForShell(next), to: 60)
    return name == "man" ? advice.replacing("COMMAND", with: word) : advice.replacing("FILE", with: word)
  }

  /// Prefixes of a device in other programs, with blectl's prefix for the same purpose.
  static let prefixes = [
    "addr:": "", "address:": "", "bdaddr:": "", "device:": "", "uuid:": "service:", "svc:": "service:", "srv:": "service:", "alias:": "@",
    "name=": "name:", "mac=": "mac:", "service=": "service:", "address=": "", "alias=": "@",
  ]
}
