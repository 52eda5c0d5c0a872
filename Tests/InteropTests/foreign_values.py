"""What `bluetooth-sig` from PyPI makes of characteristics' values, beside what we make of them.

Standard input: lines `scale UUID KEY FACTOR`: our field is so many times theirs. Then a line per case, separated by tabs: UUID, the octets in hexadecimal, `ok` or why they do not fit, and with `ok` our fields as
KEY=KIND:VALUE:UNIT (N a number, A numbers, C a choice, F flags, with their parts as KEY.PART=P:VALUE: behind them, X no number, T text in
hexadecimal, D a date, U a UUID, O octets).
Standard output: `cases UUID N VALUES` per characteristic; for every difference `differs UUID KIND N EXAMPLE`.

Which of the other's attributes is which of our fields is nowhere written: it is the one that agrees most often, and then has to agree always.
"""
import collections
import datetime
import enum
import math
import re
import signal
import sys

import msgspec
from bluetooth_sig.gatt.characteristics.registry import CharacteristicRegistry
from bluetooth_sig.gatt.characteristics.utils.ieee11073_parser import IEEE11073Parser
from bluetooth_sig.gatt.characteristics.utils.translators import SfloatTranslator
from bluetooth_sig.gatt.descriptors.registry import DescriptorRegistry
from bluetooth_sig.gatt.exceptions import CharacteristicParseError, InsufficientDataError, SpecialValueDetectedError
from bluetooth_sig.types.uuid import BluetoothUUID

SECONDS = {"s": 1, "ms": 0.001, "min": 60, "h": 3600, "d": 86400}
LIMIT = 0.1  # seconds of CPU time for a call, whatever else the machine does: some values make the package run for ever
WARM_UP = 5  # the same for a first call, which loads and compiles what the next ones use
UNKNOWN = re.compile("unknown|not.known|nan|invalid|not.valid|reserved|none", re.I)


class Hang(BaseException):
    pass


def alarm(*_):
    raise Hang


def leaves(value, path="", depth=0):
    """Every attribute that is no structure, by its path."""
    if value is None or depth > 8:
        return
    if isinstance(value, BluetoothUUID):
        yield path, ("U", str(value).lower().replace("-", ""))
    elif isinstance(value, enum.Enum):
        yield path, ("N", value.value) if isinstance(value.value, (int, float)) else ("E", str(value.value))
    elif isinstance(value, (bool, int, float)):
        yield path, ("N", value)
    elif isinstance(value, str):
        yield path, ("T", value)
    elif isinstance(value, (bytes, bytearray)):
        yield path, ("O", value.hex())
    elif isinstance(value, datetime.datetime):
        yield path, ("D", value.strftime("%Y-%m-%dT%H%M%S").zfill(17))
    elif isinstance(value, datetime.date):
        yield path, ("D", value.strftime("%Y-%m-%d").zfill(10))
    elif isinstance(value, datetime.timedelta):
        yield path, ("S", value.total_seconds())
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = list(value)
        if all(isinstance(item, (int, float)) for item in items):
            yield path, ("A", items)
        elif all(isinstance(item, BluetoothUUID) for item in items):
            yield path, ("A", [int(item.short_form, 16) for item in items])
        for index, item in enumerate(items):
            yield from leaves(item, f"{path}[{index}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, msgspec.Struct):
        numbers = {}
        for key in value.__struct_fields__:
            numbers[key] = getattr(value, key)
            yield from leaves(numbers[key], f"{path}.{key}", depth + 1)
        if {"year", "month", "day"} <= numbers.keys():
            year, month, day = (numbers[key] or 0 for key in ("year", "month", "day"))
            yield path + ".date", ("D", f"{year or '????':04}-{month or '??':02}-{day or '??':02}")
    elif hasattr(value, "__dict__"):
        for key, item in vars(value).items():
            yield from leaves(item, f"{path}.{key}", depth + 1)


def close(ours, theirs):
    return ours == theirs or math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-12) or (math.isnan(ours) and math.isnan(theirs))


