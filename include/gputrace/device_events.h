/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_DEVICE_EVENTS_H
#define GPUTRACE_DEVICE_EVENTS_H

/*
 * The writer of device events in plain C: what device.cuh is made of, for NVRTC as well, and for
 * hosts that play a kernel. device_layout.h says what is written, docs/device-events.md how to use
 * it.
 *
 * A writer is a struct of one thread's. It takes a chunk with its first event, later ones in runs
 * of chunks that lie one behind the other, and gives them back when the run is full and when it is
 * closed; a kernel that ends without closing leaves the run open: its events are read all the same,
 * what it lost last (63 events, and what it made room for) is not counted, and the chunks are
 * missing from the ring until nothing runs in the context.
 *
 * With GPUTRACE_DISABLE defined the functions are there and do nothing.
 */
#include "device_layout.h"

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define GPUTRACE_DEVICE_CALL       static __device__ __forceinline__
#define GPUTRACE_DEVICE_ONE_BY_ONE _Pragma("unroll 1")
#if !defined(GPUTRACE_DISABLE) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)
#define GPUTRACE_DEVICE_WRITES 1
#endif
#else
#include <string.h>
#define GPUTRACE_DEVICE_CALL static inline
#define GPUTRACE_DEVICE_ONE_BY_ONE
#if !defined(GPUTRACE_DISABLE) && defined(GPUTRACE_DEVICE_HOST)
#define GPUTRACE_DEVICE_WRITES 1
#endif
#endif
#ifndef GPUTRACE_DEVICE_WRITES
#define GPUTRACE_DEVICE_WRITES 0
#endif

#if defined(__CUDACC_RTC__)
#define GPUTRACE_DEVICE_OFFSET(type, member) ((gputrace_u64) & ((type *)0)->member)
#else
#define GPUTRACE_DEVICE_OFFSET(type, member) __builtin_offsetof(type, member)
#endif

/*
 * The other threads of a warp wait for the one that gets a chunk, and must go on waiting. By YIELD
 * (SASS) the compiler lets them go where it sees that one wait for something itself: at the head of
 * a loop whose end hangs on an atomic operation, a volatile load or one past the level-1 cache, and
 * at the entry of a function with one of them (CUDA 13.0, sm_75 to sm_100). They run to the end of
 * the kernel then, or to what makes all of them wait, and the writer runs all of that once more by
 * itself: a kernel without barriers took twice as long. So these operations are in place and in no
 * loop. tests/device/check_code.py holds the code to it, run-gpu-tests device_lanes the GPU.
 */

struct gputrace_writer {
	/*
	 * GPUTRACE_WRITER_IDLE: nothing is written. Otherwise the device address of the next event;
	 * at a multiple of GPUTRACE_DEVICE_CHUNK_BYTES the chunk before it is full. With
	 * GPUTRACE_WRITER_DRY there is no chunk: how many there were, and how many events found no
	 * room since the last one.
	 */
	gputrace_u64 next;
	/*
	 * Device address of the ring, or, and 1, of the variable that holds it: that is a constant
	 * and takes no register.
	 */
	gputrace_u64 ring;
	/*
	 * Number of the chunks after the one at hand among those taken together, and from bit
	 * GPUTRACE_WRITER_RUN_SHIFT on the number of all of these. With GPUTRACE_WRITER_DRY: events
	 * that found no room and that the ring has not been told of.
	 */
	gputrace_u32 run;
	/*
	 * The chunk at hand, if there is one, has room for the ends of ranges that are open, and
	 * for so many other events. Where events are called as they are nested the compiler
	 * knows both: then they are in no register, and these events have no branch.
	 */
	gputrace_u32 ends;
	gputrace_u32 spare;
	/* For values alone: where none is written the compiler leaves both out. */
	gputrace_u32 slot;     /* of 65536 cycles, in which %globaltimer was read last */
	gputrace_u32 is_value; /* the last event was one */
};

#if GPUTRACE_DEVICE_WRITES

/* No address, and none at which a chunk ends: so the one branch of an event is not for it. */
#define GPUTRACE_WRITER_IDLE      16ull
#define GPUTRACE_WRITER_DRY       (1ull << 63)
#define GPUTRACE_WRITER_PART_MASK 0x3fffffull /* 41 bits up */

enum {
	GPUTRACE_WRITER_VARIABLE = 1, /* of struct gputrace_writer, ring */
	GPUTRACE_WRITER_LOST_SHIFT = 9,
	GPUTRACE_WRITER_PART_SHIFT = 41,
	GPUTRACE_WRITER_RUN_SHIFT = 8,
	/* Chunks of a run at most, four pairs, */
	GPUTRACE_WRITER_RUN = 8,
	/* and so that so many writers find room for one. */
	GPUTRACE_WRITER_RUNS = 2048,
	/* A writer that found the ring full tries again after so many events. A power of two. */
	GPUTRACE_WRITER_RETRY = 64,
	/* A writer that closes a chunk as old as this writes the time after a value. */
	GPUTRACE_WRITER_AGE_CYCLES = 2000
};

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)

/* Two clocks, read one right after the other. */
struct gputrace_moment {
	gputrace_u64 clock;
	gputrace_u64 globaltimer;
};

/*
 * Known to the GPU alone. The clock is read where the program says, as seen from the accesses
 * to memory around it.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_clock(void)
{
	gputrace_u64 value;

	asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
	return value;
}

GPUTRACE_DEVICE_CALL struct gputrace_moment gputrace_device_moment(void)
{
	struct gputrace_moment moment;

	asm volatile("mov.u64 %0, %%clock64;\n\t"
	             "mov.u64 %1, %%globaltimer;"
	             : "=l"(moment.clock), "=l"(moment.globaltimer)::"memory");
	return moment;
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_add64(gputrace_u64 address, gputrace_u64 count)
{
	gputrace_u64 before;

	asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
	             : "=l"(before)
	             : "l"(address), "l"(count)
	             : "memory");
	return before;
}

/*
 * The value that was there; as it was expected, it is the wanted one now. Relaxed: an acquire would
 * throw away the level-1 cache, and nothing that the former owner wrote is read.
 */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_swap32(gputrace_u64 address,
                                                         gputrace_u32 expected, gputrace_u32 wanted)
{
	gputrace_u32 before;

	asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
	             : "=r"(before)
	             : "l"(address), "r"(expected), "r"(wanted)
	             : "memory");
	return before;
}

