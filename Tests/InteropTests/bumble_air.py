"""A peripheral, and air to reach it through, both on Bumble: a Bluetooth stack that shares no line of code with blectl.

bumble_air.py [PORT]            A virtual radio link with two controllers. One is served as H4 on 127.0.0.1:PORT (0: any free port)
                                for `blectl -i tcp:127.0.0.1:PORT`; the other drives the peripheral. Prints "READY PORT".
bumble_air.py --vhci            The same air, but the kernel gets the controller: through /dev/vhci, as an adapter of its own. Prints
                                "READY hciN". The end of this process, however it comes, unplugs the adapter.
bumble_air.py --transport SPEC  Only the peripheral, on a Bumble transport such as hci-socket:1. Prints "READY SPEC".

After READY, standard output carries one JSON object per line for what happens. Ends when standard input closes, and on SIGTERM.
Lines on standard input: "away" takes the peripheral out of range (links are lost, no advertisement is heard), "back" returns it
(neither with --transport); "bye" lets it end its link; "slow" lets it ask its central for a connection interval of 100 ms;
"secure:KEY" lets it ask its central for encryption, with KEY (32 hex digits) as the key of their bond.
"pairing:none" lets it pair without display and keyboard (the default), "pairing:legacy" likewise but without LE Secure Connections,
"pairing:246810" lets it display that passkey, "pairing:compare" lets it compare numbers; "pairing:IO/SC/MITM" sets the three numbers
of its features, with the passkey 246810; "pairing:silent" lets it answer nothing; "forget" removes its keys. A pairing ends with
the event "paired" or "failed".
"private" lets it advertise with another resolvable private address, "static" with its static address again; "impostor" with the
resolvable private address of another device, which claims the same identity. All end with the event "address", and must not be said
while a link is up.

Service FFE0:
  FFE1 write, write without response   counted; "burst" also sends 100 notifications of FFE5 and 10 indications of FFE6 to who
                                       subscribed, "ping" answers with the notification "pong" on FFE2
  FFE2 read, notify                    "hello lock"
  FFE3 read                            512 bytes 00 01 .. ff 00 01 .. ff
  FFE4 read, write                     keeps up to 512 bytes (long writes)
  FFE5 notify / FFE6 indicate          once subscribed: "tick N", three of them 100 ms apart every second
  FFE7 read                            u32le bytes and u32le CRC-32 of what arrived at FFE1 and FFE9
  FFE8 write                           00: counts from zero again; 01 and u32le N: disconnects after N more bytes; 02: disconnects now;
                                       03 and u32le N: as 01, but the link is lost as if out of range (reason 08; not with --transport)
  FFE9 write without response          counted like FFE1
  FFEA read                            only over an encrypted link
Service 6f1c0001-…: 6f1c0002-… read, write "custom" with a user description (2901) and a presentation format (2904).
"""
import argparse
import asyncio
import json
import logging
import os
import signal
import struct
import sys
import threading
import zlib

from bumble import att, gatt, hci, link, ll
from bumble.controller import Controller
from bumble.core import AdvertisingData, PhysicalTransport
from bumble.device import Device, DeviceConfiguration
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink, PacketParser

ADDRESS = 'F0:F1:F2:F3:F4:F5'
SECOND = 'F0:F1:F2:F3:F4:F6'
CENTRAL = '00:1B:DC:00:00:01'
IRK = bytes(range(16))
IRKS = {'private': IRK, 'impostor': bytes(range(16, 32))}
SUPERVISION_TIMEOUT = 0x08
UUID_128 = '6f1c%04x-8a3e-4b52-9c1d-2e7f90a1b3c4'


def report(event, **fields):
    print(json.dumps({'event': event, **fields}), flush=True)


# ---------------------------------------------------------------------------------------------------------------- the peripheral

def refused(code):
    def refuse(*_):
        raise att.ATT_Error(error_code=code)
    return refuse


def value(read=None, write=None):
    """Bumble 0.0.236 checks no read or write permission by itself: what a characteristic does not offer has to refuse."""
    return CharacteristicValue(read=read or refused(att.ATT_READ_NOT_PERMITTED_ERROR),
                               write=write or refused(att.ATT_WRITE_NOT_PERMITTED_ERROR))


