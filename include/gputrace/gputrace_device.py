# SPDX-License-Identifier: Apache-2.0
"""Events that kernels of Triton's write, and what Python programs need for kernels of NVRTC's.

    import gputrace_device as events

    LOAD = events.name("load")          # a number; a recorded program tells of the text

    @triton.jit
    def kernel(..., ring, LOAD: tl.constexpr):
        state = events.start(ring)
        state = events.begin(state, ring, LOAD)
        ...
        state = events.end(state, ring, LOAD)
        events.close(state, ring)

    kernel[grid](..., events.ring(), LOAD)

The first thread of each block alone writes. A state is 64 bits. 0: nothing is written. Otherwise
bits 0 to 46 are the address of the next event, at a multiple of the chunk's size the chunk is full;
bits 54 to 59 are how many chunks were taken together, bits 48 to 53 how many of them come after the
one at hand. With bit 47 set there is no chunk: bits 9 to 46 are the events that found no room, bits
48 to 63 how many chunks there were. A value has the time before it, as an event of its own.
device_layout.h has the rest; docs/device-events.md explains it.

Without Triton the module has the names, the ring's address and the text of the PTX.
"""
import os

# From device_layout.h.
CHUNK_BYTES = 512
EVENTS = 28
HEADER_BYTES = 64
TRIES = 8
NAME_BYTES = 63
BEGIN, END, MARK, INT, REAL, TIME, TIMED = 1, 2, 3, 4, 5, 6, 8
OPEN, CLOSED, STATE_BITS = 1, 2, 8
RING = {"version": 0, "flags": 4, "chunks": 8, "states": 16, "chunk_count": 24, "next": 128, "lost": 136,
        "overwritten": 144}
PART = 28  # of a chunk
# As device_events.h.
RETRY = 64
RUN = 8
RUNS = 2048

ADDRESS_MASK = (1 << 47) - 1
DRY = 1 << 47
LOST_MASK = (1 << 38) - 1
LEFT_SHIFT, RUN_SHIFT, RUN_MASK = 48, 54, 63

REGISTERS = """
	.reg .pred p, q;
	.reg .b32 a, b, c, d, tag, low, part, index, was, tries, count, run, overwrite;
	.reg .b64 e, f, ring, next, at, old, clock, timer, value, ticket, chunk, cell, lost, behind;
"""

# Gives back the chunks of the state next, whose last event ends at the address at: the one that it is in, full ones
# before it, and those behind it that were not needed.
GIVE_BACK = f"""
	sub.s64 e, at, 1;
	and.b64 e, e, {ADDRESS_MASK & ~(CHUNK_BYTES - 1)};
	sub.s64 f, at, e;
	sub.s64 f, f, {HEADER_BYTES};
	shr.u64 f, f, 4;
	cvt.u32.u64 count, f;
	shl.b32 count, count, {STATE_BITS};
	or.b32 count, count, {CLOSED};
	ld.global.u64 f, [ring+{RING["chunks"]}];
	sub.s64 f, e, f;
	shr.u64 f, f, 7;
	ld.global.u64 cell, [ring+{RING["states"]}];
	add.s64 cell, cell, f;
	st.release.gpu.global.u32 [cell], count;
	mov.b64 old, cell;
	shr.u64 e, next, {LEFT_SHIFT};
	and.b64 e, e, {RUN_MASK};
	cvt.u32.u64 a, e;
	shr.u64 e, next, {RUN_SHIFT};
	and.b64 e, e, {RUN_MASK};
	cvt.u32.u64 run, e;
	sub.s32 run, run, a;
	sub.s32 run, run, 1;
	mov.u32 b, {CLOSED | EVENTS << STATE_BITS};
FULL:
	setp.eq.u32 p, run, 0;
	@p bra LEFT;
	sub.s64 cell, cell, 4;
	st.relaxed.gpu.global.u32 [cell], b;
	sub.s32 run, run, 1;
	bra FULL;
LEFT:
	setp.eq.u32 p, a, 0;
	@p bra GIVEN;
	add.s64 old, old, 4;
	mov.u32 b, {CLOSED};
	st.relaxed.gpu.global.u32 [old], b;
	sub.s32 a, a, 1;
	bra LEFT;
GIVEN:
"""