/* The same of two at once, at a multiple of 8: whether both were as expected. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_swap64(gputrace_u64 address,
                                                         gputrace_u64 expected, gputrace_u64 wanted)
{
	gputrace_u64 before;

	asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
	             : "=l"(before)
	             : "l"(address), "l"(expected), "l"(wanted)
	             : "memory");
	return before;
}

/*
 * Earlier stores are there before this one, and before later ones: the machine waits here for all
 * of them. A fence of its own would throw away the level-1 cache as well.
 */
GPUTRACE_DEVICE_CALL void gputrace_device_release32(gputrace_u64 address, gputrace_u32 value)
{
	asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

GPUTRACE_DEVICE_CALL void gputrace_device_release64(gputrace_u64 address, gputrace_u64 value)
{
	asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

GPUTRACE_DEVICE_CALL void gputrace_device_set64(gputrace_u64 address, gputrace_u64 value)
{
	asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/* Loads a value that may change while the kernel runs. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_look64(gputrace_u64 address)
{
	gputrace_u64 value;

	asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
	return value;
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_look32(gputrace_u64 address)
{
	gputrace_u32 value;

	asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
	return value;
}

/* Loads a value that does not, or that the thread wrote itself: the level-1 cache will do. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_load64(gputrace_u64 address)
{
	gputrace_u64 value;

	asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
	return value;
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_load32(gputrace_u64 address)
{
	gputrace_u32 value;

	asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
	return value;
}

/* One store of 16 bytes. */
GPUTRACE_DEVICE_CALL void gputrace_device_store(gputrace_u64 address, gputrace_u64 low,
                                                gputrace_u64 high)
{
	asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(low), "l"(high)
	             : "memory");
}

/*
 * An event without a value at that address, if there is room, else it counts: what next is then,
 * and the slot. In one piece, which the compiler puts under a predicate as a whole: a warp waits
 * some 15 cycles for each branch (sm_90), and for a clock that is not read under a predicate up to
 * 40 more.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_put(int room, gputrace_u64 next, gputrace_u32 tag,
                                                      gputrace_u32 *slot, gputrace_u32 *without)
{
	asm volatile("{\n\t"
	             ".reg .pred room;\n\t"
	             ".reg .b32 low, high, early, late;\n\t"
	             ".reg .b64 clock, time;\n\t"
	             "setp.ne.s32 room, %4, 0;\n\t"
	             "@!room add.u32 %2, %2, 1;\n\t"
	             "@!room bra without;\n\t"
	             "mov.u64 clock, %%clock64;\n\t"
	             "mov.u64 time, %%globaltimer;\n\t"
	             "mov.b64 {low, high}, clock;\n\t"
	             "mov.b64 {early, late}, time;\n\t"
	             "st.global.v4.u32 [%0], {low, %3, early, late};\n\t"
	             "add.u64 %0, %0, 16;\n\t"
	             "shf.r.wrap.b32 %1, low, high, 16;\n\t"
	             "without:\n\t"
	             "}"
	             : "+l"(next), "+r"(*slot), "+r"(*without)
	             : "r"(tag), "r"(room)
	             : "memory");
	return next;
}

/* A value likewise, with the time before it where that is another slot: room for both. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_put_value(int room, gputrace_u64 next,
                                                            gputrace_u32 tag, gputrace_u64 value,
                                                            gputrace_u32 *slot,
                                                            gputrace_u32 *without)
{
	asm volatile("{\n\t"
	             ".reg .pred room, late;\n\t"
	             ".reg .b32 low, high, now;\n\t"
	             ".reg .b64 clock, time, pair;\n\t"
	             "setp.ne.s32 room, %6, 0;\n\t"
	             "@!room add.u32 %2, %2, 1;\n\t"
	             "@!room bra without;\n\t"
	             "mov.u64 clock, %%clock64;\n\t"
	             "mov.b64 {low, high}, clock;\n\t"
	             "shf.r.wrap.b32 now, low, high, 16;\n\t"
	             "setp.ne.u32 late, now, %1;\n\t"
	             "@late mov.u64 time, %%globaltimer;\n\t"
	             "mov.b64 pair, {low, %5};\n\t"
	             "@late st.global.v2.u64 [%0], {pair, time};\n\t"
	             "@late add.u64 %0, %0, 16;\n\t"
	             "mov.b64 pair, {low, %3};\n\t"
	             "st.global.v2.u64 [%0], {pair, %4};\n\t"
	             "add.u64 %0, %0, 16;\n\t"
	             "mov.u32 %1, now;\n\t"
	             "without:\n\t"
	             "}"
	             : "+l"(next), "+r"(*slot), "+r"(*without)
	             : "r"(tag), "l"(value), "r"(GPUTRACE_DEVICE_TAG(0, GPUTRACE_DEVICE_TIME)),
	               "r"(room)
	             : "memory");
	return next;
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_grid_id(void)
{
	gputrace_u64 value;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(value));
	return value;
}

/* The special register of that name: read where it is needed, so that it takes no register before. */
#define GPUTRACE_DEVICE_SPECIAL(function, name)                                                    \
	GPUTRACE_DEVICE_CALL gputrace_u32 function(void)                                           \
	{                                                                                          \
		gputrace_u32 value;                                                                \
                                                                                                   \
		asm volatile("mov.u32 %0, %%" name ";" : "=r"(value));                             \
		return value;                                                                      \
	}

GPUTRACE_DEVICE_SPECIAL(gputrace_device_sm, "smid")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_block_x, "ctaid.x")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_block_y, "ctaid.y")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_block_z, "ctaid.z")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_blocks_x, "nctaid.x")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_blocks_y, "nctaid.y")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_blocks_z, "nctaid.z")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_thread_x, "tid.x")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_thread_y, "tid.y")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_thread_z, "tid.z")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_threads_x, "ntid.x")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_threads_y, "ntid.y")
GPUTRACE_DEVICE_SPECIAL(gputrace_device_threads_z, "ntid.z")

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_block(void)
{
	return gputrace_device_block_x() +
	       gputrace_device_blocks_x() *
	               (gputrace_device_block_y() +
	                gputrace_device_blocks_y() * gputrace_device_block_z());
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_blocks(void)
{
	return gputrace_device_blocks_x() * gputrace_device_blocks_y() * gputrace_device_blocks_z();
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_thread(void)
{
	return gputrace_device_thread_x() +
	       gputrace_device_threads_x() *
	               (gputrace_device_thread_y() +
	                gputrace_device_threads_y() * gputrace_device_thread_z());
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_threads(void)
{
	return gputrace_device_threads_x() * gputrace_device_threads_y() *
	       gputrace_device_threads_z();
}

#else
/*
 * A host that plays a kernel. Before it includes this file it says what it makes of the clock and
 * the special registers: tests/support/device_kernel.h.
 */

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_add64(gputrace_u64 address, gputrace_u64 count)
{
	return __atomic_fetch_add((gputrace_u64 *)address, count, __ATOMIC_RELAXED);
}

/* Pairs with the release when a chunk is closed, and with whoever makes it free. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_swap32(gputrace_u64 address,
                                                         gputrace_u32 expected, gputrace_u32 wanted)
{
	(void)__atomic_compare_exchange_n((gputrace_u32 *)address, &expected, wanted, 0,
	                                  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	return expected;
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_swap64(gputrace_u64 address,
                                                         gputrace_u64 expected, gputrace_u64 wanted)
{
	(void)__atomic_compare_exchange_n((gputrace_u64 *)address, &expected, wanted, 0,
	                                  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	return expected;
}

GPUTRACE_DEVICE_CALL void gputrace_device_release32(gputrace_u64 address, gputrace_u32 value)
{
	__atomic_store_n((gputrace_u32 *)address, value, __ATOMIC_RELEASE);
}

GPUTRACE_DEVICE_CALL void gputrace_device_release64(gputrace_u64 address, gputrace_u64 value)
{
	__atomic_store_n((gputrace_u64 *)address, value, __ATOMIC_RELEASE);
}

GPUTRACE_DEVICE_CALL void gputrace_device_set64(gputrace_u64 address, gputrace_u64 value)
{
	__atomic_store_n((gputrace_u64 *)address, value, __ATOMIC_RELEASE);
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_load64(gputrace_u64 address)
{
	return __atomic_load_n((const gputrace_u64 *)address, __ATOMIC_RELAXED);
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_look64(gputrace_u64 address)
{
	return gputrace_device_load64(address);
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_load32(gputrace_u64 address)
{
	return __atomic_load_n((const gputrace_u32 *)address, __ATOMIC_RELAXED);
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_look32(gputrace_u64 address)
{
	return gputrace_device_load32(address);
}

GPUTRACE_DEVICE_CALL void gputrace_device_store(gputrace_u64 address, gputrace_u64 low,
                                                gputrace_u64 high)
{
	__atomic_store_n((gputrace_u64 *)address, low, __ATOMIC_RELAXED);
	__atomic_store_n((gputrace_u64 *)(address + 8), high, __ATOMIC_RELAXED);
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_put(int room, gputrace_u64 next, gputrace_u32 tag,
                                                      gputrace_u32 *slot, gputrace_u32 *without)
{
	struct gputrace_moment moment;

	if (!room) {
		(*without)++;
		return next;
	}
	moment = gputrace_device_moment();
	gputrace_device_store(next, (gputrace_u32)moment.clock | (gputrace_u64)tag << 32,
	                      moment.globaltimer);
	*slot = (gputrace_u32)(moment.clock / GPUTRACE_DEVICE_TIME_CYCLES);
	return next + sizeof(struct gputrace_device_event);
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_put_value(int room, gputrace_u64 next,
                                                            gputrace_u32 tag, gputrace_u64 value,
                                                            gputrace_u32 *slot,
                                                            gputrace_u32 *without)
{
	struct gputrace_moment moment;

	if (!room) {
		(*without)++;
		return next;
	}
	moment.clock = gputrace_device_clock();
	if ((gputrace_u32)(moment.clock / GPUTRACE_DEVICE_TIME_CYCLES) != *slot) {
		moment.globaltimer = gputrace_device_globaltimer();
		gputrace_device_store(
			next,
			(gputrace_u32)moment.clock |
				(gputrace_u64)GPUTRACE_DEVICE_TAG(0, GPUTRACE_DEVICE_TIME) << 32,
			moment.globaltimer);
		next += sizeof(struct gputrace_device_event);
	}
	gputrace_device_store(next, (gputrace_u32)moment.clock | (gputrace_u64)tag << 32, value);
	*slot = (gputrace_u32)(moment.clock / GPUTRACE_DEVICE_TIME_CYCLES);
	return next + sizeof(struct gputrace_device_event);
}

#endif

/* Address of a member of the ring. */
#define GPUTRACE_RING_AT(ring, member)                                                             \
	((ring) + GPUTRACE_DEVICE_OFFSET(struct gputrace_device_ring, member))

/* The ring's address, 0: nobody records. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_ring(gputrace_u64 ring)
{
	return (ring & GPUTRACE_WRITER_VARIABLE) ? gputrace_device_look64(ring - 1) : ring;
}

/* Whether somebody records, in the layout that the writer knows. */
GPUTRACE_DEVICE_CALL int gputrace_writer_is_known(gputrace_u64 ring)
{
	const gputrace_u64 at = gputrace_writer_ring(ring);

	return at &&
	       gputrace_device_load32(GPUTRACE_RING_AT(at, version)) == GPUTRACE_DEVICE_VERSION;
}

/* Whether this thread writes, or would if there was room. */
GPUTRACE_DEVICE_CALL int gputrace_writer_writes(gputrace_u64 next)
{
	return next >= GPUTRACE_DEVICE_CHUNK_BYTES;
}

/* Whether it does, and there is no room for another event. */
GPUTRACE_DEVICE_CALL int gputrace_writer_is_full(gputrace_u64 next)
{
	return ((gputrace_u32)next & (GPUTRACE_DEVICE_CHUNK_BYTES - 1)) == 0;
}

/* Whether it has a chunk, full or not. Without a branch. */
GPUTRACE_DEVICE_CALL int gputrace_writer_has_chunk(gputrace_u64 next)
{
	return (long long)next >= GPUTRACE_DEVICE_CHUNK_BYTES;
}

/* Whether fewer events than that have room in its chunk; never of a writer that is idle. */
GPUTRACE_DEVICE_CALL int gputrace_writer_is_short(gputrace_u64 next, gputrace_u32 events)
{
	return ((0u - (gputrace_u32)next) & (GPUTRACE_DEVICE_CHUNK_BYTES - 1)) <
	       events * (gputrace_u32)sizeof(struct gputrace_device_event);
}

GPUTRACE_DEVICE_CALL void gputrace_writer_store(gputrace_u64 at, gputrace_u64 clock,
                                                gputrace_u32 tag, gputrace_u64 value)
{
	gputrace_device_store(at, (gputrace_u32)clock | (gputrace_u64)tag << 32, value);
}

/* Two numbers of 32 bits, the first at the lower address. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_pair(gputrace_u32 first, gputrace_u32 second)
{
	return first | (gputrace_u64)second << 32;
}

/* Chunks of the run after the one at hand, and how many they all are. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_left(gputrace_u32 run)
{
	return run & ((1u << GPUTRACE_WRITER_RUN_SHIFT) - 1);
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_run(gputrace_u32 count)
{
	return count << GPUTRACE_WRITER_RUN_SHIFT | (count - 1);
}

/*
 * The states of two chunks of a run, when it is given back: how many chunks there are before the
 * one with so many events, and after it.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_closed(gputrace_u32 number, gputrace_u32 last,
                                                         gputrace_u32 count)
{
	const gputrace_u32 first_count = number < last    ? GPUTRACE_DEVICE_EVENTS
	                                 : number == last ? count
	                                                  : 0;
	const gputrace_u32 second_count = number + 1 < last    ? GPUTRACE_DEVICE_EVENTS
	                                  : number + 1 == last ? count
	                                                       : 0;

	return gputrace_writer_pair(
		GPUTRACE_DEVICE_CLOSED | first_count << GPUTRACE_DEVICE_STATE_BITS,
		GPUTRACE_DEVICE_CLOSED | second_count << GPUTRACE_DEVICE_STATE_BITS);
}

/*
 * Gives back the run of the chunk that the last event before that address is in: full chunks, that
 * one, and those that were not needed.
 */
GPUTRACE_DEVICE_CALL void gputrace_writer_give_back(gputrace_u64 ring, gputrace_u64 next,
                                                    gputrace_u32 run)
{
	const gputrace_u64 chunk = (next - 1) & ~(GPUTRACE_DEVICE_CHUNK_BYTES - 1ull);
	const gputrace_u32 count =
		((gputrace_u32)next - (gputrace_u32)chunk -
	         (gputrace_u32)GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, events)) /
		(gputrace_u32)sizeof(struct gputrace_device_event);
	const gputrace_u32 size = run >> GPUTRACE_WRITER_RUN_SHIFT;
	const gputrace_u32 last = size - 1 - gputrace_writer_left(run);
	const gputrace_u32 index =
		(gputrace_u32)((chunk - gputrace_device_load64(GPUTRACE_RING_AT(ring, chunks))) /
	                       GPUTRACE_DEVICE_CHUNK_BYTES) -
		last;
	const gputrace_u64 states =
		gputrace_device_load64(GPUTRACE_RING_AT(ring, states)) + index * 4ull;

	if (size < 2) {
		gputrace_device_release32(states, GPUTRACE_DEVICE_CLOSED |
		                                          count << GPUTRACE_DEVICE_STATE_BITS);
		return;
	}
	/* Runs have pairs: one number of 64 bits. */
	gputrace_device_release64(states, gputrace_writer_closed(0, last, count));
	GPUTRACE_DEVICE_ONE_BY_ONE
	for (gputrace_u32 i = 2; i < size; i += 2)
		gputrace_device_set64(states + i * 4ull, gputrace_writer_closed(i, last, count));
}

/* Whether a chunk in that state may be had: it is free, or closed and may be overwritten. */
GPUTRACE_DEVICE_CALL int gputrace_writer_may_have(gputrace_u64 ring, gputrace_u32 state)
{
	const gputrace_u32 kind = state & ((1u << GPUTRACE_DEVICE_STATE_BITS) - 1);

	return state == GPUTRACE_DEVICE_FREE ||
	       (kind == GPUTRACE_DEVICE_CLOSED &&
	        gputrace_device_load32(GPUTRACE_RING_AT(ring, flags)) & GPUTRACE_DEVICE_OVERWRITE);
}

/* Makes a chunk that may be had the writer's own, if its state is that one still; else 0. */
GPUTRACE_DEVICE_CALL int gputrace_writer_claim(gputrace_u64 ring, gputrace_u64 state,
                                               gputrace_u32 was, gputrace_u64 chunk)
{
	if (gputrace_device_swap32(state, was, GPUTRACE_DEVICE_OPEN) != was)
		return 0;
	if (was == GPUTRACE_DEVICE_FREE)
		return 1;
	gputrace_device_add64(GPUTRACE_RING_AT(ring, overwritten),
	                      was >> GPUTRACE_DEVICE_STATE_BITS);
	GPUTRACE_DEVICE_ONE_BY_ONE
	for (gputrace_u64 at = chunk; at < chunk + sizeof(struct gputrace_device_chunk); at += 16)
		gputrace_device_store(at, 0, 0);
	return 1;
}

/* How many chunks a writer had that is dry. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_part(gputrace_u64 next)
{
	return (gputrace_u32)(next >> GPUTRACE_WRITER_PART_SHIFT & GPUTRACE_WRITER_PART_MASK);
}

/* next of a writer whose last chunk is full, without it. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_dry(gputrace_u64 next)
{
	const gputrace_u64 part =
		gputrace_device_load32(next - GPUTRACE_DEVICE_CHUNK_BYTES +
	                               GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, part));

	return GPUTRACE_WRITER_DRY | ((part + 1) & GPUTRACE_WRITER_PART_MASK)
	                                     << GPUTRACE_WRITER_PART_SHIFT;
}

/* How many events of a writer that is dry found no room since its last chunk. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_lost(gputrace_u64 next)
{
	return (gputrace_u32)(next >> GPUTRACE_WRITER_LOST_SHIFT);
}

/*
 * Fills in the headers of chunks that the writer has got, but for the time. next is what it was
 * before. Part by part, as each takes registers of its own.
 */
GPUTRACE_DEVICE_CALL void gputrace_writer_head(gputrace_u64 chunk, gputrace_u32 count,
                                               gputrace_u64 ticket, gputrace_u64 next)
{
	gputrace_u32 lost = gputrace_writer_lost(next);
	gputrace_u32 part = gputrace_writer_part(next);
	const gputrace_u64 grid_id = gputrace_device_grid_id();
	const gputrace_u32 sm = gputrace_device_sm();
	gputrace_u64 at = chunk;
	gputrace_u32 left = count;

	GPUTRACE_DEVICE_ONE_BY_ONE
	for (; left; left--, at += GPUTRACE_DEVICE_CHUNK_BYTES, ticket++, part++, lost = 0) {
		gputrace_device_store(at + 48, ticket, lost);
		gputrace_device_store(at + 16, grid_id, gputrace_writer_pair(sm, part));
		if (left == 1)
			break;
		left--;
		at += GPUTRACE_DEVICE_CHUNK_BYTES;
		ticket++;
		part++;
		gputrace_device_store(at + 48, ticket, 0);
		gputrace_device_store(at + 16, grid_id, gputrace_writer_pair(sm, part));
	}

	const gputrace_u64 blocks =
		gputrace_writer_pair(gputrace_device_block(), gputrace_device_blocks());
	const gputrace_u64 threads =
		gputrace_writer_pair(gputrace_device_thread(), gputrace_device_threads());

	GPUTRACE_DEVICE_ONE_BY_ONE
	for (; count; count--, chunk += GPUTRACE_DEVICE_CHUNK_BYTES) {
		gputrace_device_store(chunk + 32, blocks, threads);
		if (count == 1)
			break;
		count--;
		chunk += GPUTRACE_DEVICE_CHUNK_BYTES;
		gputrace_device_store(chunk + 32, blocks, threads);
	}
}

/* Begins with a chunk that has a header. Returns the new next. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_enter(gputrace_u64 chunk,
                                                        struct gputrace_moment moment)
{
	gputrace_device_store(chunk, moment.globaltimer, moment.clock);
	return chunk + GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, events);
}

/* The number of a ticket's chunk, */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_index(gputrace_u64 ring, gputrace_u64 ticket)
{
	return (gputrace_u32)ticket &
	       (gputrace_device_load32(GPUTRACE_RING_AT(ring, chunk_count)) - 1);
}

/* and its address. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_chunk(gputrace_u64 ring, gputrace_u64 ticket)
{
	return gputrace_device_load64(GPUTRACE_RING_AT(ring, chunks)) +
	       (gputrace_u64)gputrace_writer_index(ring, ticket) * GPUTRACE_DEVICE_CHUNK_BYTES;
}

/* How many chunks a writer that had so many wants at once: 1, 2, 6 and 8, where it may. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_wish(gputrace_u64 ring, gputrace_u32 part)
{
	const gputrace_u32 most =
		gputrace_device_load32(GPUTRACE_RING_AT(ring, chunk_count)) / GPUTRACE_WRITER_RUNS;
	const gputrace_u32 wish = part < GPUTRACE_WRITER_RUN / 2 ? 2 * part : GPUTRACE_WRITER_RUN;

	if (wish < 2 || most < 2 ||
	    gputrace_device_load32(GPUTRACE_RING_AT(ring, flags)) & GPUTRACE_DEVICE_OVERWRITE)
		return 1;
	return wish < most ? wish : most;
}

/*
 * Makes free chunks the writer's own, from the first on as far as it gets them: pairs, which are
 * asked for at once. count is even, GPUTRACE_WRITER_RUN at most. The state behind the last one.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_claim_run(gputrace_u64 state, gputrace_u32 count)
{
	const gputrace_u64 open = gputrace_writer_pair(GPUTRACE_DEVICE_OPEN, GPUTRACE_DEVICE_OPEN);
	const gputrace_u64 was = gputrace_device_swap64(state, 0, open);
	const gputrace_u64 was_1 = count > 2 ? gputrace_device_swap64(state + 8, 0, open) : 1;
	const gputrace_u64 was_2 = count > 4 ? gputrace_device_swap64(state + 16, 0, open) : 1;
	const gputrace_u64 was_3 = count > 6 ? gputrace_device_swap64(state + 24, 0, open) : 1;
	const gputrace_u32 got = was ? 0 : was_1 ? 1 : was_2 ? 2 : was_3 ? 3 : 4;

	/* Chunks that were got behind one that was not. */
	if (got < 1 && !was_1)
		gputrace_device_set64(state + 8, 0);
	if (got < 2 && !was_2)
		gputrace_device_set64(state + 16, 0);
	if (got < 3 && !was_3)
		gputrace_device_set64(state + 24, 0);
	return state + got * 8ull;
}

/* The state of a ticket's chunk. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_state(gputrace_u64 ring, gputrace_u64 ticket)
{
	return gputrace_device_load64(GPUTRACE_RING_AT(ring, states)) +
	       (gputrace_u64)gputrace_writer_index(ring, ticket) * 4;
}

/* How many of so many free chunks, at least two, with that ticket and behind it are its own now. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_claim_all(gputrace_u64 ring, gputrace_u64 ticket,
                                                            gputrace_u32 count)
{
	const gputrace_u64 state = gputrace_writer_state(ring, ticket);
	const gputrace_u32 most =
		gputrace_device_load32(GPUTRACE_RING_AT(ring, chunk_count)) -
		gputrace_writer_index(ring, ticket); /* not round the ring's end */

	return (gputrace_u32)(gputrace_writer_claim_run(state,
	                                                (count < most ? count : most) & ~1u) -
	                      state) /
	       4;
}