class Lock:
    def __init__(self, device, vanish=None):
        """vanish(connection) makes the link break without a goodbye, where the radio can do that."""
        self.device, self.vanish = device, vanish
        self.count, self.crc = 0, 0
        self.fuse = None            # (bytes that may still arrive, how to end the link then)
        self.deaf = False           # while the link ends, what still arrives counts, and no command is obeyed
        self.summary = None         # timer that reports bytes once they stop coming
        self.tasks = {}
        self.stored = b''
        self.custom = b'custom'

        P, R, W = Characteristic.Properties, Characteristic.READABLE, Characteristic.WRITEABLE
        self.hello = Characteristic('FFE2', P.READ | P.NOTIFY, R, value(lambda _: b'hello lock'))
        self.notifier = Characteristic('FFE5', P.NOTIFY, R, value())
        self.indicator = Characteristic('FFE6', P.INDICATE, R, value())
        server = device.gatt_server
        self.notifier.on(Characteristic.EVENT_SUBSCRIPTION, lambda connection, notify, _: self.subscribed(
            connection, self.notifier, notify, server.notify_subscriber))
        self.indicator.on(Characteristic.EVENT_SUBSCRIPTION, lambda connection, _, indicate: self.subscribed(
            connection, self.indicator, indicate, server.indicate_subscriber))
        device.add_service(Service('FFE0', [
            Characteristic('FFE1', P.WRITE | P.WRITE_WITHOUT_RESPONSE, W, value(write=self.received)),
            self.hello,
            Characteristic('FFE3', P.READ, R, value(lambda _: bytes(range(256)) * 2)),
            Characteristic('FFE4', P.READ | P.WRITE, R | W, value(lambda _: self.stored, self.store)),
            self.notifier,
            self.indicator,
            Characteristic('FFE7', P.READ, R, value(lambda _: struct.pack('<II', self.count, self.crc))),
            Characteristic('FFE8', P.WRITE, W, value(write=self.control)),
            Characteristic('FFE9', P.WRITE_WITHOUT_RESPONSE, W, value(write=self.received)),
            Characteristic('FFEA', P.READ, R | Characteristic.READ_REQUIRES_ENCRYPTION, value(lambda _: b'secret')),
        ]))
        device.add_service(Service(UUID_128 % 1, [
            Characteristic(UUID_128 % 2, P.READ | P.WRITE, R | W, value(lambda _: self.custom, self.customize), [
                Descriptor(gatt.GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR, R, value(lambda _: b'Custom text')),
                # UTF-8, exponent 0, no unit (2700), name space SIG, description 0
                Descriptor(gatt.GATT_CHARACTERISTIC_PRESENTATION_FORMAT_DESCRIPTOR, R,
                           value(lambda _: bytes.fromhex('19000027010000'))),
            ]),
        ]))
        device.on('connection', self.connected)

    def report(self, event, **fields):
        report(event, device=self.device.name, **fields)

    def connected(self, connection):
        self.report('connected', peer=str(connection.peer_address), public=connection.peer_address.is_public)
        self.deaf = False   # the fuse stays: it may be lit on one link for the next
        connection.on('connection_att_mtu_update', lambda: self.report('mtu', mtu=connection.att_mtu))
        connection.on('connection_parameters_update', lambda: self.report('parameters', interval_ms=connection.parameters.connection_interval,
              latency=connection.parameters.peripheral_latency, supervision_timeout_ms=connection.parameters.supervision_timeout))
        connection.on('connection_phy_update', lambda phy: self.report('phy', tx=int(phy.tx_phy), rx=int(phy.rx_phy)))
        connection.on('connection_data_length_change', lambda: self.report(
            'data_length', tx=connection.data_length.max_tx_octets, rx=connection.data_length.max_rx_octets))
        connection.on('connection_encryption_change', lambda: self.report('encryption', on=bool(connection.encryption)))
        connection.on('pairing', lambda keys: self.report('paired', **outcome(self.device.pairing_config_factory(connection), keys)))
        connection.on('pairing_failure', lambda reason: self.report('failed', reason=int(reason)))
        connection.on('disconnection', self.disconnected)

    def disconnected(self, reason):
        for task in self.tasks.values():
            task.cancel()
        self.tasks.clear()
        self.report_bytes()
        self.report('disconnected', reason=reason)

    # Bytes in

    def received(self, connection, data):
        # Also while the link ends: ATT answers until it is down, so what was answered for has arrived.
        self.count += len(data)
        self.crc = zlib.crc32(data, self.crc)
        if self.deaf:
            return
        if self.summary is None:
            self.summary = asyncio.get_running_loop().call_later(0.2, self.report_bytes)
        if self.fuse:
            left, end = self.fuse
            self.fuse = (left - len(data), end)
            if left <= len(data):
                self.end(connection, end)
        if data == b'burst':
            self.start('burst', self.burst(connection))
        elif data == b'ping':
            self.start('pong', self.device.gatt_server.notify_subscriber(connection, self.hello, b'pong'))

    def report_bytes(self):
        if self.summary is not None:
            self.summary.cancel()
            self.summary = None
            self.report('bytes', count=self.count, crc32=f'{self.crc:08x}')

    def store(self, _, data):
        if len(data) > 512:
            raise att.ATT_Error(error_code=att.ATT_INVALID_ATTRIBUTE_LENGTH_ERROR)
        self.stored = bytes(data)
        self.report('stored', bytes=len(data), crc32=f'{zlib.crc32(data):08x}')

    def customize(self, _, data):
        self.custom = bytes(data)

    def control(self, connection, data):
        kind = data[0] if data else None
        if kind not in (0, 1, 2, 3):
            raise att.ATT_Error(error_code=0x80)   # an application error
        if len(data) != (1 if kind in (0, 2) else 5):
            raise att.ATT_Error(error_code=att.ATT_INVALID_ATTRIBUTE_LENGTH_ERROR)
        if kind == 0:
            self.count, self.crc, self.fuse = 0, 0, None
            self.report('reset')
        elif kind == 2:   # after the response to this very write went out
            asyncio.get_running_loop().call_later(0.02, self.end, connection, self.say_goodbye)
        else:
            vanishes = kind == 3 and self.vanish
            self.fuse = (int.from_bytes(data[1:], 'little'), self.vanish if vanishes else self.say_goodbye)

    def end(self, connection, how):
        self.fuse, self.deaf = None, True
        self.report('dropping', count=self.count)
        how(connection)

    def say_goodbye(self, connection):
        self.start('goodbye', connection.disconnect())

    # Notifications and indications out

    def start(self, name, work):
        if old := self.tasks.pop(name, None):
            old.cancel()
        task = self.tasks[name] = asyncio.get_running_loop().create_task(work)
        # The link may be gone before the last of them; that is no news.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())

    def subscribed(self, connection, characteristic, on, send):
        self.report('subscribed', uuid=characteristic.uuid.to_hex_str().lower(), on=on)
        if on:
            self.start(characteristic, self.tick(connection, characteristic, send))
        elif task := self.tasks.pop(characteristic, None):
            task.cancel()

    async def tick(self, connection, characteristic, send):
        number = 0
        while True:
            for _ in range(3):
                await asyncio.sleep(0.1)
                number += 1
                await send(connection, characteristic, b'tick %d' % number)
            await asyncio.sleep(0.7)

    async def burst(self, connection):
        for number in range(100):
            await self.device.gatt_server.notify_subscriber(connection, self.notifier, b'burst %d' % number)
        for number in range(10):
            await self.device.gatt_server.indicate_subscriber(connection, self.indicator, b'burst %d' % number)


