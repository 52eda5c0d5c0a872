/// A difference between `bluetooth-sig` 0.6.0 and us, with its reason. The comparison allows only these differences, and each must occur.
struct ForeignDifference {
  /// The kind of the difference as foreign_values.py names it. `scale:KEY=FACTOR`: our field is FACTOR times theirs, in every case.
  let kind: String
  let reason: String
  let uuids: [String]

  init(_ kind: String, _ reason: String, _ uuids: String) {
    self.kind = kind
    self.reason = reason
    self.uuids = uuids.split(separator: " ").map(String.init)
  }
}

extension ForeignDifference {
  static let all = floats + sizes + environmentalSensing + refusals + unknownCodes + units + forms

  private static let floats = [
    ForeignDifference(
      "value",
      "IEEE 11073-20601: mantissa and exponent are in two's complement, so that 78 00 is 120 and 78 00 00 FF is 12. The package "
        + "subtracts a bias of 8 (128) from the exponent. The comparison uses functions of its own in place of these two.",
      "parse_sfloat parse_float32"),
    ForeignDifference("no-decoder", "The package has a class for it that decodes nothing.", "2a40"),
  ]

  private static let sizes = [
    ForeignDifference(
      "tooLong",
      "The description's fields end before these octets. The package ignores them; we say that the value does not fit and show its octets.",
      """
      2902 2903 2904 2907 2908 2a07 2a0e 2a12 2a18 2a19 2a1c 2a1e 2a21 2a2c 2a34 2a35 2a36 2a37 2a49 2a53 2a5b 2a5d 2a63 2a64 2a67 2a68 2a69 2a6a 2a6c 2a6d 2a6e 2a6f \
      2a70 2a71 2a72 2a73 2a74 2a75 2a76 2a77 2a78 2a79 2a7a 2a7b 2a7e 2a7f 2a80 2a81 2a82 2a83 2a84 2a85 2a88 2a89 2a8b 2a8d 2a8e 2a8f 2a91 \
      2a92 2a93 2a94 2a95 2a96 2a97 2a98 2a99 2a9a 2a9c 2a9d 2aa9 2aab 2abf 2acd 2ace 2acf 2ad0 2ad1 2ad2 2ae3 2ae6 2ae7 2ae8 2aea 2aeb 2aec \
      2aed 2aee 2af2 2af9 2afa 2afb 2afc 2afd 2afe 2aff 2b01 2b02 2b03 2b04 2b05 2b06 2b0d 2b12 2b13 2b14 2b15 2b16 2b17 2b18 2b1b 2b1c 2b34 \
      2b35 2b47 2b49 2b4b 2b4c 2b4d 2b4e 2b4f 2b50 2b89 2b8a 2b8c 2b8d 2ba8 2bba 2bcf 2bd0 2bd1 2bd2 2bd3 2bd4 2bd5 2bd6 2bd7 2bd8 2bd9 2bdf \
      2be0 2be2 2be4 2be6 2be7 2be8 2be9 2bea 2beb 2bec 2bed 2bee 2bef 2bf0 2bff 2c05 2c06 2c09 2c0a 2c0b 2c1b 2c1c 2c22 2c27 2c2e 2c30
      """),
    ForeignDifference(
      "tooShort",
      "\"Present if bit N of Flags field is set to 1\": the flag is set, or a field that is always there is cut. The package leaves the field "
        + "out without a word; we say that the value does not fit.",
      """
      2a18 2a1c 2a1e 2a34 2a35 2a36 2a37 2a53 2a5b 2a63 2a64 2a67 2a68 2a69 2a9c 2a9d 2aa9 2aab 2acd 2ace 2acf 2ad0 2ad1 2ad2 2b4d 2bee
      """),
    ForeignDifference(
      "recordLength",
      "Size: \"Size of the CGM Measurement Record including this field.\" The package takes records that end before.",
      "2aa7"),
    ForeignDifference("notText", "utf8s is UTF-8; the package puts U+FFFD for octets that are none.", "2abe 2bff"),
    ForeignDifference("notADate", "Month: 1 to 12, or 0 where it is not known. The package takes 13.", "2a85 2a86"),
    ForeignDifference("refuses-length", "A list of octets whose length the description leaves open: none is a list too.", "2a2a"),
  ]