/* The lower halves of a moment, which take fewer registers. */
struct gputrace_recent {
	gputrace_u32 clock;
	gputrace_u32 globaltimer;
};

GPUTRACE_DEVICE_CALL struct gputrace_recent gputrace_writer_recent(struct gputrace_moment moment)
{
	struct gputrace_recent recent;

	recent.clock = (gputrace_u32)moment.clock;
	recent.globaltimer = (gputrace_u32)moment.globaltimer;
	return recent;
}

/* The whole of it, less than four seconds later. */
GPUTRACE_DEVICE_CALL struct gputrace_moment gputrace_writer_past(struct gputrace_recent recent)
{
	struct gputrace_moment moment = gputrace_device_moment();

	moment.clock -= (gputrace_u32)moment.clock - recent.clock;
	moment.globaltimer -= (gputrace_u32)moment.globaltimer - recent.globaltimer;
	return moment;
}

/* A writer's chunks: next, and run, of struct gputrace_writer. */
struct gputrace_place {
	gputrace_u64 next;
	gputrace_u32 run;
};

/* A ticket whose chunk is the writer's from now on, and the number of those behind it; 0: none. */
struct gputrace_found {
	gputrace_u64 ticket;
	gputrace_u32 count;
};

/*
 * Chunks for a writer that is dry: as many as it wants with one ticket, or the next one that may be
 * had. It looks before it draws, so that it passes over none that it could have had.
 */
