# SPDX-License-Identifier: Apache-2.0
"""One thread that runs the PTX of gputrace_device.py, as far as that is written in it: what the text does is tested
where there is no GPU."""
import re
import struct

import gputrace_device

MASK = (1 << 64) - 1


def inserted(text, *operands):
    """Inline assembly with the operands $0, $1, ... put in."""
    return re.sub(r"\$(\d)", lambda found: operands[int(found[1])], text)


def kernel_text(target):
    """A kernel with each piece of the PTX, one of them twice, as a compiler unrolls it."""
    pieces = [inserted(gputrace_device.START, "%state", "%ring")]
    for piece in gputrace_device.PUT_BEGIN, gputrace_device.PUT_TIMED, gputrace_device.PUT:
        pieces += [inserted(piece, "%state", "%state", "%ring", "%tag", "%value")] * 2
    pieces.append(inserted(gputrace_device.CLOSE, "%ignored", "%state", "%ring"))
    version = {"sm_70": "6.0", "sm_75": "6.3", "sm_80": "7.0", "sm_90": "7.8", "sm_100": "8.6"}[target]
    return f""".version {version}
.target {target}
.address_size 64
.visible .entry kernel(.param .u64 ring, .param .u64 tag, .param .u64 value)
{{
	.reg .b64 %state, %ring, %tag, %value, %ignored;
	ld.param.u64 %ring, [ring];
	ld.param.u64 %tag, [tag];
	ld.param.u64 %value, [value];
	{" ".join(pieces)}
	ret;
}}
"""


