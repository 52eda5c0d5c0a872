#!/usr/bin/env python3
"""Bumble's host with a controller of somebody else, as a GATT client that does what its standard input says.

bumble_client.py TRANSPORT      Bumble's name for it: tcp-client:127.0.0.1:PORT, unix:PATH
bumble_client.py air:KIND       Bumble's virtual radio link with two controllers: the client's, and one of the KIND of bumble_air.py,
                                which is served as H4 on the "port" of the event "ready". That one has the address 00:1B:DC:00:00:01
bumble_client.py vhci:COUNT     COUNT clients on that link. The kernel gets the legacy controller, as the "adapter" of the event "ready".
                                A line is for the client whose number, from 0, comes first

    scan                what is heard in a second: {"event": "done", "addresses": […]}
    connect ADDRESS     random, or public with /P behind it; asks for the largest MTU and discovers everything
    read UUID           {"event": "done", "value": "hex"}
    write UUID HEX      with response
    command UUID HEX    without
    subscribe UUID      from then on {"event": "value", "uuid": …, "value": "hex"}
    link                RSSI and PHYs
    pair ADDRESS N KIND connects, pairs N times with the KIND of bumble_air.py, and ends the link: {"event": "done", "pairings": […]}
    secure              encrypts the link with the key of an earlier pairing
    disconnect

Every line is answered by one "done", or "error". Ends, link and all, with standard input.
"""
import asyncio
import json
import sys

from bumble import hci
from bumble.core import ProtocolError, UUID
from bumble.device import ConnectionParametersPreferences, Device, Peer
from bumble.hci import Address, Phy
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink

from bumble_air import ADDRESS, CENTRAL, Air, AirController, H4Server, VirtualAdapter, outcome, pairing_config


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

    async def secure(self):
        await self.peer.connection.encrypt()

    async def disconnect(self):
        await self.peer.connection.disconnect()


async def serve_air(kind):
    """The source and sink of the client's controller, and the port of the other one."""
    air = Air()
    served = AirController('served', air, CENTRAL, kind)
    if kind == 'extended':
        served.supported_commands |= {getattr(hci, f'HCI_LE_{name}_COMMAND') for name in (
            'SET_ADVERTISING_SET_RANDOM_ADDRESS', 'SET_EXTENDED_ADVERTISING_PARAMETERS', 'SET_EXTENDED_ADVERTISING_DATA',
            'SET_EXTENDED_SCAN_RESPONSE_DATA', 'SET_EXTENDED_ADVERTISING_ENABLE', 'READ_MAXIMUM_ADVERTISING_DATA_LENGTH',
            'REMOVE_ADVERTISING_SET')}
    own = AirController('client', air, ADDRESS, 'legacy')
    server = await asyncio.get_running_loop().create_server(lambda: H4Server(served), '127.0.0.1', 0)
    return own, AsyncPipeSink(own), server.sockets[0].getsockname()[1]


async def begin():
    """The lines of standard input."""
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    return commands


async def main(name):
    commands = await begin()
    if name.startswith('air:'):
        source, sink, port = await serve_air(name[4:])
        return await run(commands, [await client(source, sink)], port=port)
    if name.startswith('vhci:'):
        air, index = Air(), asyncio.get_running_loop().create_future()
        VirtualAdapter(AirController('served', air, CENTRAL, 'legacy'), index.set_result)    # the event loop keeps it
        ends = [AirController(f'client {n}', air, f'F0:F1:F2:F3:F5:{n:02}', 'legacy') for n in range(int(name[5:]))]
        clients = [await client(end, AsyncPipeSink(end), number) for number, end in enumerate(ends)]
        return await run(commands, clients, adapter=f'hci{await index}')
    async with await open_transport(name) as transport:
        await run(commands, [await client(transport.source, transport.sink)])


async def client(source, sink, number=0, kind=Client):
    device = Device.with_hci('client', Address(f'F0:F1:F2:F3:F4:{0xF9 - number:02X}'), source, sink)
    await device.power_on()
    return kind(device)


async def run(commands, clients, **fields):
    report('ready', address=str(clients[0].device.public_address).split('/')[0], **fields)
    while line := (await commands.readline()).decode().split():
        one = clients[int(line.pop(0)) if line[0].isdigit() else 0]
        try:
            report('done', **(await getattr(one, line[0])(*line[1:]) or {}))
        except Exception as error:
            report('error', type=type(error).__name__, message=str(error))


if __name__ == '__main__':
    asyncio.run(main(*sys.argv[1:]))