GPUTRACE_DEVICE_CALL struct gputrace_found gputrace_writer_search(gputrace_u64 ring,
                                                                  gputrace_u64 next)
{
	const gputrace_u32 wish = gputrace_writer_wish(ring, gputrace_writer_part(next));
	gputrace_u32 was = GPUTRACE_DEVICE_OPEN;
	struct gputrace_found found;
	gputrace_u64 state;

	/* Runs begin with an even one: two states are one number. */
	found.ticket = gputrace_device_add64(GPUTRACE_RING_AT(ring, next), wish | (wish > 1));
	if (wish > 1) {
		found.ticket += found.ticket & 1;
		found.count = gputrace_writer_claim_all(ring, found.ticket, wish);
	} else {
		was = gputrace_device_swap32(gputrace_writer_state(ring, found.ticket),
		                             GPUTRACE_DEVICE_FREE, GPUTRACE_DEVICE_OPEN);
		found.count = was == GPUTRACE_DEVICE_FREE;
	}
	if (found.count)
		return found;
	state = gputrace_writer_state(ring, found.ticket);
	if (!gputrace_writer_may_have(ring, was)) {
		gputrace_u32 passed = 0;

		/* The level-1 cache may hold old states: they are looked at again below. */
		GPUTRACE_DEVICE_ONE_BY_ONE
		while (passed < GPUTRACE_DEVICE_TRIES - 2 &&
		       !gputrace_writer_may_have(ring,
		                                 gputrace_device_load32(gputrace_writer_state(
							 ring, found.ticket + wish + passed))))
			passed++;
		found.ticket =
			gputrace_device_add64(GPUTRACE_RING_AT(ring, next), passed + 1) + passed;
		state = gputrace_writer_state(ring, found.ticket);
		was = gputrace_device_look32(state);
		if (!gputrace_writer_may_have(ring, was))
			return found;
	}
	found.count = (gputrace_u32)gputrace_writer_claim(
		ring, state, was, gputrace_writer_chunk(ring, found.ticket));
	return found;
}