def numbered(of, name):
    """Number of the block, or thread, in a, and how many there are, in b."""
    return f"""
	mov.u32 a, %{of}.z;
	mov.u32 b, %{name}.y;
	mov.u32 c, %{of}.y;
	mad.lo.s32 a, a, b, c;
	mov.u32 c, %{name}.x;
	mov.u32 d, %{of}.x;
	mad.lo.s32 a, a, c, d;
	mul.lo.s32 b, b, c;
	mov.u32 c, %{name}.z;
	mul.lo.s32 b, b, c;
"""


# $0 the state; $1 the ring's address, 0: nobody records.
START = "{" + REGISTERS + f"""
	mov.b64 ring, $1;
	mov.b64 next, 0;
	mov.u32 a, %tid.x;
	mov.u32 b, %tid.y;
	mov.u32 c, %tid.z;
	or.b32 a, a, b;
	or.b32 a, a, c;
	setp.ne.u32 p, a, 0;
	setp.eq.or.u64 p, ring, 0, p;
	@p bra DONE;
	ld.global.u32 a, [ring+{RING["version"]}];
	ld.global.u64 e, [ring+{RING["chunks"]}];
	shr.u64 e, e, 47;
	setp.ne.u32 p, a, 1;
	setp.ne.or.u64 p, e, 0, p;
	@p bra DONE;
	mov.b64 next, {DRY};
DONE:
	mov.b64 $0, next;
""" + "}"

# Number, state and address of a ticket's chunk, and in a the number of chunks.
PLACE = f"""
	cvt.u32.u64 index, ticket;
	ld.global.u32 a, [ring+{RING["chunk_count"]}];
	sub.s32 b, a, 1;
	and.b32 index, index, b;
	ld.global.u64 cell, [ring+{RING["states"]}];
	mad.wide.u32 cell, index, 4, cell;
	ld.global.u64 chunk, [ring+{RING["chunks"]}];
	mad.wide.u32 chunk, index, {CHUNK_BYTES}, chunk;
"""

# Whether a chunk in the state was may be had: it is free, or closed and may be overwritten.
MAY_HAVE = f"""
	and.b32 a, was, {(1 << STATE_BITS) - 1};
	setp.eq.u32 p, a, {CLOSED};
	setp.ne.and.u32 p, overwrite, 0, p;
	setp.eq.or.u32 p, was, 0, p;
"""

# The free ones of so many chunks, pair by pair. No atomic operation is in a loop: device_events.h says why.
PAIRS = "".join(f"""
	setp.lt.u32 p, {pair + 1}, count;
	@!p bra PAIRED;
	atom.relaxed.gpu.global.cas.b64 e, [cell+{4 * pair}], 0, {OPEN | OPEN << 32};
	setp.ne.u64 p, e, 0;
	@p bra PAIRED;
	mov.u32 run, {pair + 2};
""" for pair in range(0, RUN, 2))