class Display(PairingDelegate):
    """Displays or enters a fixed passkey, as many products do, and agrees with each number."""

    def __init__(self, ability, passkey=0):
        super().__init__(ability)
        self.passkey = passkey
        self.question = None    # the last one, with its number

    def note(self, question, number):
        self.question = f'{question} {number:06}'
        report(question, number=f'{number:06}')

    async def generate_passkey(self):
        return self.passkey

    async def get_number(self):
        self.note('entered', self.passkey)
        return self.passkey

    async def display_number(self, number, digits):
        self.note('displayed', number)

    async def compare_numbers(self, number, digits):
        self.note('compared', number)
        return True


class Keys(MemoryKeyStore):
    """Bumble's peripheral stores the two keys of legacy pairing the wrong way round, and would use the key of its own role."""

    async def update(self, name, keys):
        keys.ltk_central, keys.ltk_peripheral = keys.ltk_peripheral, keys.ltk_central
        await super().update(name, keys)


def pairing_config(kind):
    # Its identity: its public address may be missing.
    own = PairingConfig.AddressType.RANDOM
    if '/' in kind:
        ability, secure, mitm = map(int, kind.split('/'))
        return PairingConfig(sc=bool(secure), mitm=bool(mitm), identity_address_type=own,
                             delegate=Display(PairingDelegate.IoCapability(ability), 246810))
    if kind in ('none', 'legacy'):
        return PairingConfig(sc=kind == 'none', mitm=False, identity_address_type=own)
    if kind == 'compare':
        return PairingConfig(delegate=Display(PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT), identity_address_type=own)
    return PairingConfig(delegate=Display(PairingDelegate.DISPLAY_OUTPUT_ONLY, int(kind)), identity_address_type=own)