class Machine:
    """The memory, the clock and the registers of one thread of a kernel. What %globaltimer says is AHEAD of the
    clock."""

    AHEAD = 1000000
    SPECIAL = {"%tid.x": 0, "%tid.y": 0, "%tid.z": 0, "%ntid.x": 128, "%ntid.y": 2, "%ntid.z": 1, "%ctaid.x": 3,
               "%ctaid.y": 1, "%ctaid.z": 0, "%nctaid.x": 5, "%nctaid.y": 2, "%nctaid.z": 1, "%smid": 9, "%gridid": 77}

    def __init__(self, memory_base, memory):
        self.base, self.memory = memory_base, memory
        self.clock = 100
        self.special = dict(self.SPECIAL)

    def load(self, address, size):
        at = address - self.base
        assert 0 <= at <= len(self.memory) - size and address % size == 0, hex(address)
        return int.from_bytes(self.memory[at:at + size], "little")

    def store(self, address, value, size):
        at = address - self.base
        assert 0 <= at <= len(self.memory) - size and address % size == 0, hex(address)
        self.memory[at:at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def run(self, text, *operands):
        """Value that the piece of PTX puts into $0; operands: the values of $1, $2, ..."""
        registers = {f"${number}": value & MASK for number, value in enumerate(operands, 1)}
        sizes = {"$0": 64}
        lines, labels = [], {}
        for line in re.split(r"[;\n]", text.strip()[1:-1]):
            line = line.strip()
            if line.endswith(":"):
                labels[line[:-1]] = len(lines)
            elif line.startswith(".reg"):
                kind, names = re.match(r"\.reg \.(\w+) (.*)", line).groups()
                sizes.update({name.strip(): {"pred": 1, "b32": 32, "b64": 64}[kind] for name in names.split(",")})
            elif line:
                lines.append(line)
        at = steps = 0
        while at < len(lines):
            steps += 1
            assert steps < 10000, "it does not end"
            guard, word, rest = re.match(r"(?:@(!?\w+) )?([\w.]+)\s*(.*)", lines[at]).groups()
            at += 1
            if guard and registers[guard.lstrip("!")] == guard.startswith("!"):
                continue
            if word == "bra":
                at = labels[rest]
            else:
                self.step(word, re.split(r",\s*(?![^{]*\})", rest), registers, sizes)
        return registers["$0"]

    def value(self, text, registers):
        if text == "%clock64":
            self.clock += 1
            return self.clock
        if text == "%globaltimer":
            return self.clock + self.AHEAD
        if text in self.special:
            return self.special[text]
        if text.startswith("{"):  # two registers of 32 bits
            low, high = (registers[part.strip()] for part in text[1:-1].split(","))
            return low | high << 32
        return registers[text] if text in registers else int(text) & MASK

    def address(self, text, registers):
        name, offset = re.match(r"\[(\w+)([+-]-?\d+)?\]", text).groups()
        return registers[name] + int((offset or "0").replace("+-", "-"))

    def step(self, word, parts, registers, sizes):
        base, *marks = word.split(".")
        size = next((int(mark[1:]) for mark in marks if re.fullmatch(r"[usb](32|64)", mark)), 64)
        if base == "st":
            values = [part.strip() for part in parts[1].strip("{}").split(",")]
            for number, part in enumerate(values):
                self.store(self.address(parts[0], registers) + number * size // 8, self.value(part, registers),
                           size // 8)
            return
        if base == "red":
            where = self.address(parts[0], registers)
            self.store(where, self.load(where, size // 8) + self.value(parts[1], registers), size // 8)
            return
        to, *rest = parts
        if base == "ld":
            result = self.load(self.address(rest[0], registers), size // 8)
        elif base == "atom":
            where = self.address(rest[0], registers)
            result = self.load(where, size // 8)
            given = [self.value(part, registers) for part in rest[1:]]
            if "add" in marks:
                self.store(where, result + given[0], size // 8)
            elif result == given[0]:
                self.store(where, given[1], size // 8)
        else:
            result = self.compute(base, marks, size, [self.value(part, registers) for part in rest])
        registers[to] = result & (1 << sizes[to]) - 1

    def compute(self, base, marks, size, given):
        mask = (1 << size) - 1
        if base == "setp":
            left, right = given[0] & mask, given[1] & mask
            holds = {"eq": left == right, "ne": left != right, "lt": left < right, "gt": left > right}[marks[0]]
            if "and" in marks:
                return int(holds and bool(given[2]))
            return int(holds or ("or" in marks and bool(given[2])))
        if base == "cvt":
            return given[0] & (1 << int(marks[0][1:])) - 1 & (1 << int(marks[1][1:])) - 1
        if base == "mad":
            return given[0] * given[1] + given[2]
        return {"mov": lambda: given[0], "add": lambda: given[0] + given[1], "sub": lambda: given[0] - given[1],
                "mul": lambda: given[0] * given[1], "and": lambda: given[0] & given[1],
                "or": lambda: given[0] | given[1], "shl": lambda: given[0] << given[1],
                "shr": lambda: (given[0] & mask) >> given[1], "min": lambda: min(given)}[base]()


class Ring:
    """A ring in the memory of a machine, and a writer of Triton's to it."""

    BASE = 0x7f0000000000

    def __init__(self, chunk_count, flags=0):
        self.chunk_count = chunk_count
        self.chunks, self.states = self.BASE + 512, self.BASE + 512 + 512 * chunk_count
        self.machine = Machine(self.BASE, bytearray(512 + 512 * chunk_count + 4 * chunk_count))
        self.machine.memory[:40] = struct.pack("<IIQQI", 1, flags, self.chunks, self.states, chunk_count).ljust(40, b"\0")
        self.set("next", chunk_count)
        self.state = 0

    def get(self, name):
        return self.machine.load(self.BASE + gputrace_device.RING[name], 8)

    def set(self, name, value):
        self.machine.store(self.BASE + gputrace_device.RING[name], value, 8)

    def start(self, ring=BASE):
        self.state = self.machine.run(gputrace_device.START, ring)

    def put(self, kind, name=7, value=0, times=1):
        piece = {1: gputrace_device.PUT_BEGIN, 2: gputrace_device.PUT_TIMED, 3: gputrace_device.PUT_TIMED,
                 4: gputrace_device.PUT, 5: gputrace_device.PUT}[kind]
        if kind < 4:
            kind |= gputrace_device.TIMED
        for _ in range(times):
            self.state = self.machine.run(piece, self.state, self.BASE, name << 4 | kind, value)

    def close(self):
        assert self.machine.run(gputrace_device.CLOSE, self.state, self.BASE) == 0
        self.state = 0

    def chunk_state(self, index):
        return self.machine.load(self.states + 4 * index, 4)

    def set_chunk_state(self, index, value):
        self.machine.store(self.states + 4 * index, value, 4)

    def header(self, index):
        """globaltimer, clock, grid_id, sm, part, block, blocks, thread, threads, ticket, lost"""
        return struct.unpack_from("<QQQ6IQQ", self.machine.memory, 512 + 512 * index)

    def events(self, index):
        """(clock, name, kind, value) of each place of a chunk."""
        found = [struct.unpack_from("<IIQ", self.machine.memory, 512 + 512 * index + 64 + 16 * place)
                 for place in range(28)]
        return [(clock, tag >> 4, tag & 15, value) for clock, tag, value in found]

    def recycle(self, index):
        self.machine.memory[512 + 512 * index:1024 + 512 * index] = bytes(512)
        self.set_chunk_state(index, 0)
