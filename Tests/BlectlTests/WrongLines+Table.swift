import Foundation

/// Lines as people type them in a shell, next to what their message says and the line to which it leads.
enum WrongLines {
  struct Row: Sendable, CustomStringConvertible {
    let wrong: String
    /// The text in the message.
    let mention: String
    /// The line that the message leads to. It succeeds.
    let right: String
    var description: String { wrong }

    init(_ wrong: String, _ mention: String, _ right: String = "") {
      (self.wrong, self.mention) = (wrong, mention)
      self.right = right.isEmpty ? mention.range(of: "blectl ").map { String(mention[$0.lowerBound...]) } ?? mention : right
    }
  }

  /// Names with padding, and names that people cannot type. The devices are in `names.json`.
  static let names: [Row] = [
    Row("read B35T fff4", "Did you mean B35T+?", "blectl read B35T+ fff4"),
    Row("read B35 fff4", "Did you mean B35T+?", "blectl read B35T+ fff4"),
    Row("read b35t fff4", "Did you mean B35T+?", "blectl read b35t+ fff4"),
    Row("connect Lampp", "Did you mean Lamp?", "blectl connect Lamp"),
    Row("connect Lam", "Try 'name:*Lam*'.", "blectl connect 'name:*Lam*'"),
    Row("connect amp", "Try 'name:*amp*'.", "blectl connect 'name:*amp*'"),
    Row("connect Thermometer", "Did you mean 'Thermometer Kitchen'?", "blectl connect 'Thermometer Kitchen'"),
    Row("connect Kitchen", "Did you mean 'Thermometer Kitchen'?", "blectl connect 'Thermometer Kitchen'"),
    Row("connect '=HYPERLINK'", "Did you mean 'name:=HYPERLINK(\"a\"),?x'?", "blectl connect 'name:=HYPERLINK(\"a\"),?x'"),
    Row("connect HYPERLINK", "Did you mean 'name:=HYPERLINK(\"a\"),?x'?", "blectl connect 'name:=HYPERLINK(\"a\"),?x'"),
    Row("connect Flur", "Did you mean 'Lampe 💡 Flur'?", "blectl connect 'Lampe 💡 Flur'"),
    Row("connect 'Lampe 💡 Flurr'", "Did you mean 'Lampe 💡 Flur'?", "blectl connect 'Lampe 💡 Flur'"),
    Row("connect '(B)'", "Did you mean '?A?(B)'?", "blectl connect '?A?(B)'"),
    Row("connect 'Box[1]'", "Did you mean 'Box\\[1]\\*'?", "blectl connect 'Box\\[1]\\*'"),
    Row("connect Box", "Did you mean 'Box\\[1]\\*'?", "blectl connect 'Box\\[1]\\*'"),
    Row("connect 2a1", "Did you mean name:2a19?", "blectl connect name:2a19"),
    Row("connect :x", "Did you mean name:a:x?", "blectl connect name:a:x"),
    Row("connect Lampe 💡 Flur", "blectl connect 'Lampe 💡 Flur'"),
    Row("connect Thermometer Kitchen", "blectl connect 'Thermometer Kitchen'"),
    Row("services Thermometer Kitchen -q", "blectl services 'Thermometer Kitchen' -q"),
    Row("Thermometer Kitchen", "blectl connect 'Thermometer Kitchen'"), Row("scan -d 1 Living Room", "blectl scan 'Living Room'"),
    Row("-e 'read fff4' B35T+ x", "blectl -e 'read fff4' 'B35T+ x'", "blectl -e 'read fff4' B35T+"),
    Row("connect Nobody", "To see all devices: blectl scan"),
  ]

