#!/usr/bin/env python3
"""Prints frames of beacons and what foreign decoders say of them: ruuvitag-sensor and inkbird-ble. One JSON object a line:
company and data (hex), the name of the device, and values by the names of blectl."""
import json
import logging
import random
import sys
import types

import ruuvitag_sensor.decoder as ruuvi
from habluetooth import BluetoothServiceInfoBleak
from inkbird_ble import INKBIRDBluetoothDeviceData

RUUVI = {
    'temperature': 'temperature_c', 'humidity': 'humidity_percent', 'pressure': 'pressure_hpa', 'acceleration_x': 'acceleration_x_mg',
    'acceleration_y': 'acceleration_y_mg', 'acceleration_z': 'acceleration_z_mg', 'battery': 'battery_mv', 'tx_power': 'tx_power',
    'movement_counter': 'movements', 'measurement_sequence_number': 'sequence', 'pm_1': 'pm1_ugm3', 'pm_2_5': 'pm2_5_ugm3',
    'pm_4': 'pm4_ugm3', 'pm_10': 'pm10_ugm3', 'co2': 'co2_ppm', 'voc': 'voc_index', 'nox': 'nox_index', 'luminosity': 'luminosity_lx',
}


def say(company, data, name, values):
    print(json.dumps({'company': company, 'data': data.hex(), 'name': name,
                      'values': {key: value for key, value in values.items() if value is not None}}))


def ruuvi_frames(numbers):
    for form, kind, length in ((3, 3, 14), (5, 5, 24), (6, 6, 20), (0xE1, 'E1', 40)):
        for _ in range(40):
            data = bytes([form]) + numbers.randbytes(length - 1)
            said = ruuvi.get_decoder(kind).decode_data(data.hex())
            say('0499', data, None, {RUUVI[key]: value for key, value in said.items() if key in RUUVI})


def inkbird_frames(numbers):
    for name in ('sps', 'tps'):
        for count in range(40):
            temperature, humidity, battery = numbers.randint(-4000, 8000), numbers.randint(0, 12000), numbers.randint(0, 120)
            if count == 0:
                humidity = 0
            data = temperature.to_bytes(2, 'little', signed=True) + humidity.to_bytes(2, 'little') + b'\0\1\2' + bytes([battery, 8])
            company = int.from_bytes(data[:2], 'little')
            device = types.SimpleNamespace(address='49:22:08:01:02:03', name=name, details={})
            info = BluetoothServiceInfoBleak(
                name=name, address=device.address, rssi=-60, manufacturer_data={company: data[2:]}, service_data={},
                service_uuids=['0000fff0-0000-1000-8000-00805f9b34fb'], source='local', device=device, advertisement=None, connectable=False,
                time=0, tx_power=None)
            said = INKBIRDBluetoothDeviceData().update(info)
            names = {'temperature': 'temperature_c', 'humidity': 'humidity_percent', 'battery': 'battery_percent'}
            values = {names[key.key]: value.native_value for key, value in said.entity_values.items() if key.key in names}
            say(f'{company:04x}', data[2:], name, values)


if __name__ == '__main__':
    logging.disable(logging.CRITICAL)
    numbers = random.Random(int(sys.argv[1]) if sys.argv[1:] else 9)
    ruuvi_frames(numbers)
    inkbird_frames(numbers)
