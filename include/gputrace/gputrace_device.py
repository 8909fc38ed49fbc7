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
bits 0 to 46 are the address of the next event, at a multiple of the chunk's size the chunk is full,
and bits 48 to 63 say in which 65536 cycles, modulo 65536, %globaltimer was read last. With bit 47
set there is no chunk: bits 9 to 46 are the events that found no room, bits 48 to 63 how many chunks
there were. device_layout.h has the rest; docs/device-events.md explains it.

Without Triton the module has the names, the ring's address and the text of the PTX.
"""
import os

# Of device_layout.h.
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
AGE_CYCLES = 2000

ADDRESS_MASK = (1 << 47) - 1
DRY = 1 << 47
LOST_MASK = (1 << 38) - 1

REGISTERS = """
	.reg .pred p, q, full, got;
	.reg .b32 a, b, c, d, tag, low, part, index, was, tries;
	.reg .b64 e, f, ring, next, at, old, clock, timer, slot, value, ticket, chunk, cell, lost;
"""

# Gives the full chunk that ends at old back.
GIVE_BACK = f"""
	ld.volatile.global.u64 e, [ring+{RING["chunks"]}];
	sub.s64 f, old, {CHUNK_BYTES};
	sub.s64 f, f, e;
	shr.u64 f, f, 7;
	ld.volatile.global.u64 cell, [ring+{RING["states"]}];
	add.s64 cell, cell, f;
	st.release.gpu.global.u32 [cell], {CLOSED | EVENTS << STATE_BITS};
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
	ld.volatile.global.u32 a, [ring+{RING["version"]}];
	ld.volatile.global.u64 e, [ring+{RING["chunks"]}];
	shr.u64 e, e, 47;
	setp.ne.u32 p, a, 1;
	setp.ne.or.u64 p, e, 0, p;
	@p bra DONE;
	mov.b64 next, {DRY};
DONE:
	mov.b64 $0, next;
""" + "}"

# $0 the state after it; $1 the state, $2 the ring's address, $3 the tag, in 64 bits, $4 the value.
PUT = "{" + REGISTERS + f"""
	mov.b64 next, $1;
	setp.eq.u64 p, next, 0;
	@p bra DONE;
	mov.b64 e, $3;
	cvt.u32.u64 tag, e;
	mov.b64 value, $4;
	mov.u64 clock, %clock64;
	cvt.u32.u64 low, clock;
	shl.b64 slot, clock, 32;
	and.b64 slot, slot, {0xffff << 48};
	and.b64 at, next, {ADDRESS_MASK};
	and.b64 e, next, {CHUNK_BYTES - 1};
	setp.eq.u64 full, e, 0;
	and.b64 e, next, {0xffff << 48};
	setp.ne.or.u64 p, e, slot, full;
	@p bra TURN;
	cvt.u64.u32 e, tag;
	shl.b64 e, e, 32;
	cvt.u64.u32 f, low;
	or.b64 e, e, f;
	st.global.v2.u64 [at], {{e, value}};
	add.s64 next, next, 16;
	bra DONE;

TURN:
	mov.b64 ring, $2;
	mov.u64 clock, %clock64;
	mov.u64 timer, %globaltimer;
	cvt.u32.u64 low, clock;
	shl.b64 slot, clock, 32;
	and.b64 slot, slot, {0xffff << 48};
	@full bra NONE;
	and.b32 a, tag, 15;
	setp.gt.u32 p, a, {MARK};
	@p bra TIME;
	or.b32 tag, tag, {TIMED};
	mov.b64 value, timer;
	bra LAST;

TIME:
	mov.b64 e, {TIME << 32};
	cvt.u64.u32 f, low;
	or.b64 e, e, f;
	st.global.v2.u64 [at], {{e, timer}};
	add.s64 at, at, 16;
	and.b64 e, at, {CHUNK_BYTES - 1};
	setp.ne.u64 p, e, 0;
	@p bra LAST;
	bra FILLED;

NONE:
	and.b64 e, next, {DRY};
	setp.eq.u64 p, e, 0;
	@p bra FILLED;
	mov.b64 old, 0;
	shr.u64 e, next, 48;
	cvt.u32.u64 part, e;
	shr.u64 lost, next, 9;
	and.b64 lost, lost, {LOST_MASK};
	and.b64 e, lost, {RETRY - 1};
	setp.ne.u64 p, e, 0;
	@p bra LOSE;
	bra SEARCH;

FILLED:
	mov.b64 old, at;
	ld.volatile.global.u32 part, [at+{PART - CHUNK_BYTES}];
	add.s32 part, part, 1;
	mov.b64 lost, 0;

SEARCH:
	mov.u32 tries, 0;
