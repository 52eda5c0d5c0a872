#!/bin/sh
# TheengsDecoder 2.5.0 (PyPI) decodes the acceleration of a RuuviTag ten times too small.
#
# Data format 5 of Ruuvi gives the acceleration in mG. The decoder's properties promise m/s², so a tag that lies still must give about 9.8 for the
# axis that points up. It gives 0.98: the factor is 0.000980665 instead of 0.00980665. The same holds for data format 3. Temperature, pressure,
# voltage and the counters of the same frame are right.
#
# Output seen, for frames of both formats with 1000 mG for z:
#   data format 5: accz 0.980665 m/s², right: 9.80665; tempc 24.3, volt 2.977
#   data format 3: accz 0.980665 m/s², right: 9.80665; tempc 26.3, volt 2.989
#
# Needs python3 with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check TheengsDecoder==2.5.0
venv/bin/python - <<'PYTHON'
import json, struct, sys
import TheengsDecoder
# Company 0x0499, then the format. 5: temperature, humidity, pressure, x, y, z (mG, big-endian), power, movements, sequence, address.
fifth = struct.pack('>BhHHhhhHBH', 5, 4860, 21395, 50044, 4, -4, 1000, (2977 - 1600) << 5 | 22, 66, 205) + bytes.fromhex('c0ffee000001')
# 3: humidity, temperature, its hundredths, pressure, x, y, z (mG), battery in mV.
third = struct.pack('>BBBBHhhhH', 3, 41, 26, 30, 52766, 4, -4, 1000, 2989)
wrong = False
for title, data, temperature, voltage in (('data format 5', fifth, 24.3, 2.977), ('data format 3', third, 26.3, 2.989)):
    found = json.loads(TheengsDecoder.decodeBLE(json.dumps({'id': 'C0:FF:EE:00:00:01', 'manufacturerdata': '9904' + data.hex()})))
    unit = json.loads(TheengsDecoder.getProperties(found['model_id']))['properties']['accz']['unit']
    print(f"{title}: accz {found['accz']} {unit}, right: 9.80665; tempc {found['tempc']}, volt {found['volt']}")
    wrong |= unit != 'm/s²' or abs(found['accz'] - 0.980665) > 1e-6 or (found['tempc'], found['volt']) != (temperature, voltage)
sys.exit(1 if wrong else 0)
PYTHON
