extension GatttoolOptions.Entry {
  /// The options of gatttool, in the order of its help.
  static let all: [Self] = [
    Self(.main, .adapter, "i", .text, "hciX", "Specify local adapter interface"),
    Self(.main, .device, "b", .text, "MAC", "Specify remote Bluetooth address"),
    Self(.main, .addressType, "t", .text, "[public | random]", "Set LE address type. Default: public"),
    Self(.main, .mtu, "m", .number, "MTU", "Specify the MTU size"),
    Self(.main, .psm, "p", .number, "PSM", "Specify the PSM for GATT/ATT over BR/EDR"),
    Self(.main, .securityLevel, "l", .text, "[low | medium | high]", "Set security level. Default: low"),
    Self(.gatt, .primary, nil, .flag, "", "Primary Service Discovery"),
    Self(.gatt, .characteristics, nil, .flag, "", "Characteristics Discovery"),
    Self(.gatt, .charRead, nil, .flag, "", "Characteristics Value/Descriptor Read"),
    Self(.gatt, .charWrite, nil, .flag, "", "Characteristics Value Write Without Response (Write Command)"),
    Self(.gatt, .charWriteRequest, nil, .flag, "", "Characteristics Value Write (Write Request)"),
    Self(.gatt, .charDesc, nil, .flag, "", "Characteristics Descriptor Discovery"),
    Self(.gatt, .listen, nil, .flag, "", "Listen for notifications and indications"),
    Self(.gatt, .interactive, "I", .flag, "", "Use interactive mode"),
    Self(.params, .start, "s", .number, "0x0001", "Starting handle(optional)"),
    Self(.params, .end, "e", .number, "0xffff", "Ending handle(optional)"),
    Self(.params, .uuid, "u", .uuid, "0x1801", "UUID16 or UUID128(optional)"),
    Self(.charReadWrite, .handle, "a", .number, "0x0001", "Read/Write characteristic by handle(required)"),
    Self(.charReadWrite, .value, "n", .text, "0x0001", "Write characteristic value (required for write operation)"),
  ]
}