/* Tells the ring of events that found no room. Returns the new next of a writer that is dry. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_lose(gputrace_u64 ring, gputrace_u64 next,
                                                       gputrace_u32 events)
{
	const gputrace_u32 lost = gputrace_writer_lost(next);

	gputrace_device_add64(GPUTRACE_RING_AT(ring, lost), events);
	if (lost + events < lost) /* it would not fit: the ring's count goes on, this one stays */
		return next;
	return next + ((gputrace_u64)events << GPUTRACE_WRITER_LOST_SHIFT);
}

/*
 * The place of a writer without a chunk, or whose run is full, after it tried to get others: it is
 * dry still, or idle, as nobody records any more, or has some.
 */
GPUTRACE_DEVICE_CALL struct gputrace_place gputrace_writer_turn(gputrace_u64 ring,
                                                                struct gputrace_place old)
{
	struct gputrace_place place = {GPUTRACE_WRITER_IDLE, 0};
	const gputrace_u32 is_dry = old.next >> 63;
	struct gputrace_found found;

	if (is_dry && old.run - 1 < GPUTRACE_WRITER_RETRY - 1)
		return old;
	ring = gputrace_writer_ring(ring);
	if (!ring)
		return place;
	if (!is_dry) {
		const gputrace_u64 dry = gputrace_writer_dry(old.next);

		gputrace_writer_give_back(ring, old.next, old.run);
		old.next = dry;
	} else if (old.run) {
		old.next = gputrace_writer_lose(ring, old.next, old.run);
	}
	found = gputrace_writer_search(ring, old.next);
	place.next = old.next;
	if (!found.count)
		return place;
	place.next = gputrace_writer_chunk(ring, found.ticket);
	place.run = gputrace_writer_run(found.count);
	gputrace_writer_head(place.next, found.count, found.ticket, old.next);
	return place;
}

