#!/usr/bin/env python3
"""Makes BTHome frames, and prints for each what bthome-ble reads in it: a JSON object a line.

bthome_frames.py [SEED]

{"address": …, "frame": hex, "key": hex or null, "objects": [[name, value, unit or null, {…}], …], "firmware": …, "device_type": …}
"""
import json
import logging
import random
import sys
from datetime import datetime

from bleak.backends.device import BLEDevice  # noqa: F401  (what habluetooth's class is made of)
from bthome_ble.const import MEAS_TYPES
from bthome_ble.parser import BTHomeBluetoothDeviceData
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from habluetooth import BluetoothServiceInfoBleak

UUID = '0000fcd2-0000-1000-8000-00805f9b34fb'
ROOM = 24  # octets of service data in an advertisement of 31 with flags
LONG = {0x53: b'', 0x54: b''}


class Reader(BTHomeBluetoothDeviceData):
    """Notes every object in the order of the frame, under its name without the number that tells equal ones apart."""

    def __init__(self, key):
        super().__init__(bytes.fromhex(key) if key else None)
        self.objects, self.firmware = [], None

    def update_sensor(self, key, native_unit_of_measurement, native_value, device_class=None, **_):
        value = native_value.isoformat() if isinstance(native_value, datetime) else native_value
        if key == 'signal_strength':
            return  # of the report, not of the frame
        self.objects.append([str(device_class.value), value, native_unit_of_measurement and str(native_unit_of_measurement.value), {}])

    def update_binary_sensor(self, key, native_value, device_class=None, **_):
        self.objects.append([str(device_class.value), native_value, None, {}])

    def fire_event(self, key, event_type, event_properties=None):
        self.objects.append([key.rstrip('0123456789').rstrip('_'), event_type, None, event_properties or {}])

    def set_device_sw_version(self, sw_version, device_id=None):
        if not sw_version.startswith('BTHome'):
            self.firmware = sw_version


def read(address, frame, key):
    service_info = BluetoothServiceInfoBleak(
        name='', address=address, rssi=-60, manufacturer_data={}, service_data={UUID: frame}, service_uuids=[UUID], source='', device=None,
        advertisement=None, connectable=False, time=0.0, tx_power=None)
    reader = Reader(key)
    reader.update(service_info)
    return {'address': address, 'frame': frame.hex(), 'key': key, 'objects': reader.objects, 'firmware': reader.firmware,
            'device_type': reader.device_type_id}


class Frames:
    def __init__(self, seed):
        self.random, self.number = random.Random(seed), 0

    def octets(self, count):
        return bytes(self.random.randrange(256) for _ in range(count))

    def give(self, frame, key=None, address=None):
        print(json.dumps(read(address or self.address(), frame, key)))

    def address(self):
        """Of the next frame."""
        self.number += 1
        return 'D1:00:00:00:%02X:%02X' % divmod(self.number, 256)

    def object(self, identifier, value=None):
        if identifier in (0x53, 0x54):
            data = value if value is not None else self.random.choice(['', 'a', 'Grüße', '\n"', '温度'])[:8].encode()
            return bytes([identifier, len(data)]) + data
        if identifier == 0x3B:
            count = self.random.randrange(4)
            return bytes([identifier, count, self.random.randrange(6)]) + self.octets(count)
        return bytes([identifier]) + (value if value is not None else self.octets(MEAS_TYPES[identifier].data_length))

    def several(self, room):
        """Objects in numerical order, some twice."""
        identifiers = []
        while 3 * len(identifiers) < room:
            identifiers.append(self.random.choice([*MEAS_TYPES, *20 * identifiers]))
        payload = b''
        for identifier in sorted(identifiers):
            each = self.object(identifier)
            if len(payload) + len(each) <= room:
                payload += each
        return payload

    def encrypted(self, address, payload, key, information):
        counter = self.octets(4)
        mac = bytes.fromhex(address.replace(':', ''))
        nonce = mac + b'\xd2\xfc' + bytes([information]) + counter
        sealed = AESCCM(bytes.fromhex(key), tag_length=4).encrypt(nonce, payload, None)
        place = mac[::-1] if information & 2 else b''
        return bytes([information]) + place + sealed[:-4] + counter + sealed[-4:]

    def all(self):
        for identifier, kind in MEAS_TYPES.items():
            if identifier in (0x53, 0x54, 0x3B):
                values = [None] * 4
            else:
                values = [bytes(kind.data_length), b'\xff' * kind.data_length, b'\x00' * (kind.data_length - 1) + b'\x80', None]
            for value in values:
                self.give(b'\x40' + self.object(identifier, value))
        for code in [*range(8), 0x80, 0x81, 0x82]:
            self.give(bytes([0x44, 0x3A, code]))
        for code in range(4):
            self.give(bytes([0x44, 0x3C, code, 5]))
        for code in range(6):
            for arguments in [b'', b'\x03', b'\x03\x04\x05']:
                self.give(bytes([0x44, 0x3B, len(arguments), code]) + arguments)
                self.give(bytes([0x44, 0x3B, 0xE0 | len(arguments), code]) + arguments)
        for _ in range(60):
            self.give(b'\x40' + self.several(ROOM - 1))
        for _ in range(3):
            whole = b'\x40' + self.several(ROOM - 1)
            for count in range(1, len(whole)):
                self.give(whole[:count])
        for _ in range(10):
            self.give(b'\x40' + self.object(2) + bytes([self.random.choice([0x30, 0x66, 0xE0, 0xFF])]) + self.octets(6))
        for _ in range(40):
            self.give(b'\x40' + self.octets(self.random.randrange(ROOM)))
        for number in range(60):
            address, key = self.address(), self.octets(16).hex()
            information = [0x41, 0x45, 0x41, 0x43][number % 4]
            payload = self.several(ROOM - 9 - (6 if information & 2 else 0)) or b'\x01\x20'
            frame = self.encrypted(address, payload, key, information)
            if number % 10 == 9:
                key = self.octets(16).hex()  # not the sender's
            self.give(frame, key, address)
        for payload in [b'\x02\xca\x09', b'\x02\xca']:
            for count in range(1, 10 + len(payload)):
                address, key = self.address(), self.octets(16).hex()
                self.give(self.encrypted(address, payload, key, 0x41)[:count], key, address)


if __name__ == '__main__':
    logging.disable(logging.CRITICAL)
    Frames(int(sys.argv[1]) if sys.argv[1:] else 9).all()