  /// Words without the quotes that they need, and words at the wrong place.
  static let accidents: [Row] = [
    Row("-e read battery_level Band-7", "blectl -e 'read battery_level' Band-7"),
    Row("-e read Band-7 battery_level", "blectl -e 'read battery_level' Band-7"),
    Row("-e read 2a19 2a00 Band-7", "blectl -e 'read 2a19 2a00' Band-7"),
    Row("-e read 2a19", "blectl -e 'read 2a19' PEER", "blectl -e 'read 2a19' Band-7"),
    Row("-e write ff02 1b9901 Band-7", "blectl -e 'write ff02 1b9901' Band-7"),
    Row("-e notify 2a37 -n 1 Band-7", "-e", "blectl -e 'notify 2a37 -n 1' Band-7"),
    Row("-e 'read 2a19 && read 2a00' Band-7", "Separate commands with ;: read 2a19; read 2a00", "blectl -e 'read 2a19; read 2a00' Band-7"),
    Row("-e 'read 2a19 | jq' Band-7", "blectl -e 'read 2a19' PEER | jq", "blectl -e 'read 2a19' Band-7 | cat"),
    Row("-e 'scan -d 1 | grep x' Band-7", "blectl -e 'scan -d 1' PEER | grep x", "blectl -e 'scan -d 1' Band-7 | cat"),
    Row("-e 'read 2a19 > value.txt' Band-7", "blectl -e 'read 2a19' PEER > value.txt", "blectl -e 'read 2a19' Band-7 > value.txt"),
    Row("-e 'read 2a19 >> value.txt' Band-7", "PEER >> value.txt", "blectl -e 'read 2a19' Band-7 >> value.txt"),
    Row("-e 'read 2a19 || read 2a00' Band-7", "PEER || read 2a00", "blectl -e 'read 2a19' Band-7 || true"),
    Row("-e 'rssi &' Band-7", "A session has no \"&\".", "blectl -e rssi Band-7"),
    Row("repl Band-7 < and.txt", "Separate commands with ;: read 2a19; read 2a00", "blectl -e 'read 2a19; read 2a00' Band-7"),
    Row("connect Band-7 read battery_level", "blectl -e 'read battery_level' Band-7"),
    Row("connect Band-7 services", "blectl -e services Band-7"),
    Row("repl Band-7 read 2a19", "blectl -e 'read 2a19' Band-7"), Row("connect Band-7 write ff02 00", "blectl -e 'write ff02 00' Band-7"),
    Row("services Band-7 2a19", "blectl read Band-7 2a19"), Row("connect Band-7 0x0011", "blectl read Band-7 0x0011"),
    Row("connect Band-7 sim:wristband.json", "blectl connect Band-7 -i sim:wristband.json", "blectl connect Band-7 -i sim"),
    Row("scan --format {time} {name} -d 1", "--format '{time} {name}'", "blectl scan --format '{time} {name}' -d 1"),
    Row(
      "notify Band-7 2a37 -n 1 --format {time} {value}", "--format '{time} {value}'",
      "blectl notify Band-7 2a37 -n 1 --format '{time} {value}'"),
    Row("read Band-7 2a19 --format {time} {value} {uuid}", "'{time} {value} {uuid}'", "blectl read Band-7 2a19 --format '{value} {uuid}'"),
    Row("Band-7", "blectl connect Band-7"), Row("C0:FF:EE:00:00:07", "blectl connect C0:FF:EE:00:00:07"),
    Row("name:Band-7", "blectl connect name:Band-7"),
    Row("Band-7 2a19", "blectl read Band-7 2a19"), Row("Band-7 battery_level", "blectl read Band-7 battery_level"),
    Row("Band-7 read 2a19", "blectl read Band-7 2a19"),
    Row("read Band-7 '!!battery!!'", "Unknown attribute \"!!battery!!\"", "blectl read Band-7 battery"),
    Row("read Band-7 'battery_level!'", "Did you mean battery_level?", "blectl read Band-7 battery_level"),
    Row("read Band-7 '\"battery_level\"'", "Unknown attribute", "blectl read Band-7 battery_level"),
    Row("read Band-7 '(2a19)'", "Unknown attribute \"(2a19)\"", "blectl read Band-7 2a19"),
    Row("read Band-7 'battery_level;'", "Did you mean battery_level?", "blectl read Band-7 'Battery Level'"),
    Row("read Band-7 '180f/battery_level.'", "Unknown attribute", "blectl read Band-7 180f/battery_level"),
    Row("read battery_level Band-7", "Put the device first: blectl read Band-7 battery_level"),
    Row("pair SafeLock 246810", "Unexpected argument \"246810\".", "blectl pair SafeLock --passkey 246810"),
  ]