# Another chunk for the state next, whose chunk is full or which has none: the next one of its run, or others. clock and
# timer say when that began. Where there is none it goes to DONE, with the event counted.
CHANGE = f"""
	mov.b64 ring, $2;
	and.b64 e, next, {DRY};
	setp.ne.u64 p, e, 0;
	@p bra NONE;
	and.b64 at, next, {ADDRESS_MASK};
	shr.u64 e, next, {LEFT_SHIFT};
	and.b64 e, e, {RUN_MASK};
	setp.eq.u64 p, e, 0;
	@p bra FILLED;
	sub.s64 next, next, {1 << LEFT_SHIFT};
	mov.b64 chunk, at;
	bra ENTER;

NONE:
	shr.u64 e, next, 48;
	cvt.u32.u64 part, e;
	shr.u64 lost, next, 9;
	and.b64 lost, lost, {LOST_MASK};
	and.b64 e, lost, {RETRY - 1};
	setp.ne.u64 p, e, 0;
	@p bra LOSE;
	bra SEARCH;

FILLED:
	ld.global.u32 part, [at+{PART - CHUNK_BYTES}];
	add.s32 part, part, 1;
{GIVE_BACK}
	min.u32 a, part, 65535;
	cvt.u64.u32 next, a;
	shl.b64 next, next, 48;
	or.b64 next, next, {DRY};
	mov.b64 lost, 0;

SEARCH:
	ld.global.u32 count, [ring+{RING["chunk_count"]}];
	shr.u32 count, count, {RUNS.bit_length() - 1};
	min.u32 count, count, {RUN};
	add.s32 a, part, part;
	min.u32 count, count, a;
	ld.global.u32 a, [ring+{RING["flags"]}];
	and.b32 overwrite, a, 1;
	setp.lt.u32 p, count, 2;
	setp.ne.or.u32 p, overwrite, 0, p;
	@!p bra NEXT;
	mov.u32 count, 1;
NEXT:
	or.b32 a, count, 1;
	cvt.u64.u32 e, a;
	atom.relaxed.gpu.global.add.u64 ticket, [ring+{RING["next"]}], e;
	add.s64 behind, ticket, e;
	setp.eq.u32 p, count, 1;
	@p bra ONE;
	and.b64 e, ticket, 1;
	add.s64 ticket, ticket, e;
{PLACE}
	sub.s32 a, a, index;
	min.u32 count, count, a;
	mov.u32 run, 0;
{PAIRS}
PAIRED:
	setp.ne.u32 p, run, 0;
	@p bra FOUND;
	bra OTHERS;
ONE:
{PLACE}
	mov.u32 run, 1;
	atom.relaxed.gpu.global.cas.b32 was, [cell], 0, {OPEN};
	setp.eq.u32 p, was, 0;
	@p bra FOUND;
{MAY_HAVE}
	@p bra CLAIM;
OTHERS:
	mov.b64 ticket, behind;
	mov.u32 run, 1;
	mov.u32 tries, 1;
LOOK:
{PLACE}
	ld.global.u32 was, [cell];
{MAY_HAVE}
	@p bra DRAW;
	add.s64 ticket, ticket, 1;
	add.s32 tries, tries, 1;
	setp.lt.u32 p, tries, {TRIES - 1};
	@p bra LOOK;
DRAW:
	cvt.u64.u32 e, tries;
	atom.relaxed.gpu.global.add.u64 ticket, [ring+{RING["next"]}], e;
	sub.s64 e, e, 1;
	add.s64 ticket, ticket, e;
{PLACE}
	ld.volatile.global.u32 was, [cell];
{MAY_HAVE}
	@!p bra LOSE;
CLAIM:
	atom.relaxed.gpu.global.cas.b32 a, [cell], was, {OPEN};
	setp.ne.u32 p, a, was;
	@p bra LOSE;
	setp.eq.u32 p, was, 0;
	@p bra FOUND;
	shr.u32 was, was, {STATE_BITS};
	cvt.u64.u32 e, was;
	red.relaxed.gpu.global.add.u64 [ring+{RING["overwritten"]}], e;
	mov.b64 e, chunk;
	add.s64 f, chunk, {CHUNK_BYTES};
	mov.b64 cell, 0;
ZERO:
	st.global.v2.u64 [e], {{cell, cell}};
	add.s64 e, e, 16;
	setp.lt.u64 p, e, f;
	@p bra ZERO;
	bra FOUND;
LOSE:
	add.s64 next, next, {1 << 9};
	shr.u64 e, next, 9;
	and.b64 e, e, {RETRY - 1};
	setp.ne.u64 p, e, 0;
	@p bra DONE;
	mov.b64 e, {RETRY};
	red.relaxed.gpu.global.add.u64 [ring+{RING["lost"]}], e;
	bra DONE;

FOUND:
	cvt.u64.u32 next, run;
	shl.b64 next, next, {RUN_SHIFT - LEFT_SHIFT};
	cvt.u64.u32 e, run;
	add.s64 next, next, e;
	sub.s64 next, next, 1;
	shl.b64 next, next, {LEFT_SHIFT};
	or.b64 next, next, chunk;
	mov.b64 at, chunk;
HEAD:
	mov.u64 e, %gridid;
	mov.u32 a, %smid;
	mov.b64 f, {{a, part}};
	st.global.v2.u64 [at+16], {{e, f}};
{numbered("ctaid", "nctaid")}
	mov.b64 e, {{a, b}};
{numbered("tid", "ntid")}
	mov.b64 f, {{a, b}};
	st.global.v2.u64 [at+32], {{e, f}};
	st.global.v2.u64 [at+48], {{ticket, lost}};
	add.s64 ticket, ticket, 1;
	add.s32 part, part, 1;
	mov.b64 lost, 0;
	add.s64 at, at, {CHUNK_BYTES};
	sub.s32 run, run, 1;
	setp.ne.u32 p, run, 0;
	@p bra HEAD;
ENTER:
	st.global.v2.u64 [chunk], {{timer, clock}};
	add.s64 next, next, {HEADER_BYTES};
"""

