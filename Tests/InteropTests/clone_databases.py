"""Ten devices for Bumble's GATT server, modelled on well-known ones: heart rate belts, keyboards, hearing aids, and awkward ones.

A value is bytes, a function of the connection, the code of the error that refuses reads, or None for what is not readable.
"""
import struct

from bumble import att, gatt
from bumble.core import UUID
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, IncludedServiceDeclaration, Service
from bumble.profiles.ascs import AudioStreamControlService
from bumble.profiles.asha import AshaService
from bumble.profiles.bap import AudioLocation, ContextType
from bumble.profiles.battery_service import BatteryService
from bumble.profiles.cap import CommonAudioServiceService
from bumble.profiles.csip import CoordinatedSetIdentificationService, SirkType
from bumble.profiles.device_information_service import DeviceInformationService
from bumble.profiles.heart_rate_service import HeartRateService
from bumble.profiles.pacs import PublishedAudioCapabilitiesService
from bumble.profiles.vcs import VolumeControlService
from bumble.profiles.vocs import VolumeOffsetControlService

from bumble_air import refused

P, A = Characteristic.Properties, Characteristic.Permissions
ENCRYPTED, AUTHENTICATED, AUTHORIZED = A.READ_REQUIRES_ENCRYPTION, A.READ_REQUIRES_AUTHENTICATION, A.READ_REQUIRES_AUTHORIZATION


def readable(value):
    if isinstance(value, bytes):
        return value
    return CharacteristicValue(read=value if callable(value) else refused(value or att.ATT_READ_NOT_PERMITTED_ERROR))


def item(uuid, properties, value=None, descriptors=(), permissions=A(0)):
    return Characteristic(uuid, properties, permissions, readable(value), [
        Descriptor(kind, permissions, readable(content)) for kind, content in descriptors])


def counter():
    """A value that is another one at each read."""
    count = iter(range(1, 1 << 30))
    return lambda _: struct.pack('<I', next(count))


def own(number):
    return f'8E7F{number:04X}-40B2-4C1A-9D5E-0C1FA2B3D4E5'


