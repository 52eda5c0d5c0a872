// SPDX-License-Identifier: Apache-2.0
// Written by scripts/update devices from man/examples.

/// The device files that the program contains. The adapter `sim` has their devices.
package enum ShippedDeviceFiles {
  package static func all() throws(FileEntryError) -> [DeviceDescription] {
    [
      try DeviceFile.parse(Array(lock.utf8), name: "gate-lock.json"),
      try DeviceFile.parse(Array(band.utf8), name: "band-7.json"),
    ]
  }

  /// man/examples/gate-lock.json
  package static let lock = #"""
    // A door lock that opens with its code. It is one of the devices of the simulator (-i sim):
    //
    //   call mac:A4:C1:38:00:11:22 open code=@code.bin
    //
    // All locks of this model have the same name. Only the MAC in the manufacturer data differs. Its bytes are in reverse order.
    {
      "device": "GateLock",
      "summary": "a door lock",
      "match": {"name": "GateLock", "services": ["ffe0"]},
      "names": {"ffe0": "Lock", "ffe1": "Code", "ffe2": "Door"},
      "advertisement": {
        "mac": "mfg:0305@-6:le",
        "manufacturer_data": {"0305": {"fields": [{"name": "kind", "type": "bytes", "length": 2}, {"name": "mac", "type": "bytes", "length": 6}]}}
      },

      "to": "code",
      "from": "door",

      "commands": {
        "open": {
          "summary": "opens the door",
          // The characteristic accepts only writes without response, up to 20 bytes each, and not too fast.
          "mode": "command",
          "chunk": 20,
          "gap_ms": 10,
          "request": {"fields": [{"name": "code", "type": "bytes", "length": 104, "summary": "the code, whose bytes add up to 0"}]},
          "answer": {
            "frame": {"fields": [{"name": "door", "type": "text", "length": 4, "values": ["OPEN", "FAIL"]}]},
            "within_ms": 5000,
            "errors": {"field": "door", "ok": "OPEN", "codes": {"FAIL": "this is not the code"}}
          }
        }
      },

      "simulate": {
        "name": "GateLock",
        "address": "D1:00:00:00:00:01/random",
        "rssi": -58,
        "advertisement": {"flags": 6, "name": "GateLock", "services": ["ffe0"], "manufacturer_data": {"0305": "0101 22110038c1a4"}},
        "mtu": 23,
        "data_length": 27,
        "phys": ["1m"],
        "services": [
          {
            "uuid": "ffe0",
            "characteristics": [
              {
                "uuid": "ffe1",
                "properties": ["write_without_response"],
                "max_length": 20,
                // The code is complete after 104 bytes or a pause. A code of another length is wrong.
                "collect": {"octets": 104, "pause_ms": 2000},
                "reactions": [{"then": [{"notify": "ffe2", "value": {"utf8": "FAIL"}, "after_ms": 40}]}]
              },
              {"uuid": "ffe2", "properties": ["read", "notify"], "value": {"utf8": "SHUT"}}
            ]
          }
        ],
        "answers": {
          "open": [
            {
              "if": {"checksum": "sum8", "of": {"parameter": "code"}, "is": "00"},
              "do": [{"send": "answer", "values": {"door": "OPEN"}, "after_ms": 40}],
              "else": [{"send": "answer", "values": {"door": "FAIL"}, "after_ms": 40}]
            }
          ]
        },
        "others": [
          {
            "address": "D1:00:00:00:00:02/random",
            "rssi": -71,
            "advertisement": {"flags": 6, "name": "GateLock", "services": ["ffe0"], "manufacturer_data": {"0305": "0101 33110038c1a4"}}
          }
        ]
      }
    }

    """#

  /// man/examples/band-7.json
  package static let band = #"""
    // A wristband that answers with notifications, in one packet or several. It is one of the devices of the simulator (-i sim):
    //
    //   call name:Band-7 battery
    //   call name:Band-7 history
    {
      "device": "Band-7",
      "summary": "a wristband",
      "match": {"name": "Band-7", "services": ["fee0"]},
      "names": {"fee0": "Band", "ff01": "Answers", "ff02": "Commands"},
      "advertisement": {"mac": "mfg:0157@-6:be"},

      "to": "commands",
      "from": "answers",

      "frames": {
        "answer": {"header": "56", "fields": [{"body": true}, {"checksum": "sum8"}]}
      },

      "commands": {
        "battery": {
          "summary": "how full the battery is",
          "request": {"header": "1b9901"},
          "answer": {
            "frame": {"in": "answer", "header": "7b", "fields": [{"name": "level", "type": "u8", "unit": "%"}]},
            "within_ms": 2000
          }
        },
        "history": {
          "summary": "the steps of the last six days",
          "request": {"header": "1b9902"},
          "answer": {
            "frame": {
              "in": "answer",
              "header": "7c",
              "fields": [
                {"name": "total", "type": "u8"},
                {"name": "number", "type": "u8"},
                {"name": "steps", "type": "u16le", "count": 2}
              ]
            },
            "count": {"field": "total"},
            "index": "number",
            "within_ms": 2000
          }
        }
      },

      "events": {
        "heart_rate": {"from": "2a37", "frame": {"header": "00", "fields": [{"name": "rate", "type": "u8", "unit": "bpm"}]}}
      },

      "simulate": {
        "name": "Band-7",
        "address": "C0:FF:EE:00:00:07/public",
        "appearance": 192, // generic watch
        "rssi": -64,
        "advertisement": {
          "flags": 6,
          // 24 bytes. The last six are the MAC.
          "manufacturer_data": {"0157": "020a0700 ffffffffffffffffffffffffff 03 c0ffee000007"}
        },
        "scan_response": {"name": "Band-7", "services": ["180d", "fee0"]},
        "mtu": 185,
        "services": [
          {
            "uuid": "180a",
            "characteristics": [
              {"uuid": "2a29", "properties": ["read"], "value": {"utf8": "Simulated Bands"}},
              {"uuid": "2a23", "properties": ["read"], "value": "070000 feff eeffc0"}
            ]
          },
          {
            "uuid": "180f",
            "characteristics": [{"uuid": "2a19", "properties": ["read", "notify"], "value": {"u8": 60}}]
          },
          {
            "uuid": "180d",
            "characteristics": [
              {
                "uuid": "2a37",
                "properties": ["notify"],
                "periodic": {"every_ms": 1000, "values": ["0048", "004a", "0049", "004c", "004b"]}
              }
            ]
          },
          {
            "uuid": "fee0",
            "characteristics": [
              {"uuid": "ff01", "properties": ["notify"]},
              {"uuid": "ff02", "properties": ["write_without_response"]}
            ]
          }
        ],
        "answers": {
          "battery": {"values": {"level": {"number": {"value_of": "2a19"}}}, "after_ms": 20},
          "history": [
            {"send": "answer", "values": {"total": 3, "number": 1, "steps": [5120, 7310]}, "after_ms": 20},
            {"send": "answer", "values": {"total": 3, "number": 2, "steps": [10411, 4096]}, "after_ms": 30},
            {"send": "answer", "values": {"total": 3, "number": 3, "steps": [9027, 12650]}, "after_ms": 30}
          ]
        }
      }
    }

    """#
}