  /// Words of adapters, shells, sessions and scripts at the place of the others.
  static let places: [Row] = [
    Row("scan -d 1 -i replay:devices.json", "-i sim:devices.json", "blectl scan -d 1 -i sim:devices.json"),
    Row("scan -d 1 -i sim:trace.btsnoop", "-i replay:trace.btsnoop", "blectl scan -d 1 -i replay:trace.btsnoop"),
    Row("sim trace.btsnoop --listen unix:s", "-i replay:trace.btsnoop", "blectl scan -d 1 -i replay:trace.btsnoop"),
    Row("decode devices.json", "-i sim:devices.json", "blectl scan -d 1 -i sim:devices.json"),
    Row("scan -d 1 --adapter replay trace.btsnoop", "Did you mean replay:trace.btsnoop?", "blectl scan -d 1 -i replay:trace.btsnoop"),
    Row("-i replay scan -d 1", "Did you mean replay:FILE?", "blectl scan -d 1 -i replay:trace.btsnoop"),
    Row("scan -d 1 -i replay", "Did you mean replay:FILE?", "blectl scan -d 1 -i replay:trace.btsnoop"),
    Row("scan -d 1 -i trace.btsnoop", "Did you mean replay:trace.btsnoop?", "blectl scan -d 1 -i replay:trace.btsnoop"),
    Row("scan -d 1 -i devices.json", "Did you mean sim:devices.json?", "blectl scan -d 1 -i sim:devices.json"),
    Row("scan -d 1 -i simulator", "Did you mean sim?", "blectl scan -d 1 -i sim"),
    Row("scan -d 1 --adapter sim devices.json", "blectl scan -i sim:devices.json"),
    Row("scan -d 1 -i /run/sim", "Did you mean unix:/run/sim?", "blectl scan -d 1"),
    Row("scan -d 1 -i localhost:9000", "Did you mean tcp:localhost:9000?", "blectl scan -d 1"),
    Row("scan -d 1 -i /dev/ttyACM0", "Did you mean serial:/dev/ttyACM0?", "blectl scan -d 1"),
    Row("scan -d 1 -i 1", "Did you mean hci1?", "blectl scan -d 1"),
    Row("scan -d 1 hci0", "blectl scan -i hci0", "blectl scan -d 1"), Row("scan -d 1 sim", "blectl scan -i sim"),
    Row("scan user:0", "blectl scan -i user:0", "blectl scan -d 1"),
    Row("scan -d 1 trace.btsnoop", "blectl scan -i replay:trace.btsnoop"),
    Row("connect hci0", "For an adapter, use -i hci0.", "blectl connect Band-7"),
    Row("connect sim", "For an adapter, use -i sim.", "blectl connect -i sim Band-7"),
    Row("sim:devices.json scan -d 1", "blectl -i sim:devices.json scan -d 1"),
    Row("connect door", "For the alias of this name, use @door.", "blectl connect @door"),
    Row("read door 2a19", "use @door.", "blectl read @door 2a19"), Row("scan -d 1 door", "blectl scan @door"),
    Row("--no-color scan -d 1", "Did you mean --color never?", "blectl --color never scan -d 1"),
    Row("scan -d 1 --no-color", "Did you mean --color never?", "blectl scan -d 1 --color never"),
    Row("scan -d 1 --no-colour", "Did you mean --color never?", "blectl scan -d 1 --color never"),
    Row("scan -d 1 --colour never", "Did you mean --color?", "blectl scan -d 1 --color never"),
    Row("mac-from-adv 0201060BFF0503010122110038C1A4", "blectl mac-from-adv --hex 0201060BFF0503010122110038C1A4"),
    Row("sim --listen /run/sim", "Did you mean unix:/run/sim?", "blectl scan -d 1"),
    Row("sim --listen 9000", "Did you mean tcp:localhost:9000?", "blectl scan -d 1"),
    Row("sim --listen :9000", "Did you mean tcp:localhost:9000?", "blectl scan -d 1"),
    Row("sim --listen nothing", "Use tcp:HOST:PORT", "blectl scan -d 1"),
    // Words of sessions in the shell.
    Row("rssi Band-7", "blectl -e rssi Band-7"), Row("rssi", "blectl -e rssi PEER", "blectl -e rssi Band-7"),
    Row("sleep 2", "blectl -e 'sleep 2'"),
    Row("wait ff01 Band-7", "blectl -e 'wait ff01' Band-7", "blectl -e 'write ff02 1b9901; wait ff01' Band-7"),
    Row("mtu Band-7", "blectl -e mtu Band-7"),
    Row("params Band-7", "blectl -e params Band-7"),
    Row("subscribe Band-7 2a37", "Use: blectl notify Band-7 2a37", "blectl notify Band-7 2a37 -n 1"),
    Row("use Band-7", "blectl read PEER ATTRIBUTE", "blectl read Band-7 2a19"), Row("set timeout 5", "blectl config"),
    Row("exit", "blectl repl"), Row("quit", "blectl repl"),
    Row("disconnect Band-7", "bluetoothctl disconnect ADDRESS", "blectl connect Band-7"),
    Row("source lines.txt", "blectl -e 'source lines.txt'"),
    Row("ls", "Did you mean scan?", "blectl scan -d 1"), Row("list", "Did you mean scan?", "blectl scan -d 1"),
    Row("devices", "Did you mean scan?", "blectl scan -d 1"),
    Row("replay trace.btsnoop", "blectl -i replay:trace.btsnoop scan"), Row("man scan", "blectl scan --help"),
    Row("power on", "blectl doctor", "blectl scan -d 1"),
    Row("get Band-7 2a19", "Did you mean read?", "blectl read Band-7 2a19"),
    Row("raed Band-7 2a19", "Did you mean read?", "blectl read Band-7 2a19"),
    // Words of the shell in sessions.
    Row("-e ls Band-7", "put ! before it: !ls", "ls"), Row("-e 'cd /' Band-7", "put ! before it: !cd", "cd /"),
    Row("-e 'grep x' Band-7", "put ! before it: !grep", "true"),
    Row("-e 'echo x' Band-7", "put ! before it: !echo", "echo '!echo x' | blectl repl"),
    Row("-e clear Band-7", "put ! before it: !clear", "true"),
    Row("-e 'sudo x' Band-7", "!sudo", "true"),
    Row("-e 'blectl read 2a19' Band-7", "type commands without blectl", "blectl -e 'read 2a19' Band-7"),
    Row("-e 'explore' Band-7", "Did you mean services? List the commands: help", "blectl -e services Band-7"),
    Row("-e helpp Band-7", "Did you mean help?", "blectl -e help Band-7"),
    Row("-e 'xyzzy' Band-7", "List the commands: help", "echo help | blectl repl"),
    // Words of other languages in scripts.
    Row(
      "run comment.blectl", "A comment starts with #. See blectl-script(5).", "printf 'test a\\nnote x # a comment\\nend\\n' | blectl run -"
    ),
    Row("run if.blectl", "Scripts have no conditions.", "printf 'device Band-7\\nread 2a19\\nexpect == 3c\\n' | blectl run -"),
    Row("run for.blectl", "write: repeat 3 … end.", "printf 'device Band-7\\nrepeat 3\\nread 2a19\\nend\\n' | blectl run -"),
    Row("run while.blectl", "write: repeat 3 … end.", "printf 'device Band-7\\nretry 3\\nread 2a19\\nend\\n' | blectl run -"),
    Row("run assert.blectl", "write: expect == 3c.", "printf 'device Band-7\\nread 2a19\\nexpect == 3c\\n' | blectl run -"),
    Row("run print.blectl", "write: note \"text\".", "printf 'test a\\nnote \"text\"\\nend\\n' | blectl run -"),
    Row("run delay.blectl", "write: sleep 500ms.", "printf 'sleep 500ms\\n' | blectl run -"),
    Row(
      "run import.blectl", "write: include login.txt.",
      "printf 'note x\\n' > login.txt; printf 'test a\\ninclude login.txt\\nend\\n' > i.blectl; blectl run i.blectl"),
    Row("run var.blectl", "write: set CODE 1b9901.", "printf 'set CODE 1b9901\\ntest a\\nnote $CODE\\nend\\n' | blectl run -"),
    Row("run describe.blectl", "test \"opens\" … end.", "printf 'test \"opens\"\\nnote x\\nend\\n' | blectl run -"),
    Row("run brace.blectl", "A block ends with the word end.", "printf 'test a\\nnote x\\nend\\n' | blectl run -"),
    Row("run ls.blectl", "is a command of the shell", "true"), Row("run xyzzy.blectl", "See blectl-script(5).", "true"),
    Row("run help.blectl", "help does not work in scripts.", "blectl read --help"),
  ]