def ad(*structures):
    return b''.join(bytes([len(data) // 2 + 1, kind]) + bytes.fromhex(data) for kind, data in structures)


def named(name):
    return ad((1, '06'), (9, name.encode().hex()))


class Database:
    advertisement, scan_response, mtu, pairs, defaults = named('Device'), b'', 517, False, True

    def services(self, device):
        raise NotImplementedError

    def handles(self, server):
        """The handles of the attributes, where they are not 1, 2, 3 and so on."""
        return {}

    def fill(self, device):
        device.gatt_server.max_mtu = self.mtu
        device.add_services(self.services(device))
        new = self.handles(device.gatt_server)
        for attribute in device.gatt_server.attributes:
            attribute.handle = new.get(attribute.handle, attribute.handle)
            attribute.end_group_handle = new.get(attribute.end_group_handle, attribute.end_group_handle)
        for attribute in device.gatt_server.attributes:
            if getattr(attribute.value, '_read', True) is None:
                attribute.value._read = refused(att.ATT_READ_NOT_PERMITTED_ERROR)    # Bumble would not answer
            if new and attribute.type == gatt.GATT_CHARACTERISTIC_ATTRIBUTE_TYPE:
                attribute.value = attribute.value[:1] + struct.pack('<H', attribute.characteristic.handle) + attribute.value[3:]
            if isinstance(attribute, IncludedServiceDeclaration):
                # Only 16-bit UUIDs are part of the declaration. Bumble adds two bytes of the others.
                short = attribute.service.uuid.to_pdu_bytes()
                attribute.value = struct.pack('<HH', attribute.service.handle, attribute.service.end_group_handle) + (
                    short if len(short) == 2 else b'')


class Belt(Database):
    """A heart rate belt, with a battery that is read."""
    advertisement = ad((1, '06'), (3, '0d180f18'), (9, 'Belt'.encode().hex()))

    def services(self, device):
        level = iter(range(100, 0, -1))
        return [
            DeviceInformationService('Maker', 'Belt 2', '0042', 'A', '1.2.3', '', (0x123456, 0x789ABCDEF0), b'\xfe\0experimental'),
            HeartRateService(refused(att.ATT_READ_NOT_PERMITTED_ERROR), HeartRateService.BodySensorLocation.CHEST, lambda _: None),
            BatteryService(lambda _: next(level)),
        ]


class Keyboard(Database):
    """HID over GATT, all of it for encrypted links only."""
    advertisement, scan_response = ad((1, '05'), (0x19, 'c103'), (3, '1218')), ad((8, 'Keys'.encode().hex()))
    pairs = True

    def services(self, device):
        def report(number, kind, properties):
            return item('2A4D', properties, bytes(8 if kind == 1 else 1), [('2908', bytes([number, kind]))], ENCRYPTED)
        return [
            Service('180F', [item('2A19', P.READ | P.NOTIFY, b'\x5a', [('2904', bytes.fromhex('040000ad270100 00'))])]),
            Service('1812', [
                item('2A4E', P.READ | P.WRITE_WITHOUT_RESPONSE, b'\1', permissions=ENCRYPTED),
                report(1, 1, P.READ | P.NOTIFY), report(1, 2, P.READ | P.WRITE | P.WRITE_WITHOUT_RESPONSE), report(2, 3, P.READ | P.WRITE),
                item('2A4B', P.READ, bytes(range(67)), [('2907', b'\x19\x2a')], ENCRYPTED),
                item('2A22', P.READ | P.NOTIFY, bytes(8), permissions=ENCRYPTED),
                item('2A32', P.READ | P.WRITE | P.WRITE_WITHOUT_RESPONSE, b'\0', permissions=ENCRYPTED),
                item('2A4A', P.READ, bytes.fromhex('11010003'), permissions=ENCRYPTED),
                item('2A4C', P.WRITE_WITHOUT_RESPONSE),
            ]),
            Service('1813', [item('2A4F', P.WRITE_WITHOUT_RESPONSE), item('2A31', P.NOTIFY)]),
        ]


class Serial(Database):
    """Nordic's UART, with nothing else: not even 1800 and 1801."""
    advertisement = ad((1, '06'), (9, 'UART'.encode().hex()))
    scan_response = ad((7, '9ecadc240ee5a9e093f3a3b50100406e'))
    mtu, defaults = 247, False

    def services(self, device):
        uuid = '6E40000{}-B5A3-F393-E0A9-E50E24DCCA9E'
        return [Service(uuid.format(1), [
            item(uuid.format(2), P.WRITE | P.WRITE_WITHOUT_RESPONSE), item(uuid.format(3), P.NOTIFY)])]


class Phone(Database):
    """Apple's notification and media services, which need more than a link: authentication, and once authorization."""
    advertisement = ad((1, '1a'), (0x15, 'd0002d121e4b0fa4994eceb531f40579'))
    pairs = True

    def services(self, device):
        return [
            Service('7905F431-B5CE-4E99-A40F-4B1E122D00D0', [
                item('69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9', P.WRITE, permissions=AUTHENTICATED),
                item('9FBF120D-6301-42D9-8C58-25E699A21DBD', P.NOTIFY, permissions=AUTHENTICATED),
                item('22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB', P.NOTIFY, permissions=AUTHENTICATED)]),
            Service('89D3502B-0F36-433A-8EF4-C502AD55F8DC', [
                item('9B3C81D8-57B1-4A8A-B8DF-0E56F7CA51C2', P.WRITE | P.NOTIFY),
                item('2F7CABCE-808D-411F-9A0C-BB92BA96C102', P.WRITE | P.NOTIFY),
                item('C6B2F38C-23AB-46D8-A6AB-A3A870BBD5D7', P.READ | P.WRITE, b'title', permissions=AUTHENTICATED),
                item(own(1), P.READ, b'never', permissions=AUTHORIZED)]),
            Service('D0611E78-BBB4-4591-A5F8-487910AE4366', [
                item('8667556C-9A37-4C91-84ED-54EE27D90049', P.WRITE | P.NOTIFY | P.EXTENDED_PROPERTIES, descriptors=[('2900', b'\0\0')])]),
        ]


class HearingAid(Database):
    """ASHA and LE Audio, with services that include others."""
    advertisement = ad((1, '06'), (0x16, 'f0fd010001020304'), (0x2E, '0102030405aa'))
    pairs = True

    def services(self, device):
        group = CoordinatedSetIdentificationService(bytes(range(16)), SirkType.PLAINTEXT, 2, set_member_rank=1)
        offset = VolumeOffsetControlService()
        volume = VolumeControlService(volume_setting=77, included_services=[offset])
        everything = ContextType(0x0FFF)
        return [
            AshaService(3, bytes(range(8)), device, psm=0x80),
            PublishedAudioCapabilitiesService(everything, everything, everything, everything, sink_audio_locations=AudioLocation(1)),
            AudioStreamControlService(device, source_ase_id=[3], sink_ase_id=[1, 2]),
            group, CommonAudioServiceService(group), offset, volume,
        ]


class Automation(Database):
    """Automation IO: many characteristics of one UUID, told apart by their descriptors."""
    mtu = 23

    def services(self, device):
        def channel(number, uuid, properties, value, *more):
            return item(uuid, properties | P.EXTENDED_PROPERTIES, value, [
                ('2900', b'\2\0'), ('2901', f'Channel {number}'.encode()), ('2904', bytes([6, 0, 0, 0x27, 1, number, 0])),
                ('2909', b'\4'), *more])
        aggregate = item('2A5A', P.READ | P.NOTIFY, counter(), [('2905', bytes.fromhex('0f001600')), ('2901', 'Übersicht'.encode())])
        return [Service('1815', [
            channel(1, '2A56', P.READ | P.NOTIFY, b'\1', ('290A', b'\0\1'), ('290E', b'\2\x0a')), channel(2, '2A56', P.WRITE, None),
            channel(3, '2A58', P.READ | P.INDICATE, b'\0\x80', ('2906', bytes(4))), channel(4, '2A58', P.READ | P.WRITE, b'\0\0'), aggregate])]


class Clock(Database):
    """The current time, which is another one at each read, beside what does not change."""
    advertisement = ad((1, '04'), (9, 'Clock'.encode().hex()), (0x14, '0518'), (0x0A, 'f6'))

    def services(self, device):
        return [
            Service('1805', [item('2A2B', P.READ | P.WRITE | P.NOTIFY, counter()), item('2A0F', P.READ | P.WRITE, b'\x04\x04'),
                             item('2A14', P.READ, bytes.fromhex('0102ff00'))]),
            Service('1807', [item('2A11', P.READ, bytes.fromhex('e807031f0200 0004'))]),
            Service('1806', [item('2A16', P.WRITE_WITHOUT_RESPONSE), item('2A17', P.READ, counter())]),
        ]


class Glucose(Database):
    """A meter whose values need encryption, authentication or authorization, each with its error."""
    advertisement, scan_response = ad((1, '06'), (2, '0818')), ad((9, 'Meter'.encode().hex()), (0xFF, 'ffff0102'))
    pairs = True

    def services(self, device):
        return [
            Service('1808', [item('2A18', P.NOTIFY, permissions=ENCRYPTED), item('2A34', P.NOTIFY, permissions=ENCRYPTED),
                             item('2A51', P.READ, bytes.fromhex('3f04'), permissions=ENCRYPTED),
                             item('2A52', P.WRITE | P.INDICATE, permissions=AUTHENTICATED)]),
            Service('180A', [item('2A29', P.READ, b'Maker'), item('2A25', P.READ, b'0815', permissions=AUTHENTICATED),
                             item('2A23', P.READ, bytes(8), permissions=AUTHORIZED),
                             item('2A2A', P.READ, b'\xfe\0', [('2901', b'only with a key')], ENCRYPTED)]),
        ]


class Gaps(Database):
    """Secondary services, includes with long UUIDs, and handles with gaps: services begin at multiples of 16."""
    advertisement, mtu = b'', 64

    def services(self, device):
        inner = Service(own(3), [item(own(4), P.READ, b'inner')], primary=False)
        middle = Service(own(2), [item(own(5), P.READ | P.NOTIFY, b'middle')], primary=False, included_services=[inner])
        return [
            inner, middle,
            Service(own(1), [item(own(6), P.READ, b'outer', [('2901', b'one'), (own(7), b'two'), ('2901', b'three')])],
                    included_services=[middle, inner]),
            Service('FFF0', [item('FFF1', P.READ, b'a'), item('FFF1', P.READ, b'b'), item(own(8), P.READ, b'c')]),
            Service('FFF0', []), Service('FFF0', [item('FFF2', P.INDICATE)]),
            # With 16 bytes each: some stacks never shorten what a program writes in full.
            Service('0000FFE0-0000-1000-8000-00805F9B34FB', [item('0000FFE1-0000-1000-8000-00805F9B34FB', P.READ, b'long')]),
        ]

    def handles(self, server):
        new, last = {}, 0
        for attribute in server.attributes:
            wide = attribute.type in (gatt.GATT_PRIMARY_SERVICE_ATTRIBUTE_TYPE, gatt.GATT_SECONDARY_SERVICE_ATTRIBUTE_TYPE)
            step = 2 if isinstance(attribute, Descriptor) else 3 if isinstance(attribute, Characteristic) else 1
            last = new[attribute.handle] = (last // 16 + 1) * 16 if wide else last + step
        return new


class Values(Database):
    """Long and empty values, those at the border of one response, and every error of a read."""
    mtu = 185

    def services(self, device):
        lengths = [0, 1, 20, 21, 22, 23, 183, 184, 185, 368, 369, 511, 512]
        codes = [0x02, 0x03, 0x05, 0x06, 0x08, 0x0C, 0x0D, 0x0E, 0x0F, 0x11, 0x13, 0x80, 0x9F, 0xFC, 0xFD, 0xFE, 0xFF]
        return [
            Service(own(0x100), [item(own(0x200 + length), P.READ, bytes(index * 7 + length & 255 for index in range(length)))
                                 for length in lengths]),
            Service(own(0x101), [item(own(0x500 + code), P.READ, code) for code in codes]),
            Service(own(0x102), [
                item(own(0x600), P.READ, b'readable', [('2901', 0x0E), ('2904', None), (own(0x601), bytes(300)), ('2901', b'')]),
                item(own(0x602), P(0), b'no property'), item(own(0x603), P.WRITE, b'readable nevertheless'), item(own(0x604), P.READ),
                item(own(0x605), P.BROADCAST | P.AUTHENTICATED_SIGNED_WRITES, None, [('2903', b'\0\0')])]),
        ]


DATABASES = {kind.__name__: kind for kind in Database.__subclasses__()}