  /// Environmental Sensing Service 1.0.1 §3.1.2.3–5: 11 bytes, a condition with its operand, and the logic alone. The package takes other
  /// sizes: four bytes for the sampling function, two for every operand, four for the logic.
  private static let environmentalSensing = [
    ("refuses-length", "290c 290d 290e"), ("tooLong", "290c 290d 290e"), ("tooShort", "290d"), ("form:operand", "290d"),
    ("form:time", "290d"),
  ].map { ForeignDifference($0.0, "The descriptors of the service have other fields.", $0.1) }

  private static let refusals = [
    ForeignDifference(
      "refuses-range",
      "\"Minimum\", \"Maximum\", \"Valid range\" and \"Reserved for Future Use\" bind who sends. The package refuses what is outside (some limits, as for 2A35 and 2A9C, are its own); we show the number that came.",
      """
      2a06 2a07 2a09 2a0d 2a13 2a16 2a18 2a19 2a1d 2a2b 2a2c 2a35 2a36 2a38 2a39 2a43 2a5d 2a6e 2a6f 2a71 2a73 2a8c 2a93 2a9c 2aa3 2aa6 2ae3 \
      2ae7 2ae9 2aec 2afc 2b04 2b18 2b4a 2ba8 2bdf 2be1 2be3 2bea 2c05 2c1b 2c1f 2c20 2c27 2c29 2c2e
      """),
    ForeignDifference(
      "refuses-reserved",
      "\"Reserved for Future Use\" is what a sender has no meaning for. The package refuses the whole value; we show the number in its place and the other fields beside it.",
      "2a11 2a14 2a17 2a18 2a1c 2a1e 2a34 2a41 2a44 2a45 2a46 2a50 2a52 2a55 2a66 2a6b 2aa8 2aaa 2aac 2bed 2bf2 2c26 2c27 2c28 2c29"),
    ForeignDifference(
      "refuses-date",
      "Year: \"A value of 0 means that the year is not known.\" The package refuses it, and in 2AED and 2BEF days beyond the year 9999, with which Python's calendar ends.",
      "2a08 2a0a 2a0c 2a11 2a18 2a1c 2a1e 2a35 2a36 2a67 2a68 2a9c 2a9d 2aaa 2ac1 2ac2 2aed 2bef"),
    ForeignDifference(
      "refuses-order",
      "The fields are described as a minimum and a maximum; whoever sends them the other way round is shown as it is. The package refuses, also "
        + "where one of them is \"value is not known\".",
      "2ad4 2ad5 2ad6 2ad7 2ad8 2aef 2af0 2af1 2b00 2b07 2b08 2b09 2b0a 2b0c 2b10 2b19 2b1a 2be5"),
  ]

  private static let unknownCodes = [
    ForeignDifference(
      "unknown",
      "\"A value of 0x… represents: value is not known\", \"value is not valid\", \"… more than …\" stand at the field's own or the referred "
        + "characteristic's description. The package looks for them only in characteristics of a single field, and computes numbers of them "
        + "(2a21: \"No periodic measurement\").",
      """
      2a04 2a12 2a21 2ae0 2ae1 2ae5 2ae7 2aef 2af0 2af1 2af3 2af4 2b00 2b07 2b08 2b09 2b0a 2b0b 2b0c 2b0e 2b0f 2b10 2b11 2b13 2b19 2b1a 2be5 \
      2be8 2bea 2beb 2bec 2bee 2bef 2c1d 2c1e
      """),
    ForeignDifference(
      "special", "\"0xFFFF represents: value is not known\" is said of one field; the package gives up the whole value for it.", "2c27 2c28"
    ),
    ForeignDifference(
      "absent:pedal_power_balance", "The description gives no raw value another meaning: 0xFF is 127.5 %. To the package it is none.",
      "2a63"),
  ]

