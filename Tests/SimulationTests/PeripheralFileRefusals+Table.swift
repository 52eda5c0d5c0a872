extension PeripheralFileRefusalTests {
  /// What the error must contain: line, path, reason.
  static let refused: [(String, String)] = [
    ("", "x.jsonc:1:1: the file ends where a value should be"),
    ("[]", "no peripheral"),
    ("3", "a number where an object should be"),
    ("{", "the file ends where a key in double quotes should be"),
    ("{\n\n'a': 1}", "x.jsonc:3:1: ''' where a key in double quotes should be"),
    ("{\"a\" 1}", "'1' where ':' should be"),
    ("{\"a\": 1 \"b\": 2}", "'\"' where ',' or '}' should be"),
    ("[1 2]", "'2' where ',' or ']' should be"),
    ("{} x", "'x' where the end of the file should be"),
    ("{}\u{0}", "octet 0x0 where the end of the file should be"),
    ("{\"a\": bad}", "\"bad\" is not a value: strings need double quotes"),
    ("{\"a\": \"b\n\"}", "a string that does not end on its line"),
    ("{\"a\": \"\\x\"}", "unknown escape"),
    ("{\"a\": \"\\ud800\"}", "surrogate"),
    ("{\"a\": \"\\u12\"}", "four hex digits"),
    ("/* \n\n", "x.jsonc:1:1: a comment that does not end"),
    ("/", "'/' where a value should be"),
    ("{\"name\": \"A\", \"name\": \"B\"}", "the key \"name\" is given twice"),
    (String(repeating: "[", count: 100_000), "nested deeper than 32 levels"),
    (String(repeating: "{\"a\":", count: 100_000), "nested deeper than 32 levels"),
    ("{\"address\": \"D1:00:00:00:00:09/random\"}", "it has no name"),
    ("{\"name\": \"N\"}", "it has no address"),
    ("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09\"}", "address: \"D1:00:00:00:00:09\" is not an address with its type"),
    ("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/static\"}", "is not an address with its type"),
    (
      "[{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\"},\n{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\"}]",
      "x.jsonc:2:1: [1]: the address"
    ),
  ]

  /// Inside a peripheral.
  static let refusedInside: [(String, String)] = [
    (#""colour": "red""#, "colour: unknown key; there are name, address"),
    (#""colour\u001b[31m": "red""#, #"colour\x1b[31m: unknown key"#),
    (#""rssi": "-60""#, "rssi: a string where a number should be"),
    (#""rssi": 21"#, "rssi: 21 is not in -127…20"),
    (#""rssi": 1e1"#, "\"1e1\" is not a whole number"),
    (#""rssi": 99999999999999999999"#, "is not a whole number of a sensible size"),
    (#""rssi": ٣"#, "where a value should be"),
    (#""mtu": 22"#, "mtu: 22 is not in 23…517"),
    (#""mtu": 518"#, "mtu: 518"),
    (#""data_length": 252"#, "data_length: 252"),
    (#""interval_ms": 19"#, "interval_ms: 19"),
    (#""phys": ["2m"]"#, "phys: every device has the PHY 1m"),
    (#""phys": ["1m", "4m"]"#, "phys[1]: unknown PHY"),
    (#""link": {"packet_error_rate": 1.5}"#, "link.packet_error_rate: 1.5 is not in 0.0…1.0"),
    (#""link": {"packet_error_rate": 1e999}"#, "link.packet_error_rate: \"1e999\" is not a number of a sensible size"),
    (#""link": {"guard_us": -1}"#, "link.guard_us: -1 is not in 0…1000000"),
    (#""link": {"polling_us": 4000001}"#, "link.polling_us: 4000001"),
    (#""link": {"inter_frame_space_us": 10001}"#, "link.inter_frame_space_us: 10001"),
    (#""link": {"speed": 1}"#, "link.speed: unknown key; there are packet_error_rate"),
    (#""link": {"coded": "s4"}"#, "link.coded: there are s2, s8"),
    (#""link": {"encrypted": 1}"#, "link.encrypted: a number where true or false should be"),
    (#""link": {"cuts": 1}"#, "link.cuts: it says nothing without cut_after_octets"),
    (#""link": {"cut_after_octets": 0}"#, "link.cut_after_octets: 0"),
    (#""link": {"controller_buffers": 0}"#, "link.controller_buffers: 0"),
    (#""link": {"controller_buffer_length": 26}"#, "link.controller_buffer_length: 26"),
    (#""link": {"changes": [{"data_length": 27}]}"#, "link.changes[0]: it has one of after_ms, after_octets"),
    (#""link": {"changes": [{"after_ms": 1, "after_octets": 1, "data_length": 27}]}"#, "link.changes[0]: it has one of"),
    (#""link": {"changes": [{"after_ms": 1}]}"#, "link.changes[0]: nothing changes"),
    (#""link": {"changes": [{"after_ms": 1, "phy": "coded"}]}"#, "link.changes[0].phy: none of the device's phys"),
    (#""link": {"changes": [{"after_ms": 1, "data_length": 26}]}"#, "link.changes[0].data_length: 26"),
    (#""link": {"changes": [{"after_ms": 1, "interval_ms": 7.4}]}"#, "link.changes[0].interval_ms: 7.4"),
    (#""link": {"changes": [{"after_ms": 1, "phy": "1m", "latency": 1}]}"#, "link.changes[0].latency: it says nothing without interval_ms"),
    (
      #""link": {"changes": [{"after_ms": 1, "interval_ms": 4000, "timeout_ms": 4000}]}"#,
      "link.changes[0]: timeout_ms is above 2 · (1 + latency) · interval_ms"
    ),
    (#""firmware": 5"#, "firmware: a number where an object should be"),
    (#""firmware": {"buffers": 0}"#, "firmware.buffers: 0 is not in 1…1024"),
    (#""firmware": {"ms_per_packet": 3600001}"#, "firmware.ms_per_packet: 3600001.0 is not in 0.0…3600000.0"),
    (#""firmware": {"ms_per_packet": -0.1}"#, "firmware.ms_per_packet: -0.1"),
    (#""firmware": {"ms_per_packet": "5"}"#, "firmware.ms_per_packet: a string where a number should be"),
    (#""firmware": {"slow_every": 0, "slow_ms": 1}"#, "firmware.slow_every: 0"),
    (#""firmware": {"slow_every": 3}"#, "firmware.slow_every: it says nothing without slow_ms"),
    (#""firmware": {"when_full": "explode"}"#, "firmware.when_full: there are hold, drop"),
    (#""firmware": {"ms_per_drop": 2}"#, "firmware.ms_per_drop: nothing is dropped unless"),
    (#""firmware": {"drops": 2}"#, "firmware.drops: it says nothing without drops_after"),
    (#""connectable": 1"#, "connectable: a number where true or false should be"),
    (#""advertisement": {"name": "123456789012345678901234567890"}"#, "advertisement: 32 octets: an advertisement has at most 31"),
    (#""scan_response": "0102 0304 0506 0708 0910 1112 1314 1516 0102 0304 0506 0708 0910 1112 1314 1516""#, "scan_response: 32 octets"),
    (#""advertisement": {"manufacturer_data": {"4c": "00"}}"#, "advertisement.manufacturer_data.4c: a company identifier"),
    (#""advertisement": {"service_data": {"fe9": "00"}}"#, "advertisement.service_data.fe9: \"fe9\" is not a UUID"),
    (#""advertisement": {"uuid": "fe95"}"#, "advertisement.uuid: unknown key"),
    (#""advertisement": "0x""#, "advertisement: \"0x\" is not hex"),
    (#""services": {}"#, "services: an object where a list should be"),
    (#""services": [{}]"#, "services[0]: a service has a uuid"),
    (#""services": [{"uuid": "ffe"}]"#, "services[0].uuid: \"ffe\" is not a UUID"),
    (#""services": [{"uuid": "ffe0", "includes": ["ffe1"]}]"#, "services[0].includes[0]: no other service"),
    (#""services": [{"uuid": "ffe0", "includes": ["ffe0"]}]"#, "services[0].includes[0]: no other service"),
    (
      #""services": [{"uuid": "ffe0"}, {"uuid": "ffe2", "handle": 9}]"#,
      "services[1]: handle 0x0009 is taken or out of order: the last one is 0x000a"
    ),
    (#""services": [{"uuid": "ffe0", "handle": 0}]"#, "services[0].handle: 0 is not in 1…65535"),
    (#""services": [{"uuid": "ffe0", "handle": 65536}]"#, "services[0].handle: 65536"),
    (
      #""services": [{"uuid": "ffe0", "handle": 32}, {"uuid": "ffe1", "handle": 16}]"#,
      "services[1]: handle 0x0010 is taken or out of order"
    ),
    (characteristic(#""uuid": "ffe1""#), "characteristics[0]: a characteristic has properties"),
    (characteristic(#""properties": []"#), "characteristics[0]: a characteristic has a uuid"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["reed"]"#),
      "characteristics[0].properties[0]: unknown property \"reed\"; there are broadcast, read"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "permissions": ["all"]"#), "permissions[0]: unknown permission \"all\""),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": "xyz""#), "characteristics[0].value: \"xyz\" is not hex"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u8": 256}"#),
      "characteristics[0].value.u8: \"256\" (column 1) does not fit u8"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u16": 2}"#), "value.u16: unknown key"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u8": 2, "i8": 3}"#), "value: an object with one key"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": "\#(String(repeating: "00", count: 513))""#),
      "characteristics[0].value: 513 octets: at most 512"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "max_length": 513"#), "max_length: 513 is not in 0…512"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "max_length": 1, "value": "0102""#), "value: 2 octets: at most 1"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "handle": 10"#), "services[0].characteristics[0]: handle 0x000a is taken"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "handle": "0xffff""#),
      "services[0].characteristics[0]: more than 65535 attributes"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "descriptors": [{"uuid": "2901"}, {"uuid": "2902"}]"#),
      "services[0].characteristics[0].descriptors[1]: a Client Characteristic Configuration (2902) without"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "descriptors": [{"uuid": "2902"}, {"uuid": "2902"}]"#),
      "descriptors[1]: a second Client"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "descriptors": [{"uuid": "2901", "handle": 12}]"#),
      "descriptors[0]: handle 0x000c is taken"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "descriptors": [{"uuid": "2901"}, {"value": "00"}]"#),
      "descriptors[1]: a descriptor has a uuid"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["extended_properties"]"#),
      "characteristics[0]: the extended_properties property without"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "reactions": []"#), "reactions: nothing can be written"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "sink": {"report": "ffe1"}"#), "sink: nothing can be written"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["write"], "sink": {"report": "ffe1"}"#),
      "sink.report: the report is a characteristic of its own"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["write"], "sink": {}"#), "sink: it has no report"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "periodic": {"every_ms": 5, "values": ["00"]}"#),
      "periodic: nobody can subscribe"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "periodic": {"every_ms": 0, "values": ["00"]}"#),
      "periodic.every_ms: 0 is not"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["notify"], "periodic": {"every_ms": 5, "values": []}"#), "periodic.values: no values"),
    (reaction(#"{"when": "1b9", "then": []}"#), "reactions[0].when: \"1b9\" is not a pattern"),
    (reaction(#"{"when": "1b99"}"#), "reactions[0]: it has no then"),
    (reaction(#"{"then": [{}]}"#), "reactions[0].then[0]: an action has exactly one of notify, indicate"),
    (reaction(#"{"then": [{"notify": "ffe2", "set": "ffe2"}]}"#), "then[0]: an action has exactly one of"),
    (reaction(#"{"then": [{"notify": "ffe9"}]}"#), "then[0].notify: no characteristic \"ffe9\""),
    (reaction(#"{"then": [{"notify": "ffe1"}]}"#), "then[0].notify: the characteristic has no notify property"),
    (reaction(#"{"then": [{"indicate": "ffe1"}]}"#), "then[0].indicate: the characteristic has no indicate property"),
    (reaction(#"{"then": [{"set": "a/b/c"}]}"#), "then[0].set: \"a/b/c\" is not a characteristic"),
    (reaction(#"{"then": [{"set": "ffe2"}]}"#), "then[0].set: 2 characteristics are \"ffe2\""),
    (reaction(#"{"then": [{"reset": "ffe1"}]}"#), "then[0].reset: the characteristic is no sink"),
    (reaction(#"{"then": [{"disconnect": true, "value": "00"}]}"#), "then[0].value: disconnect takes no value"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"checksum": "crc"}}]}"#), "then[0].value.checksum: unknown checksum"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"written": false}}]}"#), "then[0].value.written: only true"),
    (reaction(#"{"then": [{"set": "ffe1", "value": "\#(String(repeating: "00", count: 513))"}]}"#), "then[0].value: 513 octets"),
    (reaction(#"{"then": [{"set": "ffe1", "value": "", "after_ms": 3600001}]}"#), "then[0].after_ms: 3600001"),
    // Variables, timers, conditions.
    (#""variables": {"": 1}"#, "variables.: a name has 1 to 64 octets"),
    (#""variables": {"a": true}"#, "variables.a: true or false where a string should be"),
    (#""variables": {"a": 1.5}"#, "\"1.5\" is not a whole number"),
    (#""timers": {"t": {"after_ms": 9, "then": []}}"#, "timers.t.after_ms: 9 is not in 10…"),
    (#""timers": {"t": {"after_ms": 10, "every_ms": 10, "then": []}}"#, "timers.t: it has after_ms"),
    (#""timers": {"t": {"every_ms": 10}}"#, "timers.t: it has no then"),
    (#""on_connect": [{"start": "t"}]"#, "on_connect[0].start: this peripheral has no timers"),
    (#""variables": {"a": 1}, "on_connect": [{"let": "b", "value": 1}]"#, "on_connect[0].let: no such variable; there are a"),
    (#""variables": {"a": 1}, "on_connect": [{"let": "a"}]"#, "on_connect[0].let: let needs a value"),
    (#""variables": {"a": 1}, "on_connect": [{"let": "a", "value": "01"}]"#, "value: a string where a number should be"),
    (#""variables": {"a": ""}, "on_connect": [{"let": "a", "value": 1}]"#, "value: a number where a string should be"),
    (#""variables": {"a": ""}, "on_connect": [{"count": "a"}]"#, "on_connect[0].count: the variable holds octets"),
    (#""variables": {"a": 1}, "on_connect": [{"count": "a", "value": 2}]"#, "on_connect[0].value: count takes no value"),
    (#""on_connect": [{"do": [], "else": []}]"#, "on_connect[0].else: else needs if"),
    (#""on_connect": [{"busy_ms": 5}]"#, "on_connect[0].busy_ms: it says nothing without firmware"),
    (#""firmware": {}, "on_connect": [{"busy_ms": 0}]"#, "on_connect[0].busy_ms: 0 is not in 1…3600000"),
    (#""on_connect": [{"controller_error": 256}]"#, "on_connect[0].controller_error: 256 is not in 0…255"),
    (#""on_connect": [{"disconnect": 256}]"#, "on_connect[0].disconnect: 256 is not in 1…255"),
    (#""on_connect": [{"disconnect": "now"}]"#, "on_connect[0].disconnect: true, the number of a reason"),
    (#""on_connect": [{"advertise": 1}]"#, "on_connect[0].advertise: a number where true or false should be"),
    (#""on_connect": [{"set": "2a00"}]"#, "on_connect[0].set: no characteristic"),
    (#""on_connect": [{"do": [], "if": {"clock": "unix"}}]"#, "if: it compares nothing; there are is, is_not"),
    (#""on_connect": [{"do": [], "if": {"clock": "noon", "is": 1}}]"#, "if.clock: there are unix, year"),
    (#""on_connect": [{"do": [], "if": {"clock": "hour", "matches": "*"}}]"#, "if.matches: matches compares octets"),
    (#""on_connect": [{"do": [], "if": {"clock": "hour", "is": "01"}}]"#, "if.is: a string where a number should be"),
    (#""on_connect": [{"do": [], "if": {"clock": "hour", "from": 1, "is": 1}}]"#, "if.from: a number cannot be cut"),
    (#""variables": {"a": 1}, "on_connect": [{"do": [], "if": {"variable": "a", "from": 1, "is": 1}}]"#, "if.from: a number cannot be cut"),
    (#""on_connect": [{"do": [], "if": {"written": true, "below": 1}}]"#, "if.below: below compares numbers"),
    (#""on_connect": [{"do": [], "if": {"is": "01"}}]"#, "if: a condition has exactly one of variable, random"),
    (#""on_connect": [{"do": [], "if": {"all": []}}]"#, "if.all: unknown key"),
    (#""on_connect": [{"do": [], "times": {"random": [6, 1]}}]"#, "times.random[1]: 1 is not in 6…"),
    (#""on_connect": [{"do": [], "times": {"sum": []}}]"#, "times.sum: no numbers"),
    (#""on_connect": [{"do": [], "times": {"number": "01", "as": "f32le"}}]"#, "times.as: \"f32le\" is not a format of whole numbers"),
    (#""advertisement": [{"random_octets": 513}]"#, "advertisement[0].random_octets: 513 is not in 1…512"),
    (
      #""advertisement": {"manufacturer_data": {"ffff": {"variable": "x"}}}"#,
      "manufacturer_data.ffff.variable: this peripheral has no variables"
    ),
    (
      #""variables": {"x": ""}, "advertisement": {"name": "1234567890123456789012345678", "manufacturer_data": {"ffff": {"variable": "x"}}}"#,
      "advertisement: 34 octets: an advertisement has at most 31"
    ),
    (reaction(#"{"if": {"written": true, "is": {"aes_cmac": "00"}}, "then": []}"#), "if.is.aes_cmac: aes_cmac needs a key"),
    (
      reaction(#"{"if": {"written": true, "is": {"aes_cmac": "00", "key": "00"}}, "then": []}"#),
      "if.is.key: a key of 1 octets: aes_cmac takes 16"
    ),
    (reaction(#"{"if": {"written": true, "is": {"xor": "00"}}, "then": []}"#), "if.is.xor: xor needs with"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"u8": 1, "key": "00"}}]}"#), "then[0].value.key: u8 takes no key"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"utf8": {"clock": "hour"}}}]}"#), "then[0].value.utf8: utf8 takes a string"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"checksum": "sum8", "order": "middle"}}]}"#), "value.order: little or big"),
    (reaction(#"{"error": 0}"#), "reactions[0].error: 0 is not in 1…255"),
    (reaction(#"{"error": 1}], "collect": {"octets": 3}, "x": [{}"#), "unknown key"),
    (
      reaction(#"{"error": 1}], "collect": {"octets": 3}, "descriptors": [{"uuid": "2901"}"#),
      "reactions[0].error: with collect, every write is answered"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["write"], "read_reactions": []"#), "read_reactions: nobody can read"),
    (characteristic(#""uuid": "ffe1", "properties": ["write"], "on_subscribe": []"#), "on_subscribe: nobody can subscribe"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "read_reactions": [{"when": "01"}]"#), "read_reactions[0].when: unknown key"),
  ]

  private static func characteristic(_ inside: String) -> String {
    #""services": [{"uuid": "ffe0", "characteristics": [{\#(inside)}]}]"#
  }

  static func reaction(_ reaction: String) -> String {
    #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": ["write"], "reactions": [\#(reaction)]}, "#
      + #"{"uuid": "ffe2", "properties": ["read"]}, {"uuid": "ffe2", "properties": ["read"]}]}]"#
  }
}
