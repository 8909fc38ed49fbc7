# SPDX-License-Identifier: Apache-2.0
"""What an exported Perfetto file says of the GPUs, read from its bytes alone: an answer that does not
come from gputrace, to compare its reports with. Field numbers are those of Perfetto's format."""
import collections
import statistics
import struct

PACKET, TIMESTAMP, SEQUENCE, INTERNED, FLAGS, RENDER_STAGE, CLOCK = 1, 8, 10, 12, 13, 53, 58
EVENT_NAMES, KERNELS, ARGUMENT_NAMES = 2, 1000, 1001
STATE_CLEARED = 1

Slice = collections.namedtuple("Slice", "gpu name start end arguments kernel")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Pairs of number and value: an integer, or the bytes of a text or message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def lists(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def first(message, number, default=0):
    return message[number][0] if message[number] else default


class Reader:
    """The state of every sequence of packets while the file is read."""

    def __init__(self):
        self.now = {}
        self.tables = collections.defaultdict(dict)  # (sequence, table) -> number -> entry
        self.slices = []

    def arguments(self, sequence, rows):
        names = self.tables[sequence, ARGUMENT_NAMES]
        found = {}
        for row in map(lists, rows):
            if row[6]:
                value = row[6][0].decode()
            else:
                value = struct.unpack("<d", row[5][0])[0] if row[5] else first(row, 3)
            found[names[row[1][0]][2][0].decode()] = value
        return found

    def read_slice(self, sequence, start, event):
        kernel = self.tables[sequence, KERNELS].get(first(event, 19))
        launch = lists(first(event, 21, b""))
        arguments = self.arguments(sequence, launch[3])
        if kernel:
            arguments.update(self.arguments(sequence, kernel[5]))
            for place, name in ((1, "grid"), (2, "block")):
                arguments[name] = "x".join(str(first(lists(launch[place][0]), i)) for i in (1, 2, 3))
        name = self.tables[sequence, EVENT_NAMES][event[20][0]][2][0].decode()
        self.slices.append(Slice(first(event, 11), name, start, start + event[2][0], arguments,
                                 kernel is not None))

    def time_of(self, sequence, packet):
        """A packet's time counts on from the one before in its sequence, unless it names a clock."""
        time = packet[TIMESTAMP][0]
        if first(packet, FLAGS) & STATE_CLEARED:
            self.now[sequence] = time
        elif not packet[CLOCK]:
            time = self.now[sequence] = self.now[sequence] + time
        return time

    def read_packet(self, packet):
        sequence = first(packet, SEQUENCE)
        for table, entry in fields(first(packet, INTERNED, b"")):
            entry = lists(entry)
            self.tables[sequence, table][first(entry, 1)] = entry
        time = self.time_of(sequence, packet) if packet[TIMESTAMP] else None
        if packet[RENDER_STAGE]:
            self.read_slice(sequence, time, lists(packet[RENDER_STAGE][0]))


def read_slices(data):
    """All slices of GPUs in an uncompressed file."""
    reader = Reader()
    for number, packet in fields(data):
        assert number == PACKET
        reader.read_packet(lists(packet))
    return reader.slices


def read_work(data):
    """The same without ranges above streams, which are no work."""
    return [row for row in read_slices(data) if row.arguments.get("kind") != "range"]


def spreads(slices):
    """By name: calls, total, median, shortest and longest time."""
    times = collections.defaultdict(list)
    for row in slices:
        times[row.name].append(row.end - row.start)
    return {name: {"calls": len(all_of), "total_ns": sum(all_of), "median_ns": int(statistics.median(all_of)),
                   "min_ns": min(all_of), "max_ns": max(all_of)} for name, all_of in times.items()}


def idleness(slices):
    """By GPU: from the first to the last, time in which anything ran, and pieces in which nothing did."""
    found = {}
    for gpu in {row.gpu for row in slices}:
        rows = sorted((row.start, row.end) for row in slices if row.gpu == gpu)
        begin = until = rows[0][0]
        active = gaps = 0
        for start, end in rows:
            gaps += start > until
            active += max(end - max(start, until), 0)
            until = max(until, end)
        found[gpu] = {"span_ns": until - begin, "active_ns": active, "gap_ns": until - begin - active,
                      "gaps": gaps}
    return found
