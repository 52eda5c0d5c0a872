#!/bin/sh
# ruuvitag-sensor 4.1.0 (PyPI) takes "not available" of a RuuviTag for a number in two fields of data format 5.
#
# docs.ruuvi.com, Data format 5 (RAWv2): each field has a value that stands for "not available". For the movement counter it is 255, for the
# measurement sequence number 65535. The decoder returns None for such a temperature, humidity, pressure, acceleration and battery, but
# 255 and 65535 for the two counters. A program that counts lost measurements from the sequence then sees a jump.
#
# Input: the document's example of a tag that knows none of its values. Output seen: movement_counter 255, measurement_sequence_number 65535.
#
# Needs python3 with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ruuvitag-sensor==4.1.0
"$folder/venv/bin/python" - <<'PYTHON'
from ruuvitag_sensor.decoder import Df5Decoder
values = Df5Decoder().decode_data('058000FFFFFFFF800080008000FFFFFFFFFFFFFFFFFFFFFF')
print({name: values[name] for name in ('temperature', 'battery', 'movement_counter', 'measurement_sequence_number')})
assert values['temperature'] is None and values['battery'] is None
assert values['movement_counter'] == 255 and values['measurement_sequence_number'] == 65535
PYTHON
