#!/usr/bin/env python3
"""Bumble's host with a controller of somebody else, as a GATT client that does what its standard input says.

bumble_client.py TRANSPORT      Bumble's name for it: tcp-client:127.0.0.1:PORT, unix:PATH

    scan                what is heard in a second: {"event": "done", "addresses": […]}
    connect ADDRESS     random, or public with /P behind it; asks for the largest MTU and discovers everything
    read UUID           {"event": "done", "value": "hex"}
    write UUID HEX      with response
    command UUID HEX    without
    subscribe UUID      from then on {"event": "value", "uuid": …, "value": "hex"}
    link                RSSI and PHYs
    pair ADDRESS N KIND connects, pairs N times with the KIND of bumble_air.py, and ends the link: {"event": "done", "pairings": […]}
    disconnect

Every line is answered by one "done", or "error". Ends, link and all, with standard input.
"""
import asyncio
import json
import sys

from bumble.core import ProtocolError, UUID
from bumble.device import ConnectionParametersPreferences, Device, Peer
from bumble.hci import Address, Phy
from bumble.transport import open_transport

from bumble_air import outcome, pairing_config


def report(event, **fields):
    print(json.dumps({'event': event, **fields}), flush=True)


class Client:
    def __init__(self, device):
        self.device, self.peer = device, None

    def characteristic(self, name):
        found = self.peer.get_characteristics_by_uuid(UUID.from_16_bits(int(name, 16)))
        if not found:
            raise LookupError(f'no characteristic {name}')
        return found[0]

    async def scan(self):
        heard = set()
        listener = self.device.on('advertisement', lambda advertisement: heard.add(str(advertisement.address).split('/')[0]))
        await self.device.start_scanning()
        await asyncio.sleep(1)
        await self.device.stop_scanning()
        self.device.remove_listener('advertisement', listener)
        return {'addresses': sorted(heard)}

    async def connect(self, address):
        connection = await self.device.connect(address, timeout=600)
        connection.on('disconnection', lambda reason: report('disconnected', reason=reason))
        self.peer = Peer(connection)
        mtu = await self.peer.request_mtu(517)
        await self.peer.discover_services()
        await self.peer.discover_characteristics()
        return {'mtu': mtu, 'characteristics': sum(len(service.characteristics) for service in self.peer.services)}

    async def read(self, name):
        return {'value': bytes(await self.peer.read_value(self.characteristic(name))).hex()}

    async def write(self, name, value):
        await self.peer.write_value(self.characteristic(name), bytes.fromhex(value), with_response=True)

    async def command(self, name, value):
        await self.peer.write_value(self.characteristic(name), bytes.fromhex(value), with_response=False)

    async def subscribe(self, name):
        characteristic = self.characteristic(name)
        await self.peer.discover_descriptors(characteristic)
        await self.peer.subscribe(characteristic, lambda value: report('value', uuid=name, value=bytes(value).hex()))

    async def link(self):
        phy = await self.peer.connection.get_phy()
        return {'rssi': await self.peer.connection.get_rssi(), 'tx': int(phy.tx_phy), 'rx': int(phy.rx_phy)}

    async def pair(self, address, count, kind):
        fast = ConnectionParametersPreferences(connection_interval_min=7.5, connection_interval_max=7.5)
        connection = await self.device.connect(address, timeout=600, connection_parameters_preferences={Phy.LE_1M: fast})
        pairings = []
        connection.on('pairing', lambda keys: pairings.append(outcome(config, keys)))
        for _ in range(int(count)):
            config = pairing_config(kind)
            self.device.pairing_config_factory = lambda _: config
            try:
                await connection.pair()
            except ProtocolError as error:
                pairings.append({'reason': error.error_code})
        await connection.disconnect()
        return {'pairings': pairings}

    async def disconnect(self):
        await self.peer.connection.disconnect()


async def main(name):
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async with await open_transport(name) as transport:
        device = Device.with_hci('client', Address('F0:F1:F2:F3:F4:F9'), transport.source, transport.sink)
        await device.power_on()
        client = Client(device)
        report('ready', address=str(device.public_address).split('/')[0])
        while line := (await commands.readline()).decode().split():
            try:
                report('done', **(await getattr(client, line[0])(*line[1:]) or {}))
            except Exception as error:
                report('error', type=type(error).__name__, message=str(error))


asyncio.run(main(*sys.argv[1:]))