# Whether the chunk of the state next has room, or there is none: with a state of 0 nothing is to be done.
ROOM_OR_DONE = f"""
	and.b64 e, next, {CHUNK_BYTES - 1};
	setp.ne.u64 q, e, 0;
	@q bra ROOM;
	setp.eq.u64 p, next, 0;
	@p bra DONE;
"""

CLOCKS = """
	mov.u64 clock, %clock64;
	mov.u64 timer, %globaltimer;
"""


def store(tag, value):
    """One event at the state next, whose time is in clock."""
    return f"""
	and.b64 at, next, {ADDRESS_MASK};
	and.b64 e, clock, {0xffffffff};
	or.b64 e, e, {tag};
	st.global.v2.u64 [at], {{e, {value}}};
	add.s64 next, next, 16;
"""


# Time for a new chunk is before the range.
PUT_BEGIN = "{" + REGISTERS + f"""
	mov.b64 next, $1;
{ROOM_OR_DONE}
{CLOCKS}
{CHANGE}
ROOM:
	mov.b64 f, $3;
	shl.b64 f, f, 32;
{CLOCKS}
{store("f", "timer")}
DONE:
	mov.b64 $0, next;
""" + "}"

# ... or behind its end.
PUT_TIMED = "{" + REGISTERS + f"""
	mov.b64 next, $1;
{ROOM_OR_DONE}
{CLOCKS}
{CHANGE}
	bra STORE;
ROOM:
{CLOCKS}
STORE:
	mov.b64 f, $3;
	shl.b64 f, f, 32;
{store("f", "timer")}
DONE:
	mov.b64 $0, next;
""" + "}"

# $4 the value. The header of a chunk tells the time as well.
PUT = "{" + REGISTERS + f"""
	mov.b64 next, $1;
	setp.eq.u64 p, next, 0;
	@p bra DONE;
{CLOCKS}
	and.b64 e, next, {CHUNK_BYTES - 1};
	setp.eq.u64 p, e, 0;
	@p bra NOROOM;
	mov.b64 f, {TIME << 32};
{store("f", "timer")}
	and.b64 e, next, {CHUNK_BYTES - 1};
	setp.ne.u64 p, e, 0;
	@p bra ROOM;
NOROOM:
{CHANGE}
ROOM:
	mov.b64 f, $3;
	shl.b64 f, f, 32;
	mov.b64 value, $4;
{store("f", "value")}
DONE:
	mov.b64 $0, next;
""" + "}"

# $0 the state after it, 0; $1 the state, $2 the ring's address.
CLOSE = "{" + REGISTERS + f"""
	mov.b64 next, $1;
	setp.eq.u64 p, next, 0;
	@p bra DONE;
	mov.b64 ring, $2;
	and.b64 e, next, {DRY};
	setp.eq.u64 p, e, 0;
	@p bra CHUNK;
	shr.u64 e, next, 9;
	and.b64 e, e, {RETRY - 1};
	setp.eq.u64 p, e, 0;
	@p bra DONE;
	red.relaxed.gpu.global.add.u64 [ring+{RING["lost"]}], e;
	bra DONE;
CHUNK:
	and.b64 at, next, {ADDRESS_MASK};
{GIVE_BACK}
DONE:
	mov.b64 $0, 0;
""" + "}"


