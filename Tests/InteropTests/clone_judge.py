#!/usr/bin/env python3
"""Serves a device of Bumble's GATT server, and judges with Bumble's client whether another device is the same.

clone_judge.py AIR      the air of bumble_client.py, whose commands it has, too. The event "ready" has two "ports", of controllers with the
                        addresses 00:1B:DC:00:00:01 and …:02.

    serve NAME          puts the device of clone_databases.py into the air as F0:F1:F2:F3:F4:F5, instead of the last one, and reads all of it
    away                takes it out of the air
    judge ADDRESS       reads another device: {"event": "done", "differences": [TEXT…], "facts": COUNT}

Values that changed from one read of the served device to the next are not compared.
"""
import asyncio
import sys

from bumble import att, gatt, hci
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.transport.common import AsyncPipeSink

from bumble_air import ADDRESS, CENTRAL, Air, AirController, H4Server, pairing_config
from bumble_client import Client, begin, client, run
from clone_databases import DATABASES

OTHER = CENTRAL[:-1] + '2'


class Radio(AirController):
    """Scan responses with data of their own. Bumble's repeat the advertising data."""
    response = b''

    def on_advertising_pdu(self, pdu):
        self.response = next((controller.le_legacy_advertiser.scan_response_data for controller in self.link.controllers
                              if controller.le_legacy_advertiser.address == pdu.advertiser_address), b'')
        super().on_advertising_pdu(pdu)

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Advertising_Report_Event) and packet.reports[0].event_type == packet.EventType.SCAN_RSP:
            packet.reports[0].data = self.response
        super().send_hci_packet(packet)


def name(uuid):
    """The same for both lengths of a UUID, which clients take for equal."""
    digits = uuid.to_bytes(force_128=True)[::-1].hex()
    return digits[4:8] if digits.endswith('00001000800000805f9b34fb') else digits


class Judge(Client):
    def __init__(self, device, air):
        super().__init__(device)
        self.air, self.own, self.served = air, None, None

    async def serve(self, name):
        self.database = DATABASES[name]()
        self.own = Radio('foreign', self.air, ADDRESS, 'legacy')
        self.served = Device.from_config_with_hci(DeviceConfiguration(
            name=name, address=hci.Address(ADDRESS), gap_service_enabled=self.database.defaults,
            gatt_service_enabled=self.database.defaults), self.own, AsyncPipeSink(self.own))
        self.database.fill(self.served)
        self.served.pairing_config_factory = lambda _: pairing_config('none')
        self.served.advertising_data, self.served.scan_response_data = self.database.advertisement, self.database.scan_response
        await self.served.power_on()
        await self.served.start_advertising(
            own_address_type=hci.OwnAddressType.RANDOM, auto_restart=True, advertising_interval_min=20, advertising_interval_max=20)
        self.facts, again = [await self.everything(ADDRESS) for _ in range(2)]
        self.changing = {key for key in self.facts if self.facts[key] != again.get(key)}
        return {'facts': len(self.facts), 'changing': len(self.changing), 'pairs': self.database.pairs}

    async def away(self):
        await self.served.stop_advertising()
        self.air.remove_controller(self.own)
        # Its host may advertise again after the end of a link.
        self.own.link = Air()

    async def judge(self, address):
        facts = await self.everything(address)
        return {'facts': len(facts), 'differences': [
            f'{key}: {self.facts.get(key)} became {facts.get(key)}' for key in sorted({*facts, *self.facts})
            if facts.get(key) != self.facts.get(key) and not (key in self.changing and key in facts)]}

    async def everything(self, address):
        """All facts about a device, by names."""
        facts = await self.heard(address)
        connection = await self.device.connect(address, timeout=600)
        peer = Peer(connection)
        facts['mtu'] = await peer.request_mtu(517)
        facts |= await self.tree(peer)
        attributes = await peer.discover_attributes()
        facts |= {f'{attribute.handle:04x} type': name(attribute.type) for attribute in attributes}
        facts |= await self.values(peer, attributes, 'value')
        if self.database.pairs:
            self.device.pairing_config_factory = lambda _: pairing_config('none')
            await connection.pair()
            facts |= await self.values(peer, attributes, 'paired')
        over = asyncio.get_running_loop().create_future()
        connection.on('disconnection', over.set_result)
        await connection.disconnect()
        await over
        return facts

    async def heard(self, address):
        """The data of the advertisement and of the scan response."""
        facts, over = {}, asyncio.get_running_loop().create_future()

        def take(report):
            if report.address == hci.Address(address):
                facts[f'data {report.event_type}'] = bytes(report.data).hex()
                if len(facts) == 2 and not over.done():
                    over.set_result(None)
        self.device.host.on('advertising_report', take)
        await self.device.start_scanning()
        await asyncio.wait_for(over, 60)
        await self.device.stop_scanning()
        self.device.host.remove_listener('advertising_report', take)
        return facts

    async def tree(self, peer):
        facts = {}
        for service in await peer.discover_services():
            facts[f'{service.handle:04x} service'] = (service.end_group_handle, name(service.uuid))
            for item in await service.discover_characteristics():
                facts[f'{item.handle:04x} characteristic'] = (int(item.properties), name(item.uuid))
                facts[f'{item.handle:04x} descriptors'] = [(found.handle, name(found.type)) for found in await item.discover_descriptors()]
        start = 1
        while start <= 0xFFFF:
            answer = await peer.gatt_client.send_request(att.ATT_Read_By_Group_Type_Request(
                starting_handle=start, ending_handle=0xFFFF, attribute_group_type=gatt.GATT_SECONDARY_SERVICE_ATTRIBUTE_TYPE))
            if answer.op_code == att.Opcode.ATT_ERROR_RESPONSE:
                break
            facts |= {f'{handle:04x} secondary': (end, value.hex()) for handle, end, value in answer.attributes}
            start = answer.attributes[-1][1] + 1
        return facts

    async def values(self, peer, attributes, kind):
        facts = {}
        for attribute in attributes:
            try:
                facts[f'{attribute.handle:04x} {kind}'] = bytes(await peer.gatt_client.read_value(attribute.handle)).hex()
            except att.ATT_Error as error:
                facts[f'{attribute.handle:04x} {kind}'] = f'error {error.error_code:02x}'
        return facts


async def main(kind):
    commands = await begin()
    air, ports = Air(), []
    for address in (CENTRAL, OTHER):
        controller = Radio(address, air, address, kind)
        server = await asyncio.get_running_loop().create_server(lambda controller=controller: H4Server(controller), '127.0.0.1', 0)
        ports.append(str(server.sockets[0].getsockname()[1]))
    own = Radio('client', air, '00:1B:DC:00:00:09', 'legacy')
    await run(commands, [await client(own, AsyncPipeSink(own), kind=lambda device: Judge(device, air))], ports=ports)


if __name__ == '__main__':
    asyncio.run(main(sys.argv[1].removeprefix('air:')))
