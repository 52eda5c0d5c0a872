#!/usr/bin/env python3
"""Makes images of all kinds with imgtool in FOLDER, and prints what `imgtool dumpinfo` says of each. One JSON object a line:
file, arguments, and dump."""
import json
import os
import random
import sys

from click.testing import CliRunner
from imgtool.main import imgtool

CODE = bytes((i * 7 + 3) & 255 for i in range(1000))
KEYS = ('rsa-2048', 'rsa-3072', 'ecdsa-p256', 'ecdsa-p384', 'ed25519', 'x25519')


def call(*words):
    result = CliRunner().invoke(imgtool, list(words), catch_exceptions=True)
    if result.exit_code != 0:
        sys.exit(f'imgtool {" ".join(words)}: {result.output} {result.exception}')
    return result.output


def kinds(folder):
    """Yields (extension of the output, input, arguments)."""
    def key(name):
        return ['-k', os.path.join(folder, name + '.pem')]

    def public(name):
        return ['-E', os.path.join(folder, name + '.pub.pem')]

    plain = 'in.bin'
    for version in ('1.2.3+4', '0.0.0', '255.255.65535+4294967295', '1.2', '7'):
        yield 'bin', plain, ['-v', version]
    for name in KEYS[:5]:
        yield 'bin', plain, key(name)
        yield 'bin', plain, key(name) + ['--public-key-format', 'full']
    yield 'bin', plain, key('ed25519') + ['--pure']
    yield 'bin', plain, key('ed25519') + ['--sha', '512']
    yield 'bin', plain, key('ecdsa-p256') + ['--pad-sig']
    for sha in ('256', '384', '512'):
        yield 'bin', plain, ['--sha', sha]
    for erased in ('0', '0xff'):
        yield 'bin', plain, ['-R', erased]
    for words in (['--pad'], ['--test'], ['--confirm'], ['--pad', '--max-align', '16'], ['--confirm', '--max-align', '32'],
                  ['--test', '--max-align', '32', '--align', '4'], ['--confirm', '--overwrite-only']):
        yield 'bin', plain, words
    yield 'bin', plain, key('ecdsa-p256') + ['--confirm']
    for name in ('rsa-2048', 'ecdsa-p256', 'x25519'):
        signed = key('ed25519' if name == 'x25519' else name)
        yield 'bin', plain, signed + public(name)
        yield 'bin', plain, signed + public(name) + ['--encrypt-keylen', '256']
    yield 'bin', plain, key('ecdsa-p256') + public('ecdsa-p256') + ['--clear']
    yield 'bin', plain, key('ed25519') + public('x25519') + ['--hmac-sha', '512']
    yield 'bin', plain, key('ecdsa-p256') + public('ecdsa-p256') + ['--pad']
    for compression in ('lzma2', 'lzma2armthumb'):
        yield 'bin', 'soft.bin', key('ed25519') + ['--compression', compression]
    yield 'bin', 'soft.bin', key('ed25519') + ['--compression', 'lzma2', '-s', '5', '-d', '(1, 2.0.0)']
    yield 'bin', 'soft.bin', key('ecdsa-p256') + public('ecdsa-p256') + ['--compression', 'lzma2']
    yield 'bin', plain, key('ed25519') + ['--compression', 'lzma2']
    for words in (['-s', '7'], ['-s', 'auto'], ['-d', '(1, 1.2.3+4)'], ['-d', '(1, 1.2.3+4), (2, 3.0.0)'], ['--boot-record', 'APP'],
                  ['--vid', 'example.org', '--cid', 'band'], ['--custom-tlv', '0xa0', '0x01020304'],
                  ['--custom-tlv', '0xa0', 'text', '--custom-tlv', '0x1a0', 'xyz'], ['--custom-tlv', '0x110', 'q', '--custom-tlv', '0xfffe', '']):
        yield 'bin', plain, words
    yield 'bin', plain, key('ecdsa-p256') + ['-s', '9', '-d', '(0, 1.0.0)', '--boot-record', 'APP', '--custom-tlv', '0xbeef', 'end']
    for words in (['--non-bootable'], ['-L', '0x20000000'], ['-F', '0xc000'], ['-H', '0x20'], ['-H', '0x800']):
        yield 'bin', plain, words
    yield 'hex', plain, ['-x', '0x8000']
    yield 'hex', 'in.hex', key('ecdsa-p256')
    yield 'hex', 'in.hex', ['--confirm']
    yield 'hex', 'gap.hex', []


def main(folder):
    for name in KEYS:
        call('keygen', '-t', name, '-k', os.path.join(folder, name + '.pem'))
        call('getpub', '-k', os.path.join(folder, name + '.pem'), '-e', 'pem', '-o', os.path.join(folder, name + '.pub.pem'))
    with open(os.path.join(folder, 'in.bin'), 'wb') as file:
        file.write(CODE)
    with open(os.path.join(folder, 'soft.bin'), 'wb') as file:
        file.write(CODE[:200] * 23)
    from intelhex import IntelHex
    for name, parts in (('in.hex', [(0xC200, CODE)]), ('gap.hex', [(0xC200, CODE[:200]), (0xC300, CODE[:30])])):
        image = IntelHex()
        for address, data in parts:
            image.puts(address, data)
        image.write_hex_file(os.path.join(folder, name))
    for number, (extension, source, words) in enumerate(kinds(folder)):
        out = os.path.join(folder, f'{number}.{extension}')
        defaults = [word for option, value in (('-H', '0x200'), ('-S', '0x10000'), ('-v', '1.2.3+4'), ('--align', '8'))
                    if option not in words for word in (option, value)]
        call('sign', '--pad-header', *defaults, *words, os.path.join(folder, source), out)
        dump = os.path.join(folder, 'dump.json')
        call('dumpinfo', '--format', 'json', '-o', dump, out)
        with open(dump) as file:
            print(json.dumps({'file': out, 'arguments': ' '.join(words).replace(folder + '/', ''), 'dump': json.load(file)}))


if __name__ == '__main__':
    main(sys.argv[1])