async def rotate(device, address, advertise):
    """Advertises with another address. Bumble's own update_rpa sets the address that it had before."""
    await device.stop_advertising()
    await device.send_sync_command(hci.HCI_LE_Set_Random_Address_Command(random_address=address))
    device.random_address = address
    await advertise()
    report('address', address=str(address).partition('/')[0])


def outcome(config, keys):
    """How a pairing went, as this side sees it. Bumble calls every link authenticated, but not every key."""
    return {'authenticated': (keys.ltk or keys.ltk_central).authenticated, 'secure_connections': keys.ltk is not None,
            'question': getattr(config.delegate, 'question', None)}


# btvirt answers this one with the status only, which Bumble takes for a broken packet, and then waits for an answer for ever.
hci.HCI_LE_Remote_Connection_Parameter_Request_Reply_Command.return_parameters_class = hci.HCI_StatusReturnParameters


async def peripheral(source, sink, options, vanish=None, name='Lock-01', address=ADDRESS):
    device = Device.from_config_with_hci(DeviceConfiguration(name=name, address=hci.Address(address)), source, sink)
    device.gatt_server.max_mtu = options.mtu
    Lock(device, vanish)
    device.advertising_data = bytes(AdvertisingData([
        (AdvertisingData.FLAGS, bytes([6])),
        (AdvertisingData.COMPLETE_LOCAL_NAME, name.encode()),
        (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, bytes.fromhex('4c01' + address.replace(':', ''))),
    ]))
    device.scan_response_data = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b'\xe0\xff')]))
    await device.power_on()
    device.keystore = Keys()
    await advertise(device, options)
    return device


def advertise(device, options):
    return device.start_advertising(
        own_address_type=hci.OwnAddressType.PUBLIC if options.public else hci.OwnAddressType.RANDOM,
        auto_restart=True, advertising_interval_min=100, advertising_interval_max=100)


# ----------------------------------------------------------------------------------------------------------------------- the air

class Air(link.LocalLink):
    away = False    # the peripheral, out of range

    def send_advertising_pdu(self, sender_controller, packet):
        if not self.away:
            super().send_advertising_pdu(sender_controller, packet)

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        """Bumble's own takes the sender's random address for the source, whatever address the link was made with: packets of a
        host that connects from its public address would reach nobody."""
        connection = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if connection and receiver:
            asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, connection.self_address, PhysicalTransport.LE, data)