def name_id(text):
    """The id of a name, as everywhere: FNV-1a of 32 bits, folded to 28; never 0."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xffffffff
    return ((value >> 28) ^ (value & 0xfffffff)) or 1


_api = None


def _table():
    """The functions of the library that gputrace run loads into a program; None: nobody records."""
    global _api
    if _api is None:
        _api = _find_table() or False
    return _api or None


def _find_table():
    import ctypes

    path = os.environ.get("CUDA_INJECTION64_PATH", "")
    if "gputrace" not in os.path.basename(path):
        return None
    functions = ("pool_create", "pool_destroy", "block_alloc", "block_free", "pool_stats", "pool_pull", "executable",
                 "block_alloc_at", "block_free_at")

    class Api(ctypes.Structure):  # struct gputrace_api
        _fields_ = [("struct_size", ctypes.c_size_t)] + [(function, ctypes.c_void_p) for function in functions] + [
            ("device_name", ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_char_p)),
            ("device_ring", ctypes.CFUNCTYPE(ctypes.c_void_p))]

    try:
        get_api = ctypes.CDLL(path).gputrace_get_api
    except (OSError, AttributeError):
        return None
    get_api.restype = ctypes.POINTER(Api)
    get_api.argtypes = [ctypes.c_uint32]
    found = get_api(1)
    return found.contents if found and found.contents.struct_size >= ctypes.sizeof(Api) else None


def name(text):
    """The id of a name; the recording is told of the text, of at most NAME_BYTES bytes."""
    table = _table()
    if table:
        table.device_name(text.encode())
    return name_id(text)


def ring():
    """Device address of the ring of this thread's current CUDA context, an argument for kernels; 0: nobody records."""
    table = _table()
    return (table.device_ring() or 0) if table else 0


try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton:
    _START, _PUT, _CLOSE = tl.constexpr(START), tl.constexpr(PUT), tl.constexpr(CLOSE)
    _PUT_BEGIN, _PUT_TIMED = tl.constexpr(PUT_BEGIN), tl.constexpr(PUT_TIMED)

    @triton.jit
    def start(ring):
        """A state for the block; ring: the argument that ring() was given for."""
        return tl.inline_asm_elementwise(_START, "=l,l", [ring.to(tl.int64)], dtype=tl.int64, is_pure=False, pack=1)

    @triton.jit
    def put(state, ring, tag, value):
        """The state after a value; tag: the name's id times 16, and the kind; both of 64 bits, as the value."""
        return tl.inline_asm_elementwise(_PUT, "=l,l,l,l,l", [state, ring.to(tl.int64), tag, value], dtype=tl.int64,
                                         is_pure=False, pack=1)

    @triton.jit
    def begin(state, ring, name):
        return tl.inline_asm_elementwise(_PUT_BEGIN, "=l,l,l,l", [state, ring.to(tl.int64),
                                                                  tl.full([], name, tl.int64) * 16 + 9],
                                         dtype=tl.int64, is_pure=False, pack=1)

    @triton.jit
    def put_timed(state, ring, tag):
        """The state after an event without a value."""
        return tl.inline_asm_elementwise(_PUT_TIMED, "=l,l,l,l", [state, ring.to(tl.int64), tag], dtype=tl.int64,
                                         is_pure=False, pack=1)

    @triton.jit
    def end(state, ring, name):
        return put_timed(state, ring, tl.full([], name, tl.int64) * 16 + 10)

    @triton.jit
    def mark(state, ring, name):
        return put_timed(state, ring, tl.full([], name, tl.int64) * 16 + 11)

    @triton.jit
    def value(state, ring, name, number):
        """number: a whole number, a scalar."""
        return put(state, ring, tl.full([], name, tl.int64) * 16 + 4, tl.full([], number, tl.int64))

    @triton.jit
    def real(state, ring, name, number):
        return put(state, ring, tl.full([], name, tl.int64) * 16 + 5,
                   tl.full([], number, tl.float64).to(tl.int64, bitcast=True))

    @triton.jit
    def close(state, ring):
        """Gives the chunk back; every block does so before it ends."""
        return tl.inline_asm_elementwise(_CLOSE, "=l,l,l", [state, ring.to(tl.int64)], dtype=tl.int64, is_pure=False,
                                         pack=1)