/*
 * Moves a writer whose chunk is full to the next one of its run, or to others. moment: when that
 * began; afterwards, if it is not kept, when it had others. Whether it has a chunk.
 */
GPUTRACE_DEVICE_CALL int gputrace_writer_change(struct gputrace_writer *writer,
                                                struct gputrace_moment *moment, int is_kept)
{
	struct gputrace_place place;

	place.next = writer->next;
	place.run = writer->run;
	if (gputrace_writer_has_chunk(place.next) && gputrace_writer_left(place.run)) {
		place.run--; /* it lies behind the full one */
	} else if (is_kept) {
		const struct gputrace_recent recent = gputrace_writer_recent(*moment);

		place = gputrace_writer_turn(writer->ring, place);
		*moment = gputrace_writer_past(recent);
	} else {
		place = gputrace_writer_turn(writer->ring, place);
		*moment = gputrace_device_moment();
	}
	writer->run = place.run;
	writer->next = place.next;
	if (!gputrace_writer_has_chunk(place.next))
		return 0;
	writer->next = gputrace_writer_enter(place.next, *moment);
	writer->slot = (gputrace_u32)(moment->clock / GPUTRACE_DEVICE_TIME_CYCLES);
	return 1;
}

/*
 * Fills the rest of a chunk that has too little room with the time, as often as it fits; the
 * writer goes on in another one.
 */