NEXT:
	atom.relaxed.gpu.global.add.u64 ticket, [ring+{RING["next"]}], 1;
	ld.volatile.global.u32 a, [ring+{RING["chunk_count"]}];
	sub.s32 a, a, 1;
	cvt.u32.u64 index, ticket;
	and.b32 index, index, a;
	ld.volatile.global.u64 cell, [ring+{RING["states"]}];
	mad.wide.u32 cell, index, 4, cell;
	ld.volatile.global.u64 chunk, [ring+{RING["chunks"]}];
	mad.wide.u32 chunk, index, {CHUNK_BYTES}, chunk;
	atom.relaxed.gpu.global.cas.b32 was, [cell], 0, {OPEN};
	setp.eq.u32 got, was, 0;
	@got bra FOUND;
	and.b32 a, was, {(1 << STATE_BITS) - 1};
	setp.ne.u32 p, a, {CLOSED};
	@p bra TAKEN;
	ld.volatile.global.u32 a, [ring+{RING["flags"]}];
	and.b32 a, a, 1;
	setp.eq.u32 p, a, 0;
	@p bra TAKEN;
	atom.relaxed.gpu.global.cas.b32 a, [cell], was, {OPEN};
	setp.eq.u32 got, a, was;
	@!got bra TAKEN;
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
TAKEN:
	add.s32 tries, tries, 1;
	setp.lt.u32 p, tries, {TRIES};
	@p bra NEXT;
	setp.eq.u64 p, old, 0;
	@p bra LOSE;
	min.u32 part, part, 65535;
	cvt.u64.u32 next, part;
	shl.b64 next, next, 48;
	or.b64 next, next, {DRY};
{GIVE_BACK}
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
	st.global.v2.u64 [chunk], {{timer, clock}};
	mov.u64 e, %gridid;
	mov.u32 a, %smid;
	mov.b64 f, {{a, part}};
	st.global.v2.u64 [chunk+16], {{e, f}};
{numbered("ctaid", "nctaid")}
	mov.b64 e, {{a, b}};
{numbered("tid", "ntid")}
	mov.b64 f, {{a, b}};
	st.global.v2.u64 [chunk+32], {{e, f}};
	st.global.v2.u64 [chunk+48], {{ticket, lost}};
	add.s64 at, chunk, {HEADER_BYTES};
	setp.eq.u64 p, old, 0;
	@p bra OPENED;
{GIVE_BACK}
OPENED:
	and.b32 a, tag, 15;
	setp.ne.u32 p, a, {BEGIN};
	@p bra LAST;
	mov.u64 clock, %clock64;
	cvt.u32.u64 low, clock;

LAST:
	cvt.u64.u32 e, tag;
	shl.b64 e, e, 32;
	cvt.u64.u32 f, low;
	or.b64 e, e, f;
	st.global.v2.u64 [at], {{e, value}};
	add.s64 at, at, 16;
	or.b64 next, at, slot;
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
	sub.s64 e, at, 1;
	and.b64 chunk, e, {ADDRESS_MASK & ~(CHUNK_BYTES - 1)};
	and.b64 e, at, {CHUNK_BYTES - 1};
	setp.eq.u64 p, e, 0;
	@p bra OVER;
	mov.u64 clock, %clock64;
	mov.u64 timer, %globaltimer;
	ld.volatile.global.u64 e, [chunk+8];
	sub.s64 e, clock, e;
	setp.lt.u64 p, e, {AGE_CYCLES};
	@p bra OVER;
	and.b64 e, clock, {0xffffffff};
	or.b64 e, e, {TIME << 32};
	st.global.v2.u64 [at], {{e, timer}};
	add.s64 at, at, 16;
OVER:
	sub.s64 e, at, chunk;
	sub.s64 e, e, {HEADER_BYTES};
	shr.u64 e, e, 4;
	cvt.u32.u64 a, e;
	shl.b32 a, a, {STATE_BITS};
	or.b32 a, a, {CLOSED};
	ld.volatile.global.u64 e, [ring+{RING["chunks"]}];
	sub.s64 f, chunk, e;
	shr.u64 f, f, 7;
	ld.volatile.global.u64 cell, [ring+{RING["states"]}];
	add.s64 cell, cell, f;
	st.release.gpu.global.u32 [cell], a;
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

    @triton.jit
    def start(ring):
        """A state for the block; ring: the argument that ring() was given for."""
        return tl.inline_asm_elementwise(_START, "=l,l", [ring.to(tl.int64)], dtype=tl.int64, is_pure=False, pack=1)

    @triton.jit
    def put(state, ring, tag, value):
        """The state after an event; tag: the name's id times 16, and the kind; both of 64 bits, as the value."""
        return tl.inline_asm_elementwise(_PUT, "=l,l,l,l,l", [state, ring.to(tl.int64), tag, value], dtype=tl.int64,
                                         is_pure=False, pack=1)

    @triton.jit
    def begin(state, ring, name):
        return put(state, ring, tl.full([], name, tl.int64) * 16 + 1, tl.full([], 0, tl.int64))

    @triton.jit
    def end(state, ring, name):
        return put(state, ring, tl.full([], name, tl.int64) * 16 + 2, tl.full([], 0, tl.int64))

    @triton.jit
    def mark(state, ring, name):
        return put(state, ring, tl.full([], name, tl.int64) * 16 + 3, tl.full([], 0, tl.int64))

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