def same(kind, ours, unit, leaf, scale=1):
    other, theirs = leaf
    if scale != 1:
        if other not in "NA":
            return False
        theirs = theirs * scale if other == "N" else [number * scale for number in theirs]
    if kind in "NCFP":
        if other == "N":
            return close(float(ours), float(theirs))
        if other == "U":
            return kind == "N" and f"{int(ours):08x}00001000800000805f9b34fb" == theirs
        # A timedelta has microseconds.
        return other == "S" and unit in SECONDS and math.isclose(float(ours) * SECONDS[unit], theirs, rel_tol=1e-6, abs_tol=1e-6)
    if kind == "A":
        numbers = [float(number) for number in ours.split()]
        return other == "A" and len(numbers) == len(theirs) and all(close(a, b) for a, b in zip(numbers, theirs))
    if kind == "X":
        return other == "N" and not math.isfinite(theirs) or other in "TE" and UNKNOWN.search(theirs) is not None or leaf == ("D", "????-??-??")
    if kind == "T":
        return other == "T" and bytes.fromhex(ours).decode() == theirs.rstrip("\0")
    if kind == "D" and other == "N" and not set(ours) & set("?T"):  # as days since 1970; Python's calendar ends with the year 9999
        year, month, day = (int(part) for part in ours.split("-"))
        return (datetime.date(2000 + year % 400, month, day) - datetime.date(1970, 1, 1)).days + (year // 400 - 5) * 146097 == theirs
    if kind == "U":
        if other == "N":
            return len(ours) == 4 and int(ours, 16) == theirs
        return other == "T" and theirs.lower() == ours or other == "U" and (f"0000{ours}00001000800000805f9b34fb" if len(ours) == 4 else ours.replace("-", "")) == theirs
    return kind == other and ours == theirs


def why(error):
    """A refusal's kind, from its words."""
    text = str(error).split("): ", 1)[-1]
    for kind, words in (
        ("no-decoder", "must either set _template"),
        ("length", "ength|nsufficient|too (long|short)|need|requires|must have|expected \\d+ byte|at least|unpack|data for"),
        ("date", "(year|month|day) .*(out of range|must be)|date value out of range"),
        ("order", "cannot (exceed|be greater)"),
        ("reserved", "reserved|RFU|is not a valid|Invalid [A-Za-z_ ]*: \\d+$|Invalid .* (expected|valid) range|Invalid .*\\(valid"),
        ("range", "range|must be|percentage"),
    ):
        if re.search(words, text):
            return kind
    return "other"


class Comparison:
    def __init__(self, uuid, scales):
        self.uuid = uuid
        self.scales = scales
        self.cases = 0
        self.values = 0  # that were compared
        self.differences = collections.defaultdict(list)
        self.warm = set()  # verdicts of which there was a call
        self.agreed = []  # (hex, our fields by key, their leaves by path) where both read the value

    def differs(self, kind, text, *shown):
        self.differences[kind].append(" ".join([text, *(str(s) for s in shown)]))

    def add(self, translator, text, verdict, fields):
        self.cases += 1
        if len(self.differences["hang"]) >= 3:  # enough is known
            return
        value = bytes.fromhex(text)
        self.is_ours = verdict == "ok"
        try:
            if verdict not in self.warm:
                self.warm.add(verdict)
                self.limited(WARM_UP, translator, value)
            result, refusal = self.limited(LIMIT, translator, value)
        except Hang:
            self.differs("hang", text)
            return
        if refusal == "no-decoder":
            self.differs("no-decoder", text)
            return
        if isinstance(result, SpecialValueDetectedError):
            if verdict == "ok" and [f[0] for f in fields.values()] not in (["X"], ["C"]):
                self.differs("special", text, result.special_value.meaning, fields)
            elif verdict != "ok" and verdict != "tooLong":
                self.differs("special", text, verdict)
            return
        if verdict != "ok":
            if refusal is None:
                self.differs(verdict, text, repr(result)[:120])
            return
        if refusal is not None:
            self.differs("refuses-" + refusal, text, self.words, fields)
        if result is not None:
            self.agreed.append((text, fields, dict(leaves(result))))

    def limited(self, seconds, translator, value):
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            return self.parse(translator, value)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def parse(self, translator, value):
        """The result, and why it was refused at first: its checks of ranges can be left out."""
        try:
            return translator(value, None, True), None
        except SpecialValueDetectedError as special:
            return special, None
        except CharacteristicParseError as error:
            self.words = str(error).split("): ", 1)[-1][:100].replace("\n", " ")
            refusal = why(error)
        # Where we agree that the octets do not fit there is nothing to compare.
        if not self.is_ours or refusal in ("no-decoder", "length"):
            return None, refusal
        try:
            return translator(value, None, False), refusal
        except (SpecialValueDetectedError, CharacteristicParseError):
            return None, refusal

    def finish(self):
        keys = {key: fields[key][0] for _, fields, _ in self.agreed for key in fields}
        paths = {key: self.counterpart(key) for key in keys}
        for key, kind in sorted(keys.items()):
            # Flags are compared as a number, or else, where the other has its own attribute for each, one by one.
            flags = key.split(".")[0]
            is_split = any(paths[part] is not None for part in keys if part.startswith(flags + "."))
            if kind == "P" and (paths[flags] is not None or not is_split) or kind == "F" and paths[key] is None and is_split:
                continue
            if paths[key] is None:
                text, fields, attributes = next((item for item in self.agreed if key in item[1] and item[1][key][0] != "X"), self.agreed[0])
                self.differs(f"form:{key}", text, fields.get(key), attributes)
            else:
                self.compare(key, paths[key])

    def counterpart(self, key):
        """The path of the attribute that agrees most often with one of our fields."""
        votes = collections.Counter()
        telling = 0
        words = set(key.split(".")[-1].split("_"))
        for text, fields, attributes in self.agreed:
            if key not in fields:
                for path in attributes.keys() & votes.keys():
                    votes[path] -= 200
                continue
            kind, ours, unit = fields[key]
            # That zeros and ones agree says little, but for flags, which have nothing else.
            weight = 0 if kind == "A" and ours == "" else 1 if kind == "X" or kind in "NCF" and ours in ("0", "1") else 1000
            telling += weight >= 1000
            for path, leaf in attributes.items():
                if same(kind, ours, unit, leaf, self.scales.get(key, 1)) and (kind != "P" or words & set(re.split(r"\W|_", path))):
                    votes[path] += weight
        # Of several that agree as often, the one that is called so.
        best = max(votes, key=lambda path: (votes[path], len(set(re.split(r"\W|_", path)) & words), -len(path)), default=None)
        if best is None or telling and votes[best] < 1000 or votes[best] < (0.9 if kind == "P" else 0.3) * 1000 * telling:
            return None
        return best

    def compare(self, key, path):
        for text, fields, attributes in self.agreed:
            theirs = attributes.get(path)
            if key not in fields:
                if theirs is not None and theirs != ("A", []):
                    self.differs(f"present:{key}", text, path, theirs)
                continue
            kind, ours, unit = fields[key]
            self.values += 1
            if theirs is None:
                if kind != "X" and ours != "":
                    self.differs(f"absent:{key}", text, path, ours)
            elif same(kind, ours, unit, theirs, self.scales.get(key, 1)):
                if key in self.scales and not same(kind, ours, unit, theirs):
                    self.differs(f"scale:{key}={self.scales[key]:g}", text, ours, theirs)
            else:
                self.differs(f"value:{key}" if kind != "X" else "unknown", text, f"{path}: {kind} {ours} {unit}", theirs)


def medical(octets, mantissa_bits):
    """IEEE 11073-20601 SFLOAT and FLOAT: a mantissa and, above it, an exponent of ten, both in two's complement."""
    def signed(value, bits):
        return value - (1 << bits) if value >> (bits - 1) else value

    raw = int.from_bytes(octets, "little")
    bits = 8 * len(octets)
    mantissa = signed(raw & ((1 << mantissa_bits) - 1), mantissa_bits)
    exponent = signed(raw >> mantissa_bits, bits - mantissa_bits)
    highest = 1 << (mantissa_bits - 1)
    if exponent == 0 and (mantissa > highest - 3 or mantissa < 3 - highest):
        return {highest - 2: math.inf, 2 - highest: -math.inf}.get(mantissa, math.nan)
    return float(f"{mantissa}e{exponent}")


def correct_floats():
    """Puts that in the place of the package's own, which take the exponent for one with a bias; says whether they still do."""
    for name, length, mantissa_bits, octets in ("parse_sfloat", 2, 12, "7800"), ("parse_float32", 4, 24, "780000ff"):
        theirs = getattr(IEEE11073Parser, name)(bytes.fromhex(octets))
        ours = medical(bytes.fromhex(octets), mantissa_bits)
        if not close(ours, theirs):
            print("differs", name, "value", 1, octets, ours, theirs)

        def parse(data, offset=0, length=length, mantissa_bits=mantissa_bits, name=name):
            if len(data) < offset + length:
                raise InsufficientDataError(name, data[offset:], length)
            return medical(bytes(data[offset:offset + length]), mantissa_bits)

        setattr(IEEE11073Parser, name, staticmethod(parse))
    SfloatTranslator.translate = lambda self, raw: medical(raw.to_bytes(2, "little"), 12)


def decoder(uuid):
    """The package's function for a characteristic or a descriptor: octets, context, whether ranges are checked."""
    if uuid >= "2a00":
        return CharacteristicRegistry.get_characteristic(uuid.upper()).parse_value
    descriptor = DescriptorRegistry.create_descriptor(uuid.upper())

    def parse(value, _context, _checks):
        data = descriptor.parse_value(value)
        if not data.parse_success:
            raise CharacteristicParseError(message=data.error_message, name=uuid, uuid=data.info.uuid, raw_data=value)
        return data.value

    return parse


def main():
    signal.signal(signal.SIGVTALRM, alarm)
    correct_floats()
    comparisons = {}
    scales = collections.defaultdict(dict)
    for line in sys.stdin:
        if line.startswith("scale "):
            _, uuid, key, factor = line.split()
            scales[uuid][key] = float(factor)
            continue
        uuid, text, verdict, *fields = line.rstrip("\n").split("\t")
        comparison = comparisons.get(uuid)
        if comparison is None:
            comparison = comparisons[uuid] = Comparison(uuid, scales[uuid])
            parse = decoder(uuid)
        ours = {}
        for field in fields:
            key, _, rest = field.partition("=")
            ours[key] = tuple(rest.split(":", 2))
        comparison.add(parse, text, verdict, ours)
    for uuid, comparison in comparisons.items():
        comparison.finish()
        print("cases", uuid, comparison.cases, comparison.values)
        for kind, examples in sorted(comparison.differences.items()):
            if examples:
                print("differs", uuid, kind, len(examples), min(examples, key=len)[:300].replace("\n", " "))


main()