GPUTRACE_DEVICE_CALL int gputrace_writer_go_on(struct gputrace_writer *writer,
                                               struct gputrace_moment *moment, int is_kept)
{
	GPUTRACE_DEVICE_ONE_BY_ONE
	while (!gputrace_writer_is_full(writer->next)) {
		gputrace_writer_store(writer->next, moment->clock,
		                      GPUTRACE_DEVICE_TAG(0, GPUTRACE_DEVICE_TIME),
		                      moment->globaltimer);
		writer->next += sizeof(struct gputrace_device_event);
	}
	return gputrace_writer_change(writer, moment, is_kept);
}

/*
 * Room in one chunk for so many events and the ends of what is open. Whether there is a chunk; in
 * one there is room then.
 */
GPUTRACE_DEVICE_CALL int gputrace_writer_reserve(struct gputrace_writer *writer,
                                                 gputrace_u32 events)
{
	/* Known since the last event: nothing waits here to find it out. */
	int has_chunk = gputrace_writer_has_chunk(writer->next);

	if (writer->spare >= events)
		return has_chunk;
	if (writer->ends > GPUTRACE_DEVICE_EVENTS - events)
		writer->ends = 0;
	if (__builtin_expect(gputrace_writer_is_short(writer->next, writer->ends + events), 0)) {
		struct gputrace_moment moment = gputrace_device_moment();

		has_chunk = gputrace_writer_go_on(writer, &moment, 0);
	}
	writer->spare = events;
	return has_chunk;
}

/* An event that there is room for in the chunk, if there is one. */
GPUTRACE_DEVICE_CALL void gputrace_writer_put_sure(struct gputrace_writer *writer, int has_chunk,
                                                   gputrace_u32 tag)
{
	writer->is_value = 0;
	writer->next =
		gputrace_device_put(has_chunk, writer->next, tag, &writer->slot, &writer->run);
}

/* An event that there may be no room for. Nothing that takes time comes before its clock. */
GPUTRACE_DEVICE_CALL void gputrace_writer_put_looking(struct gputrace_writer *writer,
                                                      gputrace_u32 tag)
{
	const gputrace_u64 next = writer->next;
	gputrace_u32 counted = 0; /* below */

	if (writer->ends > GPUTRACE_DEVICE_EVENTS - 1)
		writer->ends = 0;
	const int is_short = gputrace_writer_is_short(next, writer->ends + 1);

	writer->is_value = 0;
	writer->next = gputrace_device_put(gputrace_writer_has_chunk(next) & (is_short ^ 1), next,
	                                   tag, &writer->slot, &counted);
	if (__builtin_expect(is_short, 0)) {
		struct gputrace_moment moment = gputrace_device_moment();

		if (gputrace_writer_go_on(writer, &moment, 1)) {
			gputrace_writer_store(writer->next, moment.clock, tag, moment.globaltimer);
			writer->next += sizeof(struct gputrace_device_event);
		} else {
			writer->run++;
		}
	}
}

/* One of the two, by whether there is room for certain. */
GPUTRACE_DEVICE_CALL void gputrace_writer_put_timed(struct gputrace_writer *writer,
                                                    gputrace_u32 is_sure, gputrace_u32 tag)
{
	if (is_sure)
		gputrace_writer_put_sure(writer, gputrace_writer_has_chunk(writer->next), tag);
	else
		gputrace_writer_put_looking(writer, tag);
}

