#!/bin/sh
# adafruit-nrfutil 0.5.3.post16 (PyPI) packs one firmware for two when both inputs have the same file name.
#
# Many builds give every program the same name, e.g. application/zephyr.hex and bootloader/zephyr.hex. The tool names the files in the package after
# the inputs, without their folders, and does not copy an input whose name is already there. The first one wins: the manifest has two entries for one
# file, and the CRC in the bootloader's entry is that of the application, so entry and file agree. The tool says "Zip created" and exits with 0.
# The same inputs under different names make a right package.
#
# Output seen, for an application of 5000 bytes and a bootloader of 4096 bytes:
#   different names: Zip created at different.zip, application: application.bin, 5000 bytes; bootloader: bootloader.bin, 4096 bytes
#   same names: Zip created at same.zip, application: zephyr.bin, 5000 bytes; bootloader: zephyr.bin, 5000 bytes
#
# Needs python3 with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check adafruit-nrfutil==0.5.3.post16 intelhex==2.3.0
mkdir application bootloader
venv/bin/python - <<'PYTHON'
from intelhex import IntelHex
for name, address, size in (('application', 0x26000, 5000), ('bootloader', 0x74000, 4096)):
    image = IntelHex()
    image.puts(address, bytes((index * 7 + size) % 251 for index in range(size)))
    image.write_hex_file(f'{name}/zephyr.hex')
    image.write_hex_file(f'{name}.hex')
PYTHON
pack() {
  venv/bin/adafruit-nrfutil dfu genpkg --application "$2" --bootloader "$3" "$1"
}
different=$(pack different.zip application.hex bootloader.hex)
same=$(pack same.zip application/zephyr.hex bootloader/zephyr.hex)
venv/bin/python - "$different" "$same" <<'PYTHON'
import json, sys, zipfile
def parts(title, said):
    with zipfile.ZipFile(f'{title}.zip') as package:
        entries = json.loads(package.read('manifest.json'))['manifest']
        found = [(part, entries[part]['bin_file'], len(package.read(entries[part]['bin_file']))) for part in ('application', 'bootloader')]
    print(f'{title} names: {said},', '; '.join(f'{part}: {name}, {size} bytes' for part, name, size in found))
    checks = {entries[part]['init_packet_data']['firmware_crc16'] for part in ('application', 'bootloader')}
    return said, found, len(checks)
different, same = parts('different', sys.argv[1]), parts('same', sys.argv[2])
assert different == ('Zip created at different.zip', [('application', 'application.bin', 5000), ('bootloader', 'bootloader.bin', 4096)], 2)
assert same == ('Zip created at same.zip', [('application', 'zephyr.bin', 5000), ('bootloader', 'zephyr.bin', 5000)], 1)
PYTHON
