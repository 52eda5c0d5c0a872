extension PeripheralFileRefusalTests {
  /// Invalid files, and the required parts of the error: line, path, reason.
  static let refused: [(String, String)] = [
    ("", "x.jsonc:1:1: Expected a value, found the end of the file"),
    ("[]", "The list has no peripherals."),
    ("3", "Expected an object, found a number"),
    ("{", "Expected a key in double quotes, found the end of the file"),
    ("{\n\n'a': 1}", "x.jsonc:3:1: Expected a key in double quotes, found \"'\""),
    ("{\"a\" 1}", "Expected \":\", found \"1\""),
    ("{\"a\": 1 \"b\": 2}", "Expected \",\" or \"}\", found"),
    ("[1 2]", "Expected \",\" or \"]\", found \"2\""),
    ("{} x", "Expected the end of the file, found \"x\""),
    ("{}\u{0}", "Expected the end of the file, found byte 0x0"),
    ("{\"a\": bad}", "Invalid value \"bad\": strings need double quotes"),
    ("{\"a\": \"b\n\"}", "Unterminated string at the end of the line"),
    ("{\"a\": \"\\x\"}", "Unknown escape"),
    ("{\"a\": \"\\ud800\"}", "surrogate"),
    ("{\"a\": \"\\u12\"}", "four hex digits"),
    ("/* \n\n", "x.jsonc:1:1: Unterminated comment"),
    ("/", "Expected a value, found \"/\""),
    ("{\"name\": \"A\", \"name\": \"B\"}", "Duplicate key \"name\""),
    (String(repeating: "[", count: 100_000), "More than 32 nested levels"),
    (String(repeating: "{\"a\":", count: 100_000), "More than 32 nested levels"),
    ("{\"address\": \"D1:00:00:00:00:09/random\"}", "Missing key \"name\"."),
    ("{\"name\": \"N\"}", "Missing key \"address\"."),
    ("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09\"}", "address: Invalid address \"D1:00:00:00:00:09\". Include its type:"),
    ("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/static\"}", "Invalid address \"D1:00:00:00:00:09/static\". Include its type:"),
    (
      "[{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\"},\n{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\"}]",
      "x.jsonc:2:1: [1]: An earlier peripheral has the same address"
    ),
  ]

  /// Invalid entries inside a peripheral, and the required parts of the error.
  static let refusedInside: [(String, String)] = [
    (#""colour": "red""#, "colour: Unknown key. Use name, address"),
    (#""colour\u001b[31m": "red""#, #"colour\x1b[31m: Unknown key"#),
    (#""rssi": "-60""#, "rssi: Expected a number, found a string"),
    (#""rssi": 21"#, "rssi: 21 is not in -127…20"),
    (#""rssi": 1e1"#, "\"1e1\" is not a whole number"),
    (#""rssi": 99999999999999999999"#, "is not a whole number, or is too large"),
    (#""rssi": ٣"#, "Expected a value"),
    (#""mtu": 22"#, "mtu: 22 is not in 23…517"),
    (#""mtu": 518"#, "mtu: 518"),
    (#""data_length": 252"#, "data_length: 252"),
    (#""interval_ms": 19"#, "interval_ms: 19"),
    (#""phys": ["2m"]"#, "phys: Add 1m"),
    (#""phys": ["1m", "4m"]"#, "phys[1]: Unknown PHY. Use 1m"),
    (#""link": {"packet_error_rate": 1.5}"#, "link.packet_error_rate: 1.5 is not in 0.0…1.0"),
    (#""link": {"packet_error_rate": 1e999}"#, "link.packet_error_rate: \"1e999\" is not a number, or is too large"),
    (#""link": {"guard_us": -1}"#, "link.guard_us: -1 is not in 0…1000000"),
    (#""link": {"polling_us": 4000001}"#, "link.polling_us: 4000001"),
    (#""link": {"inter_frame_space_us": 10001}"#, "link.inter_frame_space_us: 10001"),
    (#""link": {"speed": 1}"#, "link.speed: Unknown key. Use packet_error_rate"),
    (#""link": {"coded": "s4"}"#, "link.coded: Use s2 or s8."),
    (#""link": {"encrypted": 1}"#, "link.encrypted: Expected true or false, found a number"),
    (#""security": {"io": "screen"}"#, "security.io: Unknown capability. Use none, display, yesno, keyboard, keyboard-display."),
    (#""security": {"passkey": "12345"}"#, "security.passkey: Use six digits, such as \"012345\"."),
    (#""security": {"passkey": "012345", "io": "none"}"#, "security.passkey: No effect with this \"io\"."),
    (#""security": {"refuses": "always"}"#, "security.refuses: Unknown reason. Use passkey_entry_failed, "),
    (#""security": {"refuses": "repeated_attempts", "sc": false}"#, "security.sc: No effect with \"refuses\"."),
    (#""security": {"key_size": 17}"#, "security.key_size: "),
    (#""link": {"cuts": 1}"#, "link.cuts: No effect without \"cut_after_octets\"."),
    (#""link": {"cut_after_octets": 0}"#, "link.cut_after_octets: 0"),
    (#""link": {"controller_buffers": 0}"#, "link.controller_buffers: 0"),
    (#""link": {"controller_buffer_length": 26}"#, "link.controller_buffer_length: 26"),
    (#""link": {"changes": [{"data_length": 27}]}"#, "link.changes[0]: Use either \"after_ms\" or \"after_octets\"."),
    (#""link": {"changes": [{"after_ms": 1, "after_octets": 1, "data_length": 27}]}"#, "link.changes[0]: Use either"),
    (#""link": {"changes": [{"after_ms": 1}]}"#, "link.changes[0]: Nothing changes."),
    (#""link": {"changes": [{"after_ms": 1, "phy": "coded"}]}"#, "link.changes[0].phy: Use a value of \"phys\"."),
    (#""link": {"changes": [{"after_ms": 1, "data_length": 26}]}"#, "link.changes[0].data_length: 26"),
    (#""link": {"changes": [{"after_ms": 1, "interval_ms": 7.4}]}"#, "link.changes[0].interval_ms: 7.4"),
    (#""link": {"changes": [{"after_ms": 1, "phy": "1m", "latency": 1}]}"#, "link.changes[0].latency: No effect without \"interval_ms\"."),
    (
      #""link": {"changes": [{"after_ms": 1, "interval_ms": 4000, "timeout_ms": 4000}]}"#,
      "link.changes[0]: \"timeout_ms\" must be above 2 · (1 + latency) · interval_ms"
    ),
    (#""firmware": 5"#, "firmware: Expected an object, found a number"),
    (#""firmware": {"buffers": 0}"#, "firmware.buffers: 0 is not in 1…1024"),
    (#""firmware": {"ms_per_packet": 3600001}"#, "firmware.ms_per_packet: 3600001.0 is not in 0.0…3600000.0"),
    (#""firmware": {"ms_per_packet": -0.1}"#, "firmware.ms_per_packet: -0.1"),
    (#""firmware": {"ms_per_packet": "5"}"#, "firmware.ms_per_packet: Expected a number, found a string"),
    (#""firmware": {"slow_every": 0, "slow_ms": 1}"#, "firmware.slow_every: 0"),
    (#""firmware": {"slow_every": 3}"#, "firmware.slow_every: No effect without \"slow_ms\"."),
    (#""firmware": {"when_full": "explode"}"#, "firmware.when_full: Use hold or drop."),
    (#""firmware": {"ms_per_drop": 2}"#, "firmware.ms_per_drop: No effect without \"drops_after\""),
    (#""firmware": {"drops": 2}"#, "firmware.drops: No effect without \"drops_after\"."),
    (#""connectable": 1"#, "connectable: Expected true or false, found a number"),
    (#""advertisement": {"name": "123456789012345678901234567890"}"#, "advertisement: Too long: 32 bytes (maximum 31)."),
    (
      #""scan_response": "0102 0304 0506 0708 0910 1112 1314 1516 0102 0304 0506 0708 0910 1112 1314 1516""#,
      "scan_response: Too long: 32 bytes"
    ),
    (#""advertisement": {"manufacturer_data": {"4c": "00"}}"#, "advertisement.manufacturer_data.4c: A company identifier"),
    (#""advertisement": {"service_data": {"fe9": "00"}}"#, "advertisement.service_data.fe9: Invalid UUID \"fe9\"."),
    (#""advertisement": {"uuid": "fe95"}"#, "advertisement.uuid: Unknown key"),
    (#""advertisement": "0x""#, "advertisement: Invalid hex \"0x\""),
    (#""services": {}"#, "services: Expected a list, found an object"),
    (#""services": [{}]"#, "services[0]: Missing key \"uuid\"."),
    (#""services": [{"uuid": "ffe"}]"#, "services[0].uuid: Invalid UUID \"ffe\""),
    (#""services": [{"uuid": "ffe0", "includes": ["ffe1"]}]"#, "services[0].includes[0]: The peripheral has no other service"),
    (#""services": [{"uuid": "ffe0", "includes": ["ffe0"]}]"#, "services[0].includes[0]: The peripheral has no other service"),
    (#""services": [{"uuid": "ffe0", "includes": [{}]}]"#, "services[0].includes[0]: Missing key \"service\"."),
    (
      #""services": [{"uuid": "ffe0", "handle": 16, "includes": [{"service": 16}]}]"#,
      "services[0].includes[0].service: No other service of the peripheral has the \"handle\" 0x0010."
    ),
    (
      #""services": [{"uuid": "ffe0", "handle": 16, "includes": [{"service": 32, "handle": 9}]}, {"uuid": "ffe1", "handle": 32}]"#,
      "services[0]: Handle 0x0009 is taken or out of order: the last one is 0x0010."
    ),
    (
      #""services": [{"uuid": "ffe0", "handle": 16, "end_handle": 15}]"#,
      "services[0]: The service ends at 0x000f, but its last attribute has the handle 0x0010."
    ),
    (
      #""services": [{"uuid": "ffe0", "handle": 16, "end_handle": 32}, {"uuid": "ffe1", "handle": 32}]"#,
      "services[1]: Handle 0x0020 is taken or out of order: the last one is 0x0020."
    ),
    (
      #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": [], "handle": 16, "value_handle": 16}]}]"#,
      "services[0].characteristics[0]: Handle 0x0010 is taken or out of order: the last one is 0x0010."
    ),
    (
      #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": [], "read_error": 0}]}]"#,
      "services[0].characteristics[0].read_error: 0 is not in 1…255"
    ),
    (
      #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": [], "write_error": 256}]}]"#,
      "services[0].characteristics[0].write_error: 256 is not in 1…255"
    ),
    (#""complete": 1"#, "complete: Expected true or false, found a number"),
    (#""comment": 1"#, "comment: Expected a string, found a number"),
    (#""services": [{"uuid": "ffe0", "comment": 1}]"#, "services[0].comment: Expected a string, found a number"),
    (
      #""services": [{"uuid": "ffe0"}, {"uuid": "ffe2", "handle": 9}]"#,
      "services[1]: Handle 0x0009 is taken or out of order: the last one is 0x000a."
    ),
    (#""services": [{"uuid": "ffe0", "handle": 0}]"#, "services[0].handle: 0 is not in 1…65535"),
    (#""services": [{"uuid": "ffe0", "handle": 65536}]"#, "services[0].handle: 65536"),
    (
      #""services": [{"uuid": "ffe0", "handle": 32}, {"uuid": "ffe1", "handle": 16}]"#,
      "services[1]: Handle 0x0010 is taken or out of order"
    ),
    (characteristic(#""uuid": "ffe1""#), "characteristics[0]: Missing key \"properties\"."),
    (characteristic(#""properties": []"#), "characteristics[0]: Missing key \"uuid\"."),
    (
      characteristic(#""uuid": "ffe1", "properties": ["reed"]"#),
      "characteristics[0].properties[0]: Unknown property \"reed\". Use broadcast, read"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "permissions": ["all"]"#), "permissions[0]: Unknown permission \"all\"."),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": "xyz""#), "characteristics[0].value: Invalid hex \"xyz\""),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u8": 256}"#),
      "characteristics[0].value.u8: \"256\" (column 1) does not fit u8"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u16": 2}"#), "value.u16: Unknown key"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": ["01", {"u8": {"variable": "a"}}]"#),
      "value[1].u8: Expected a string or a number, found an object. Only reactions, timers and on_connect compute values."
    ),
    (#""variables": {"a": {"random_octets": 2}}"#, "f64be. Only reactions, timers and on_connect"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u8": 2, "i8": 3}"#), "value: Expected an object with one key"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": "\#(String(repeating: "00", count: 513))""#),
      "characteristics[0].value: Too long: 513 bytes (maximum 512"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "max_length": 513"#), "max_length: 513 is not in 0…512"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "max_length": 1, "value": "0102""#), "value: Too long: 2 bytes (maximum 1"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "handle": 10"#), "services[0].characteristics[0]: Handle 0x000a is taken"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "handle": "0xffff""#),
      "services[0].characteristics[0]: No free handle"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "descriptors": [{"uuid": "2901"}, {"uuid": "2902"}]"#),
      "services[0].characteristics[0].descriptors[1]: The descriptor 2902 (Client Characteristic Configuration) needs"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "descriptors": [{"uuid": "2902"}, {"uuid": "2902"}]"#),
      "descriptors[1]: A characteristic can have only one descriptor 2902"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "descriptors": [{"uuid": "2901", "handle": 12}]"#),
      "descriptors[0]: Handle 0x000c is taken"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "descriptors": [{"uuid": "2901"}, {"value": "00"}]"#),
      "descriptors[1]: Missing key \"uuid\"."
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["extended_properties"]"#),
      "characteristics[0]: The extended_properties property needs"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "reactions": []"#), "reactions: The characteristic cannot be written"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "sink": {"report": "ffe1"}"#), "sink: The characteristic cannot be written"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["write"], "sink": {"report": "ffe1"}"#),
      "sink.report: The report must be another characteristic."
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["write"], "sink": {}"#), "sink: Missing key \"report\""),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "periodic": {"every_ms": 5, "values": ["00"]}"#),
      "periodic: Clients cannot subscribe"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "periodic": {"every_ms": 0, "values": ["00"]}"#),
      "periodic.every_ms: 0 is not"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "periodic": {"every_ms": 5, "values": []}"#),
      "periodic.values: Add at least one value."
    ),
    (reaction(#"{"when": "1b9", "then": []}"#), "reactions[0].when: Invalid pattern \"1b9\"."),
    (reaction(#"{"when": "1b99"}"#), "reactions[0]: Missing key \"then\""),
    (reaction(#"{"then": [{}]}"#), "reactions[0].then[0]: Expected exactly one key of an action: notify, indicate"),
    (reaction(#"{"then": [{"notify": "ffe2", "set": "ffe2"}]}"#), "then[0]: Expected exactly one key of an action:"),
    (reaction(#"{"then": [{"notify": "ffe9"}]}"#), "then[0].notify: The services of this peripheral have no characteristic \"ffe9\""),
    (reaction(#"{"then": [{"notify": "ffe1"}]}"#), "then[0].notify: The characteristic has no notify property"),
    (reaction(#"{"then": [{"indicate": "ffe1"}]}"#), "then[0].indicate: The characteristic has no indicate property"),
    (reaction(#"{"then": [{"set": "a/b/c"}]}"#), "then[0].set: Invalid characteristic \"a/b/c\"."),
    (reaction(#"{"then": [{"set": "ffe2"}]}"#), "then[0].set: 2 characteristics match \"ffe2\"."),
    (reaction(#"{"then": [{"reset": "ffe1"}]}"#), "then[0].reset: The characteristic has no \"sink\"."),
    (reaction(#"{"then": [{"disconnect": true, "value": "00"}]}"#), "then[0].value: \"disconnect\" takes no \"value\""),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"checksum": "crc"}}]}"#), "then[0].value.checksum: Unknown checksum \"crc\"."),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"written": false}}]}"#), "then[0].value.written: Use true."),
    (reaction(#"{"then": [{"set": "ffe1", "value": "\#(String(repeating: "00", count: 513))"}]}"#), "then[0].value: Too long: 513 bytes"),
    (reaction(#"{"then": [{"set": "ffe1", "value": "", "after_ms": 3600001}]}"#), "then[0].after_ms: 3600001"),
    // Variables, timers, conditions.
    (#""variables": {"": 1}"#, "variables.: A name has 1 to 64 bytes"),
    (#""variables": {"a": true}"#, "variables.a: Expected a string, found true or false"),
    (#""variables": {"a": 1.5}"#, "\"1.5\" is not a whole number"),
    (#""timers": {"t": {"after_ms": 9, "then": []}}"#, "timers.t.after_ms: 9 is not in 10…"),
    (#""timers": {"t": {"after_ms": 10, "every_ms": 10, "then": []}}"#, "timers.t: Use either \"after_ms\""),
    (#""timers": {"t": {"every_ms": 10}}"#, "timers.t: Missing key \"then\""),
    (#""on_connect": [{"start": "t"}]"#, "on_connect[0].start: The peripheral has no timers."),
    (#""variables": {"a": 1}, "on_connect": [{"let": "b", "value": 1}]"#, "on_connect[0].let: Unknown variable. Use a."),
    (#""variables": {"a": 1}, "on_connect": [{"let": "a"}]"#, "on_connect[0].let: \"let\" needs the key \"value\"."),
    (#""variables": {"a": 1}, "on_connect": [{"let": "a", "value": "01"}]"#, "value: Expected a number, found a string"),
    (#""variables": {"a": ""}, "on_connect": [{"let": "a", "value": 1}]"#, "value: Expected a string, found a number"),
    (#""variables": {"a": ""}, "on_connect": [{"count": "a"}]"#, "on_connect[0].count: The variable holds bytes."),
    (#""variables": {"a": 1}, "on_connect": [{"count": "a", "value": 2}]"#, "on_connect[0].value: \"count\" takes no \"value\""),
    (#""on_connect": [{"do": [], "else": []}]"#, "on_connect[0].else: \"else\" needs \"if\"."),
    (#""on_connect": [{"busy_ms": 5}]"#, "on_connect[0].busy_ms: No effect without \"firmware\""),
    (#""firmware": {}, "on_connect": [{"busy_ms": 0}]"#, "on_connect[0].busy_ms: 0 is not in 1…3600000"),
    (#""on_connect": [{"controller_error": 256}]"#, "on_connect[0].controller_error: 256 is not in 0…255"),
    (#""on_connect": [{"disconnect": 256}]"#, "on_connect[0].disconnect: 256 is not in 1…255"),
    (#""on_connect": [{"disconnect": "now"}]"#, "on_connect[0].disconnect: Use true, a reason"),
    (#""on_connect": [{"advertise": 1}]"#, "on_connect[0].advertise: Expected true or false, found a number"),
    (#""on_connect": [{"set": "2a00"}]"#, "on_connect[0].set: The services of this peripheral have no characteristic"),
    (#""on_connect": [{"do": [], "if": {"clock": "unix"}}]"#, "if: Missing comparison. Use is, is_not"),
    (#""on_connect": [{"do": [], "if": {"clock": "noon", "is": 1}}]"#, "if.clock: Unknown clock field. Use unix, year"),
    (#""on_connect": [{"do": [], "if": {"clock": "hour", "matches": "*"}}]"#, "if.matches: \"matches\" compares bytes"),
    (#""on_connect": [{"do": [], "if": {"clock": "hour", "is": "01"}}]"#, "if.is: Expected a number, found a string"),
    (#""on_connect": [{"do": [], "if": {"clock": "hour", "from": 1, "is": 1}}]"#, "if.from: \"from\" needs bytes, not a number."),
    (
      #""variables": {"a": 1}, "on_connect": [{"do": [], "if": {"variable": "a", "from": 1, "is": 1}}]"#,
      "if.from: \"from\" needs bytes, not a number."
    ),
    (#""on_connect": [{"do": [], "if": {"written": true, "below": 1}}]"#, "if.below: \"below\" compares numbers"),
    (#""on_connect": [{"do": [], "if": {"is": "01"}}]"#, "if: Expected exactly one key of a condition: variable, random"),
    (#""on_connect": [{"do": [], "if": {"all": []}}]"#, "if.all: Unknown key"),
    (#""on_connect": [{"do": [], "times": {"random": [6, 1]}}]"#, "times.random[1]: 1 is not in 6…"),
    (#""on_connect": [{"do": [], "times": {"sum": []}}]"#, "times.sum: Add at least one number."),
    (#""on_connect": [{"do": [], "times": {"number": "01", "as": "f32le"}}]"#, "times.as: \"f32le\" is not an integer format."),
    (#""advertisement": [{"random_octets": 513}]"#, "advertisement[0].random_octets: 513 is not in 1…512"),
    (
      #""advertisement": {"manufacturer_data": {"ffff": {"variable": "x"}}}"#,
      "manufacturer_data.ffff.variable: The peripheral has no variables."
    ),
    (
      #""variables": {"x": ""}, "advertisement": {"name": "1234567890123456789012345678", "manufacturer_data": {"ffff": {"variable": "x"}}}"#,
      "advertisement: Too long: 34 bytes (maximum 31)."
    ),
    (reaction(#"{"if": {"written": true, "is": {"aes_cmac": "00"}}, "then": []}"#), "if.is.aes_cmac: \"aes_cmac\" needs the key \"key\"."),
    (
      reaction(#"{"if": {"written": true, "is": {"aes_cmac": "00", "key": "00"}}, "then": []}"#),
      "if.is.key: \"aes_cmac\" needs a key of 16 bytes, not 1."
    ),
    (reaction(#"{"if": {"written": true, "is": {"xor": "00"}}, "then": []}"#), "if.is.xor: \"xor\" needs the key \"with\":"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"u8": 1, "key": "00"}}]}"#), "then[0].value.key: \"u8\" takes no \"key\""),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"utf8": {"clock": "hour"}}}]}"#), "then[0].value.utf8: \"utf8\" takes a string"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"checksum": "sum8", "order": "middle"}}]}"#), "value.order: Use little or big."),
    (reaction(#"{"error": 0}"#), "reactions[0].error: 0 is not in 1…255"),
    (reaction(#"{"error": 1}], "collect": {"octets": 3}, "x": [{}"#), "Unknown key"),
    (
      reaction(#"{"error": 1}], "collect": {"octets": 3}, "descriptors": [{"uuid": "2901"}"#),
      "reactions[0].error: No effect with \"collect\""
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["write"], "read_reactions": []"#), "read_reactions: The characteristic cannot be read"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["write"], "on_subscribe": []"#), "on_subscribe: Clients cannot subscribe"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "read_reactions": [{"when": "01"}]"#), "read_reactions[0].when: Unknown key"),
    (#""update": {}"#, "update: Expected an object with one key: mcumgr, dfu."),
    (#""update": {"mcumgr": {"version": "1.x"}}"#, "update.mcumgr.version: Use a version such as \"1.2.3\"."),
    (#""update": {"mcumgr": {"slot_size": 30000}}"#, "slot_size: Use a multiple of 4096."),
    (
      #""update": {"mcumgr": {"slot_size": 8192, "image_size": 4025}}"#,
      "update.mcumgr: The image and the marks of MCUboot need a \"slot_size\" of 8193 bytes."
    ),
    (#""update": {"mcumgr": {"mode": 4}}"#, "mode: Use 0, 1, 2, 9."),
    (#""update": {"mcumgr": {"access": "none"}}"#, "access: Use open, encrypted, authenticated."),
    (#""update": {"dfu": {"buttonless": "yes"}}"#, "buttonless: Use bonds, no_bonds."),
    (#""update": {"dfu": {"refuses": {"operation": "ping"}}}"#, "operation: Use create, set_prn, crc, execute, select."),
  ]

  private static func characteristic(_ inside: String) -> String {
    #""services": [{"uuid": "ffe0", "characteristics": [{\#(inside)}]}]"#
  }

  static func reaction(_ reaction: String) -> String {
    #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": ["write"], "reactions": [\#(reaction)]}, "#
      + #"{"uuid": "ffe2", "properties": ["read"]}, {"uuid": "ffe2", "properties": ["read"]}]}]"#
  }
}