  /// Wrong values and missing words, whose messages name the form.
  static let forms: [Row] = [
    Row("scan -n x", "-n needs a whole number, not \"x\".", "blectl scan -n 1"),
    Row("read Band-7 2a19 --as int", "Unknown format \"int\". Formats: hex, utf8, u8, i16le, f32be, …", "blectl read Band-7 2a19 --as u8"),
    Row("read Band-7 2a19 --as hexx", "Unknown format \"hexx\". Did you mean hex?", "blectl read Band-7 2a19 --as hex"),
    Row("read", "Name the device: an address, a name, name:GLOB", "blectl read Band-7 2a19"),
    Row("read Band-7", "Missing ATTRIBUTE. Name one, such as battery_level, or use --all.", "blectl read Band-7 2a19"),
    Row("connect ''", "A device is an address, a name,", "blectl connect Band-7"),
    Row("run --set A if.blectl", "--set needs NAME=VALUE, not \"A\".", "printf 'test a\\nnote $A\\nend\\n' | blectl run --set A=b -"),
    Row("pair SafeLock --confirm maybe", "--confirm takes yes or no, not \"maybe\".", "blectl pair SafeLock --passkey 246810"),
    Row(
      "pair SafeLock --io x", "--io takes none, display, yesno, keyboard or keyboard-display, not \"x\".",
      "blectl pair SafeLock --passkey 246810"),
    Row("scan -d x", "-d needs seconds, or a time with its unit (5, 0.5, 500ms, 2s, 1m), not \"x\".", "blectl scan -d 500ms"),
    Row("scan --every x --devices", "--every needs seconds", "blectl scan --devices --every 1s -d 2"),
    Row(
      "read Band-7 2a19 --interval x", "--interval needs milliseconds, or a time with its unit (20, 20ms, 1s), not \"x\".",
      "blectl read Band-7 2a19 --interval 20ms"),
    Row("read Band-7 2a19 --retries x", "--retries needs a whole number from 0 to 100, not \"x\".", "blectl read Band-7 2a19 --retries 2"),
    Row("read Band-7 2a19 --mtu 5", "--mtu takes 23 to 517 bytes, not 5.", "blectl read Band-7 2a19 --mtu 23"),
    Row("scan --phy 3m", "--phy needs 1m, coded or 1m,coded, not \"3m\".", "blectl scan -d 1 --phy 1m,coded"),
    Row("connect Band-7 --phy 9m", "--phy needs 1m, 2m or coded, not \"9m\".", "blectl connect Band-7 --phy 2m"),
    Row("scan --sort x", "--sort needs rssi, name, last or first, not \"x\".", "blectl scan -d 1 --sort name"),
    Row("scan --service x", "--service needs a UUID or a name", "blectl scan -d 1 --service 180d"),
    Row("scan --address x", "--address needs an address, @last or @ALIAS, not \"x\".", "blectl scan -d 1 --address C0:FF:EE:00:00:07"),
    Row("scan --irk x", "--irk needs 32 hex digits", "blectl scan -d 1"),
    Row("scan -i", "-i needs hci0, user:0", "blectl scan -d 1 -i sim"), Row("scan -n", "-n needs a whole number.", "blectl scan -n 1"),
    Row("scan --color", "--color needs auto, always or never.", "blectl scan -d 1 --color never"),
    Row("scan --time x", "--time needs local, utc, relative or none, not \"x\".", "blectl scan -d 1 --time none"),
    Row(
      "write Panel fff6 00 --mode x", "--mode needs auto, request, command, long or reliable, not \"x\".",
      "blectl write Panel fff6 00 --mode command"),
    Row("write Panel fff6 00 --expect", "--expect needs ATTRIBUTE or ATTRIBUTE=HEX.", "blectl write Band-7 ff02 1b9901 --expect ff01"),
    Row(
      "tune Panel fff6", "Missing --verify: notify:ATTR",
      "blectl tune Panel fff6 --verify notify:fff7 --size 1000 --mode command --window auto --gap auto"),
    Row("send-file Panel fff6 f --verify x", "--verify needs read-back or notify:ATTR, not \"x\".", "blectl scan -d 1"),
    Row("adapters x", "Unexpected argument \"x\".", "blectl config"),
    Row("scan -d 1 on", "scan starts automatically. Leave out \"on\": blectl scan"),
    Row("decode 5", "odd number of digits", "blectl decode att 0a1100"),
    Row(
      "decode value battery 3c", "\"battery\" is a service, which has no value. Use one of: battery_",
      "blectl decode value battery_level 3c"),
    Row("decode att 5", "odd number of digits", "blectl decode att 0a1100"),
    Row(
      "run tags.blectl --only batery", "matches --only. Did you mean battery? List them: --list", "blectl run tags.blectl --only battery"),
    Row("run tags.blectl --tag slow", "matches --tag. List them: --list", "blectl run tags.blectl --list"),
  ]
}