/*
 * Puts the time last into a chunk that has room, after a value, so that the rate of the clock can
 * be told of a kernel that is over soon. Returns the new next.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_last(gputrace_u64 next)
{
	const gputrace_u64 chunk = next & ~(GPUTRACE_DEVICE_CHUNK_BYTES - 1ull);
	const struct gputrace_moment moment = gputrace_device_moment();
	const gputrace_u64 opened = gputrace_device_load64(
		chunk + GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, clock));

	if (moment.clock - opened < GPUTRACE_WRITER_AGE_CYCLES)
		return next;
	gputrace_writer_store(next, moment.clock, GPUTRACE_DEVICE_TAG(0, GPUTRACE_DEVICE_TIME),
	                      moment.globaltimer);
	return next + sizeof(struct gputrace_device_event);
}

#endif

/*
 * A writer of the thread's. ring: its device address, 0: nobody records; or, and 1, that of a
 * variable that holds it. It leads: it writes, others do not.
 */
GPUTRACE_DEVICE_CALL void gputrace_writer_init(struct gputrace_writer *writer, gputrace_u64 ring,
                                               int leads)
{
#if GPUTRACE_DEVICE_WRITES
	writer->next = leads && gputrace_writer_is_known(ring) ? GPUTRACE_WRITER_DRY
	                                                       : GPUTRACE_WRITER_IDLE;
	writer->ring = ring;
	writer->run = 0;
	writer->ends = 0;
	writer->spare = 0;
	writer->slot = 0;
	writer->is_value = 0;
#else
	(void)writer;
	(void)ring;
	(void)leads;
#endif
}

/*
 * Room for the next so many events, GPUTRACE_DEVICE_EVENTS at most, of which a value counts as two:
 * what it takes to go on in another chunk is done here, and they have no branch.
 */
GPUTRACE_DEVICE_CALL void gputrace_writer_room(struct gputrace_writer *writer, gputrace_u32 events)
{
#if GPUTRACE_DEVICE_WRITES
	writer->spare = 0;
	(void)gputrace_writer_reserve(
		writer, events < GPUTRACE_DEVICE_EVENTS ? events : GPUTRACE_DEVICE_EVENTS);
#else
	(void)writer;
	(void)events;
#endif
}

/* A value: room for two, as it may need the time before it. */
GPUTRACE_DEVICE_CALL void gputrace_writer_put(struct gputrace_writer *writer, gputrace_u32 tag,
                                              gputrace_u64 value)
{
#if GPUTRACE_DEVICE_WRITES
	const int has_chunk = gputrace_writer_reserve(writer, 2);

	writer->spare -= 2;
	writer->is_value = 1;
	writer->next = gputrace_device_put_value(has_chunk, writer->next, tag, value, &writer->slot,
	                                         &writer->run);
#else
	(void)writer;
	(void)tag;
	(void)value;
#endif
}

/*
 * name: an id, 0: none. The range's time excludes all before it, a new chunk as well; and there is
 * room for its end then.
 */
GPUTRACE_DEVICE_CALL void gputrace_writer_begin(struct gputrace_writer *writer, gputrace_u32 name)
{
#if GPUTRACE_DEVICE_WRITES
	const int has_chunk = gputrace_writer_reserve(writer, 2);

	writer->spare -= 2;
	writer->ends++;
	gputrace_writer_put_sure(writer, has_chunk,
	                         GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_BEGIN |
	                                                           GPUTRACE_DEVICE_TIMED));
#else
	(void)writer;
	(void)name;
#endif
}

/* The innermost range of that name that this writer began. */
GPUTRACE_DEVICE_CALL void gputrace_writer_end(struct gputrace_writer *writer, gputrace_u32 name)
{
#if GPUTRACE_DEVICE_WRITES
	const gputrace_u32 tag =
		GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED);

	const gputrace_u32 is_end = writer->ends != 0;
	const gputrace_u32 is_spare = (is_end ^ 1) & (writer->spare != 0);

	writer->ends -= is_end;
	writer->spare -= is_spare;
	gputrace_writer_put_timed(writer, is_end | is_spare, tag);
#else
	(void)writer;
	(void)name;
#endif
}

GPUTRACE_DEVICE_CALL void gputrace_writer_mark(struct gputrace_writer *writer, gputrace_u32 name)
{
#if GPUTRACE_DEVICE_WRITES
	const gputrace_u32 tag =
		GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_MARK | GPUTRACE_DEVICE_TIMED);

	const gputrace_u32 is_spare = writer->spare != 0;

	writer->spare -= is_spare;
	gputrace_writer_put_timed(writer, is_spare, tag);
#else
	(void)writer;
	(void)name;
#endif
}

GPUTRACE_DEVICE_CALL void gputrace_writer_int(struct gputrace_writer *writer, gputrace_u32 name,
                                              long long value)
{
	gputrace_writer_put(writer, GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_INT),
	                    (gputrace_u64)value);
}

GPUTRACE_DEVICE_CALL void gputrace_writer_real(struct gputrace_writer *writer, gputrace_u32 name,
                                               double value)
{
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
	gputrace_writer_put(writer, GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_REAL),
	                    (gputrace_u64)__double_as_longlong(value));
#else
	gputrace_u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	gputrace_writer_put(writer, GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_REAL), bits);
#endif
}

/* The writer writes nothing from then on; called again it does nothing. */
GPUTRACE_DEVICE_CALL void gputrace_writer_close(struct gputrace_writer *writer)
{
#if GPUTRACE_DEVICE_WRITES
	gputrace_u64 next = writer->next;
	gputrace_u64 ring;

	if (!gputrace_writer_writes(next))
		return;
	writer->next = GPUTRACE_WRITER_IDLE;
	ring = gputrace_writer_ring(writer->ring);
	if (!ring)
		return;
	if (next & GPUTRACE_WRITER_DRY) {
		if (writer->run)
			gputrace_device_add64(GPUTRACE_RING_AT(ring, lost), writer->run);
		return;
	}
	if (writer->is_value && !gputrace_writer_is_full(next))
		next = gputrace_writer_last(next);
	gputrace_writer_give_back(ring, next, writer->run);
#else
	(void)writer;
#endif
}

#endif