class AirController(Controller):
    """Bumble's controller, with what a host needs to survive on it."""

    tunable = (hci.LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION | hci.LeFeatureMask.LE_2M_PHY | hci.LeFeatureMask.LE_CODED_PHY)

    def __init__(self, name, air, address, kind, acl=None):
        super().__init__(name, link=air, public_address=address)
        self.kind = kind
        if acl:
            self.le_acl_data_packet_length, self.total_num_le_acl_data_packets = acl
        extended = {hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND, hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND,
                    hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND}
        # Bumble claims the extended advertising feature but not its commands, and commands that it does not have.
        if kind != 'bumble':
            self.supported_commands = {code for code in self.supported_commands if self.handles(hci.HCI_Command.command_name(code))}
        if kind == 'extended':
            self.supported_commands |= extended
        if kind != 'bumble' and not self.handles('HCI_LE_Set_PHY_Command'):
            self.le_features &= ~self.tunable
        if kind == 'legacy':   # also decides which advertising reports Bumble sends
            self.le_features &= ~(hci.LeFeatureMask.LE_EXTENDED_ADVERTISING | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING)

    def handles(self, name):
        return hasattr(self, f'on_{name.lower()}')

    def on_hci_command_packet(self, command):
        # Bumble leaves unknown commands unanswered when they are of those that get a Command Status.
        if isinstance(command, hci.HCI_SyncCommand) or self.handles(command.name):
            super().on_hci_command_packet(command)
        else:
            self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)

    def send_hci_packet(self, packet):
        # A host that unmasked LE Enhanced Connection Complete gets that, and waits for it: the kernel sends nothing else for 4 s.
        if isinstance(packet, hci.HCI_LE_Connection_Complete_Event) and self.kind != 'bumble' and self.le_event_mask & 1 << 9:
            packet = hci.HCI_LE_Enhanced_Connection_Complete_Event(
                status=packet.status, connection_handle=packet.connection_handle, role=packet.role,
                peer_address_type=packet.peer_address_type, peer_address=packet.peer_address,
                local_resolvable_private_address=hci.Address.ANY, peer_resolvable_private_address=hci.Address.ANY,
                connection_interval=packet.connection_interval, peripheral_latency=packet.peripheral_latency,
                supervision_timeout=packet.supervision_timeout, central_clock_accuracy=packet.central_clock_accuracy)
        super().send_hci_packet(packet)

    def on_hci_reset_command(self, command):
        self.silence()
        return super().on_hci_reset_command(command)

    def on_hci_le_create_connection_cancel_command(self, command):
        if (pending := self.pending_le_connection) is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        self.pending_le_connection = None
        asyncio.get_running_loop().call_soon(self.send_hci_packet, hci.HCI_LE_Connection_Complete_Event(   # after the answer
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
            peer_address_type=pending.peer_address.address_type, peer_address=pending.peer_address,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return super().on_hci_le_create_connection_cancel_command(command)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        if self.le_scan_enable:    # how a host learns that another one scans (Vol 4 Part E 7.8.64)
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def silence(self):
        """What a reset, or pulling the plug, does: the peers notice by supervision timeout."""
        for connection in list(self.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(SUPERVISION_TIMEOUT))
        self.le_connections.clear()
        self.pending_le_connection = None
        self.le_scan_enable = False
        self.le_legacy_advertiser.stop()
        for advertising_set in self.advertising_sets.values():
            advertising_set.stop()
        self.advertising_sets.clear()

    def lose(self, handle):
        """The link ends on both sides as if the two were out of range."""
        if connection := self.find_le_connection_by_handle(handle):
            connection.send_ll_control_pdu(ll.TerminateInd(SUPERVISION_TIMEOUT))
            self.on_le_disconnected(connection, SUPERVISION_TIMEOUT)


class TunableController(AirController):
    """Its links can be changed, and it tells their signal strength. Here the peer has no say, but both hosts learn of the change."""

    supported_max_tx_octets = supported_max_rx_octets = 251
    supported_max_tx_time = supported_max_rx_time = 17040
    tuning = 'on'

    def tell(self, connection, event):
        """event(handle): for our host, and for the peer's."""
        self.send_hci_packet(event(connection.handle))
        if (peer := self.link.find_le_controller(connection.peer_address)) and connection.self_address in peer.le_connections:
            peer.send_hci_packet(event(peer.le_connections[connection.self_address].handle))

    def create_le_connection(self, peer_address):
        super().create_le_connection(peer_address)
        connection = self.le_connections.get(peer_address)
        if connection and self.tuning == 'auto':   # as most controllers do by themselves
            asyncio.get_running_loop().call_later(0.05, self.lengthen, connection, self.suggested_max_tx_octets, self.suggested_max_tx_time)

    def lengthen(self, connection, octets, time):
        if self.tuning == 'peer-refuses' or octets == getattr(connection, 'octets', 27):
            return    # no event comes when nothing changes
        connection.octets = octets
        self.tell(connection, lambda handle: hci.HCI_LE_Data_Length_Change_Event(
            connection_handle=handle, max_tx_octets=octets, max_tx_time=time, max_rx_octets=octets, max_rx_time=time))

    def on_hci_le_set_data_length_command(self, command):
        status = hci.HCI_ErrorCode.SUCCESS
        if (connection := self.find_le_connection_by_handle(command.connection_handle)) is None:
            status = hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        elif not 27 <= command.tx_octets <= 251 or not 328 <= command.tx_time <= 17040:
            status = hci.HCI_ErrorCode.INVALID_HCI_COMMAND_PARAMETERS_ERROR
        else:    # after the answer
            asyncio.get_running_loop().call_later(0.02, self.lengthen, connection, command.tx_octets, command.tx_time)
        return hci.HCI_StatusAndConnectionHandleReturnParameters(status, command.connection_handle)

    def on_hci_le_set_phy_command(self, command):
        if (connection := self.find_le_connection_by_handle(command.connection_handle)) is None:
            self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_ErrorCode.SUCCESS, command.op_code)
        status = hci.HCI_ErrorCode.SUCCESS
        if self.tuning == 'peer-refuses':
            status = hci.HCI_ErrorCode.UNSUPPORTED_REMOTE_FEATURE_ERROR
        else:
            connection.phy = 2 if command.tx_phys & 2 else 3 if command.tx_phys & 4 else 1
        phy = getattr(connection, 'phy', 1)
        self.tell(connection, lambda handle: hci.HCI_LE_PHY_Update_Complete_Event(
            status=status, connection_handle=handle, tx_phy=phy, rx_phy=phy))

    def on_hci_le_read_phy_command(self, command):
        phy = getattr(self.find_le_connection_by_handle(command.connection_handle), 'phy', 1)
        return hci.HCI_LE_Read_PHY_ReturnParameters(hci.HCI_ErrorCode.SUCCESS, command.connection_handle, phy, phy)

    def on_hci_read_rssi_command(self, command):
        return hci.HCI_Read_RSSI_ReturnParameters(hci.HCI_ErrorCode.SUCCESS, command.handle, -50)

    def on_hci_le_connection_update_command(self, command):
        if self.tuning != 'peer-refuses':
            return super().on_hci_le_connection_update_command(command)
        self._send_hci_command_status(hci.HCI_ErrorCode.SUCCESS, command.op_code)
        self.send_hci_packet(hci.HCI_LE_Connection_Update_Complete_Event(
            status=hci.HCI_ErrorCode.UNACCEPTABLE_CONNECTION_PARAMETERS_ERROR, connection_handle=command.connection_handle,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0))


class VirtualAdapter:
    """A controller for the kernel of this machine. Bumble's own vhci transport does not tell the adapter's number."""

    def __init__(self, controller, ready):
        self.descriptor = os.open('/dev/vhci', os.O_RDWR | os.O_NONBLOCK)
        self.controller, self.ready = controller, ready
        controller.host = self
        os.write(self.descriptor, b'\xff\x00')    # a primary controller, please
        asyncio.get_running_loop().add_reader(self.descriptor, self.readable)

    def readable(self):
        packet = os.read(self.descriptor, 4096)    # one at a time
        if packet[:1] == b'\xff':
            self.ready(int.from_bytes(packet[2:4], 'little'))
        else:
            self.controller.on_packet(packet)

    def on_packet(self, packet):
        os.write(self.descriptor, packet)


class H4Server(asyncio.Protocol):
    """One client of the served controller. A new one takes over: the last may have closed without us having seen it yet."""

    def __init__(self, controller):
        self.controller = controller

    def connection_made(self, transport):
        if self.controller.host:
            self.controller.host.gone()
        self.transport = transport
        self.parser = PacketParser(self.controller)   # what the last client left half sent is forgotten
        self.controller.host = self
        report('client')

    def data_received(self, data):
        if self.controller.host is self:
            self.parser.feed_data(data)

    def on_packet(self, packet):
        if not self.transport.is_closing():
            self.transport.write(packet)

    def connection_lost(self, _):
        self.gone()

    def gone(self):
        if self.controller.host is self:
            self.controller.host = None
            self.controller.silence()
            self.transport.close()
            report('client_gone')


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('port', nargs='?', type=int, default=0)
    parser.add_argument('--transport', metavar='SPEC')
    parser.add_argument('--vhci', action='store_true', help='the controller becomes an adapter of this machine')
    parser.add_argument('--mtu', type=int, default=517, help='the largest ATT MTU that the peripheral agrees to')
    parser.add_argument('--public', action='store_true', help='the peripheral advertises with its public address')
    parser.add_argument('--second', action='store_true', help='another one of the kind on the air (not with --transport): Lock-02, '
                        'F0:F1:F2:F3:F4:F6; what is said on standard input is not for it')
    parser.add_argument('--controller', choices=['legacy', 'extended', 'bumble'], default='legacy',
                        help='what the served controller can do; bumble: untouched, it contradicts itself')
    parser.add_argument('--acl', metavar='LENxCOUNT', type=lambda text: tuple(map(int, text.split('x'))),
                        help='buffers of the served controller (default: 27x64)')
    parser.add_argument('--tuning', choices=['off', 'on', 'auto', 'peer-refuses'], default='off',
                        help='data length, PHY and RSSI of the served controller: unknown commands; possible; lengthened by itself; '
                             'possible, but the peer refuses, and the connection interval, too')
    options = parser.parse_args()

    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    loop.add_signal_handler(signal.SIGINT, over.set)

    air, own, device = Air(), None, None

    def move(word):
        if own and word in ('away', 'back'):
            air.away = word == 'away'
            for connection in list(own.le_connections.values()) if air.away else []:
                own.lose(connection.handle)
            report(word)
        elif device and word == 'bye':
            for connection in list(device.connections.values()):
                asyncio.ensure_future(connection.disconnect())
            report(word)
        elif device and word == 'slow':
            for connection in device.connections.values():
                asyncio.ensure_future(connection.update_parameters(100, 100, 0, 6000, use_l2cap=True))
            report(word)
        elif device and word.startswith('secure:'):
            async def provide(*_):
                return bytes.fromhex(word.removeprefix('secure:'))
            device.host.long_term_key_provider = provide
            for connection in device.connections.values():
                connection.request_pairing()

        elif device and word.startswith('pairing:'):
            kind = word.removeprefix('pairing:')
            vars(device.smp_manager).pop('on_smp_pdu', None)
            if kind == 'silent':
                device.smp_manager.on_smp_pdu = lambda *_: None
            else:
                config = pairing_config(kind)
                device.pairing_config_factory = lambda _: config
            report('pairing')
        elif device and word in ('private', 'impostor', 'static'):
            device.irk = IRKS.get(word, bytes(16))
            address = hci.Address.generate_private_address(device.irk) if word in IRKS else device.static_address
            asyncio.ensure_future(rotate(device, address, lambda: advertise(device, options)))
        elif device and word == 'forget':
            device.keystore.all_keys.clear()
            report('forgotten')

    def watch_input():   # a thread, because epoll takes neither files nor /dev/null
        while text := os.read(0, 4096):
            for word in text.decode(errors='replace').split():
                loop.call_soon_threadsafe(move, word)
        loop.call_soon_threadsafe(over.set)
    threading.Thread(target=watch_input, daemon=True).start()

    if options.transport:
        async with await open_transport(options.transport) as transport:
            device = await peripheral(transport.source, transport.sink, options)
            print('READY', options.transport, flush=True)
            await over.wait()
        return
    kind = AirController if options.tuning == 'off' else TunableController
    served = kind('served', air, CENTRAL, options.controller, options.acl)
    served.tuning = options.tuning
    own = kind('peripheral', air, ADDRESS, 'legacy')
    device = await peripheral(own, AsyncPipeSink(own), options, lambda connection: own.lose(connection.handle))
    if options.second:
        other = kind('second', air, SECOND, 'legacy')
        await peripheral(other, AsyncPipeSink(other), options, lambda connection: other.lose(connection.handle), 'Lock-02', SECOND)
    if options.vhci:
        adapter = VirtualAdapter(served, lambda index: print(f'READY hci{index}', flush=True))
        await over.wait()
        return os.close(adapter.descriptor)
    server = await loop.create_server(lambda: H4Server(served), '127.0.0.1', options.port)
    print('READY', server.sockets[0].getsockname()[1], flush=True)
    await over.wait()


if __name__ == '__main__':
    logging.basicConfig(level=os.environ.get('BUMBLE_LOGLEVEL', 'ERROR').upper())
    asyncio.run(main())