  private static let units = [
    ForeignDifference(
      "scale:fractions256=0.00390625", "\"The number of 1/256 fractions of a second\": the package leaves them raw.", "2a0c 2a2b"),
    ForeignDifference("scale:time_accuracy=0.125", "\"In steps of 1/8 of a second (125ms)\": the package leaves it raw.", "2a14"),
    ForeignDifference(
      "scale:time_zone=60", "\"The offset from UTC in number of 15-minute increments\": minutes to us, hours to the package.", "2a0f"),
    ForeignDifference(
      "absent:time_zone",
      "\"Valid range from -48 to +56 … All other values are Reserved for Future Use\": the number to us, nothing to the package.", "2a0f"),
    ForeignDifference(
      "scale:rr=1000", "\"With 1/1024 second as the unit\": people say RR in milliseconds, the package in seconds.", "2a37"),
    ForeignDifference("scale:accumulated_energy=1000", "\"M = 1, d = 3, b = 0\" and joule: the package has kilojoules.", "2a63"),
    ForeignDifference("scale:basal_metabolism=1000", "\"M = 1, d = 3, b = 0\" and joule: the package has kilojoules.", "2a9c"),
    ForeignDifference("scale:total_energy_expenditure=1000", "\"M = 1, d = 3, b = 0\" and joule: the package has kilojoules.", "2b4e"),
    ForeignDifference("scale:distance=10", "\"M = 1, d = 1, b = 0\" and metre: the package leaves it raw.", "2b4e"),
    ForeignDifference("scale:hdop=0.4", "\"M = 2, d = -1, b = 0\": a fifth. The package takes halves.", "2a69"),
    ForeignDifference("scale:vdop=0.4", "\"M = 2, d = -1, b = 0\": a fifth. The package takes halves.", "2a69"),
    ForeignDifference("scale:rainfall=0.001", "\"M = 1, d = -3, b = 0\" and metre: the package has millimetres.", "2a78"),
    ForeignDifference("scale:luminous_energy=1000", "\"M = 1, d = 3, b = 0\" and lumen hour: the package leaves it raw.", "2afd"),
    ForeignDifference("scale:luminous_exposure=1000", "\"M = 1, d = 3, b = 0\" and lux hour: the package leaves it raw.", "2afe"),
    ForeignDifference("scale:energy_32=0.001", "\"M = 1, d = -3, b = 0\" and kilowatt hour: the package leaves it raw.", "2ba8"),
    ForeignDifference("scale:length=1e-07", "\"M = 1, d = -7, b = 0\" and metre: the package leaves it raw.", "2c0a"),
  ]

  private static let forms = [
    ForeignDifference(
      "form:external_report_reference", "The UUID of a characteristic, of 16 or of 128 bits; the package takes the first two octets.",
      "2907"),
    ForeignDifference(
      "form:time_zone", "\"The offset from UTC in number of 15-minute increments\": minutes to us, the text UTC+02:45 to the package.",
      "2a0e"),
    ForeignDifference(
      "form:eui_64", "One EUI-64, \"an OUI concatenated with a manufacturer-defined identifier\"; the package has the two apart.", "2a23"),
    ForeignDifference("form:adjust_reason", "Bits 4 to 7 are \"Reserved for Future Use\": the package takes them off the number.", "2a2b"),
    ForeignDifference(
      "form:diastolic", "\"The Diastolic and Mean Arterial Pressure fields are unused\", but they are there. The package leaves them out.",
      "2a36"),
    ForeignDifference(
      "form:mean_arterial_pressure",
      "The same.", "2a36"),
    ForeignDifference(
      "value:category_id_bit_mask", "ANS: one or two octets of bits, the first with 0 to 7: two fields to us, one number to the package.",
      "2a47 2a48"),
    ForeignDifference("form:category_id_bit_mask_2", "The second of those octets.", "2a47 2a48"),
    ForeignDifference(
      "form:parameter", "Its meaning depends on the op code: octets to us; the package has some of them decoded.", "2a66 2a6b"),
    ForeignDifference(
      "form:e2e_crc",
      "\"Present if E2E-CRC Supported bit in CGM Feature characteristic is set to 1\": the last field. The package does not read it.",
      "2aa7"),
    ForeignDifference("form:e2e_crc_2", "The same, in the second record.", "2aa7"),
    ForeignDifference(
      "form:object_type",
      "gatt_uuid, \"size: 2 or 16\", least significant octet first; the package turns those of 128 bits only in part.", "2abf"),
    ForeignDifference(
      "form:boolean", "0 is \"False\" and 1 \"True\", the rest is \"Prohibited\": the number to us, true to the package.", "2ae2"),
    ForeignDifference("form:battery_chemistry", "\"Reserved for Future Use\" is \"Unknown\" to the package, and the number to us.", "2bec"),
  ]
}
