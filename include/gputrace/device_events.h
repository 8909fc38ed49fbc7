/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_DEVICE_EVENTS_H
#define GPUTRACE_DEVICE_EVENTS_H

/*
 * The writer of device events in plain C: what device.cuh is made of, for NVRTC as well, and for
 * hosts that play a kernel. device_layout.h says what is written, docs/device-events.md how to use
 * it.
 *
 * A writer is a struct of one thread's. It takes a chunk with its first event and gives it back
 * when it is closed; a kernel that ends without closing leaves the chunk open: its events are read
 * all the same, what it lost last (63 events at most) is not counted, and the chunk is missing from
 * the ring until nothing runs in the context.
 *
 * With GPUTRACE_DISABLE defined the functions are there and do nothing.
 */
#include "device_layout.h"

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define GPUTRACE_DEVICE_CALL static __device__ __forceinline__
/*
 * What is rare: in place it takes the fewest registers. With GPUTRACE_DEVICE_CALLED defined it is a
 * function that is called, which makes kernels with many events smaller.
 */
#ifdef GPUTRACE_DEVICE_CALLED
#define GPUTRACE_DEVICE_RARE static __device__ __noinline__
#else
#define GPUTRACE_DEVICE_RARE static __device__ __forceinline__
#endif
#define GPUTRACE_DEVICE_ONE_BY_ONE _Pragma("unroll 1")
/* What is made of the value is made here and takes no register before. */
#define GPUTRACE_DEVICE_NOT_BEFORE(value) asm volatile("" : "+l"(value))
#if !defined(GPUTRACE_DISABLE) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)
#define GPUTRACE_DEVICE_WRITES 1
#endif
#else
#include <string.h>
#define GPUTRACE_DEVICE_CALL static inline
#define GPUTRACE_DEVICE_RARE static inline
#define GPUTRACE_DEVICE_ONE_BY_ONE
#define GPUTRACE_DEVICE_NOT_BEFORE(value)
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

struct gputrace_writer {
	/*
	 * 0: nothing is written. Otherwise the device address of the next event; at a multiple of
	 * GPUTRACE_DEVICE_CHUNK_BYTES the chunk before it is full. With GPUTRACE_WRITER_DRY there
	 * is no chunk: how many there were, and how many events found no room since the last one.
	 */
	gputrace_u64 next;
	/*
	 * Device address of the ring, or, and 1, of the variable that holds it: that is a constant
	 * and takes no register.
	 */
	gputrace_u64 ring;
	gputrace_u32 slot; /* of 65536 cycles, in which %globaltimer was read last */
};

#if GPUTRACE_DEVICE_WRITES

#define GPUTRACE_WRITER_DRY       (1ull << 63)
#define GPUTRACE_WRITER_PART_MASK 0x3fffffull /* 41 bits up */

enum {
	GPUTRACE_WRITER_VARIABLE = 1, /* of struct gputrace_writer, ring */
	GPUTRACE_WRITER_LOST_SHIFT = 9,
	GPUTRACE_WRITER_PART_SHIFT = 41,
	/* A writer that found the ring full tries again after so many events. A power of two. */
	GPUTRACE_WRITER_RETRY = 64,
	/* A writer that closes a chunk as old as this writes the time once more. */
	GPUTRACE_WRITER_AGE_CYCLES = 2000
};

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)

/* Two clocks, read one right after the other. */
struct gputrace_moment {
	gputrace_u64 clock;
	gputrace_u64 globaltimer;
};

/*
 * What only the GPU knows. The clock is read where the program says, as seen from the accesses
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

GPUTRACE_DEVICE_CALL void gputrace_device_release32(gputrace_u64 address, gputrace_u32 value)
{
	asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_load64(gputrace_u64 address)
{
	gputrace_u64 value;

	asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
	return value;
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_load32(gputrace_u64 address)
{
	gputrace_u32 value;

	asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
	return value;
}

/* One store of 16 bytes. */
GPUTRACE_DEVICE_CALL void gputrace_device_store(gputrace_u64 address, gputrace_u64 low,
                                                gputrace_u64 high)
{
	asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(low), "l"(high)
	             : "memory");
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

GPUTRACE_DEVICE_CALL void gputrace_device_release32(gputrace_u64 address, gputrace_u32 value)
{
	__atomic_store_n((gputrace_u32 *)address, value, __ATOMIC_RELEASE);
}

GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_device_load64(gputrace_u64 address)
{
	return __atomic_load_n((const gputrace_u64 *)address, __ATOMIC_RELAXED);
}

GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_device_load32(gputrace_u64 address)
{
	return __atomic_load_n((const gputrace_u32 *)address, __ATOMIC_RELAXED);
}

GPUTRACE_DEVICE_CALL void gputrace_device_store(gputrace_u64 address, gputrace_u64 low,
                                                gputrace_u64 high)
{
	__atomic_store_n((gputrace_u64 *)address, low, __ATOMIC_RELAXED);
	__atomic_store_n((gputrace_u64 *)(address + 8), high, __ATOMIC_RELAXED);
}

#endif

/* Of the ring at that address. */
#define GPUTRACE_RING_AT(ring, member)                                                             \
	((ring) + GPUTRACE_DEVICE_OFFSET(struct gputrace_device_ring, member))

/* The ring's address, 0: nobody records. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_ring(gputrace_u64 ring)
{
	return (ring & GPUTRACE_WRITER_VARIABLE) ? gputrace_device_load64(ring - 1) : ring;
}

/* Whether somebody records, in the layout that the writer knows. */
GPUTRACE_DEVICE_CALL int gputrace_writer_is_known(gputrace_u64 ring)
{
	const gputrace_u64 at = gputrace_writer_ring(ring);

	return at &&
	       gputrace_device_load32(GPUTRACE_RING_AT(at, version)) == GPUTRACE_DEVICE_VERSION;
}

/* Whether there is no room for another event. */
GPUTRACE_DEVICE_CALL int gputrace_writer_is_full(gputrace_u64 next)
{
	return (next & (GPUTRACE_DEVICE_CHUNK_BYTES - 1)) == 0;
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

/* Gives back the chunk that the last event before that address is in. */
GPUTRACE_DEVICE_CALL void gputrace_writer_give_back(gputrace_u64 ring, gputrace_u64 next)
{
	const gputrace_u64 chunk = (next - 1) & ~(GPUTRACE_DEVICE_CHUNK_BYTES - 1ull);
	const gputrace_u64 first = gputrace_device_load64(GPUTRACE_RING_AT(ring, chunks));
	const gputrace_u64 states = gputrace_device_load64(GPUTRACE_RING_AT(ring, states));
	const gputrace_u64 begin =
		chunk + GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, events);
	const gputrace_u32 count =
		(gputrace_u32)(next - begin) / (gputrace_u32)sizeof(struct gputrace_device_event);

	gputrace_device_release32(states + (chunk - first) / GPUTRACE_DEVICE_CHUNK_BYTES * 4,
	                          GPUTRACE_DEVICE_CLOSED | count << GPUTRACE_DEVICE_STATE_BITS);
}

/* Makes the chunk with that state the writer's own; it did not get it: 0. */
GPUTRACE_DEVICE_CALL int gputrace_writer_claim(gputrace_u64 ring, gputrace_u64 state,
                                               gputrace_u64 chunk)
{
	const gputrace_u32 was =
		gputrace_device_swap32(state, GPUTRACE_DEVICE_FREE, GPUTRACE_DEVICE_OPEN);
	const gputrace_u32 kind = was & ((1u << GPUTRACE_DEVICE_STATE_BITS) - 1);

	if (was == GPUTRACE_DEVICE_FREE)
		return 1;
	if (kind != GPUTRACE_DEVICE_CLOSED ||
	    !(gputrace_device_load32(GPUTRACE_RING_AT(ring, flags)) & GPUTRACE_DEVICE_OVERWRITE))
		return 0;
	if (gputrace_device_swap32(state, was, GPUTRACE_DEVICE_OPEN) != was)
		return 0;
	gputrace_device_add64(GPUTRACE_RING_AT(ring, overwritten),
	                      was >> GPUTRACE_DEVICE_STATE_BITS);
	GPUTRACE_DEVICE_ONE_BY_ONE
	for (gputrace_u64 at = chunk; at < chunk + sizeof(struct gputrace_device_chunk); at += 16)
		gputrace_device_store(at, 0, 0);
	return 1;
}

/* How many chunks the writer had, when it has none or a full one. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_part(gputrace_u64 next)
{
	if (next & GPUTRACE_WRITER_DRY)
		return (gputrace_u32)(next >> GPUTRACE_WRITER_PART_SHIFT &
		                      GPUTRACE_WRITER_PART_MASK);
	return 1 +
	       gputrace_device_load32(next - GPUTRACE_DEVICE_CHUNK_BYTES +
	                              GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, part));
}

/* How many events found no room since the last chunk. */
GPUTRACE_DEVICE_CALL gputrace_u32 gputrace_writer_lost(gputrace_u64 next)
{
	return (next & GPUTRACE_WRITER_DRY) ? (gputrace_u32)(next >> GPUTRACE_WRITER_LOST_SHIFT)
	                                    : 0;
}

/* Fills in the header of a chunk that the writer has got; next is what it was before. */
GPUTRACE_DEVICE_CALL void gputrace_writer_head(gputrace_u64 chunk, gputrace_u64 ticket,
                                               gputrace_u64 next, struct gputrace_moment moment)
{
	gputrace_device_store(chunk, moment.globaltimer, moment.clock);
	GPUTRACE_DEVICE_NOT_BEFORE(next);
	gputrace_device_store(chunk + 48, ticket, gputrace_writer_lost(next));
	gputrace_device_store(chunk + 16, gputrace_device_grid_id(),
	                      gputrace_writer_pair(gputrace_device_sm(),
	                                           gputrace_writer_part(next)));
	gputrace_device_store(
		chunk + 32, gputrace_writer_pair(gputrace_device_block(), gputrace_device_blocks()),
		gputrace_writer_pair(gputrace_device_thread(), gputrace_device_threads()));
}

/*
 * Draws a ticket. The device address of the chunk with its number, with its header, when the writer
 * gets it, or else 0.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_try(gputrace_u64 ring, gputrace_u64 next,
                                                      struct gputrace_moment moment)
{
	const gputrace_u64 ticket = gputrace_device_add64(GPUTRACE_RING_AT(ring, next), 1);
	const gputrace_u32 index =
		(gputrace_u32)ticket &
		(gputrace_device_load32(GPUTRACE_RING_AT(ring, chunk_count)) - 1);
	const gputrace_u64 chunk = gputrace_device_load64(GPUTRACE_RING_AT(ring, chunks)) +
	                           (gputrace_u64)index * GPUTRACE_DEVICE_CHUNK_BYTES;
	const gputrace_u64 state =
		gputrace_device_load64(GPUTRACE_RING_AT(ring, states)) + (gputrace_u64)index * 4;

	if (!gputrace_writer_claim(ring, state, chunk))
		return 0;
	gputrace_writer_head(chunk, ticket, next, moment);
	return chunk;
}

/*
 * next of a writer without a chunk, or with a full one, when it has tried to get one: the first
 * event's place; or the writer is dry.
 */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_open(gputrace_u64 ring, gputrace_u64 next,
                                                       struct gputrace_moment moment)
{
	gputrace_u64 chunk = 0;
	gputrace_u64 after;

	if (gputrace_writer_lost(next) & (GPUTRACE_WRITER_RETRY - 1))
		return next;
	GPUTRACE_DEVICE_ONE_BY_ONE
	for (int tries = 0; !chunk && tries < GPUTRACE_DEVICE_TRIES; tries++)
		chunk = gputrace_writer_try(ring, next, moment);
	if (chunk)
		after = chunk + GPUTRACE_DEVICE_OFFSET(struct gputrace_device_chunk, events);
	else if (next & GPUTRACE_WRITER_DRY)
		after = next;
	else
		after = GPUTRACE_WRITER_DRY |
		        (gputrace_writer_part(next) & GPUTRACE_WRITER_PART_MASK)
		                << GPUTRACE_WRITER_PART_SHIFT;
	/* The full one after that: its last stores have arrived meanwhile. */
	if (!(next & GPUTRACE_WRITER_DRY))
		gputrace_writer_give_back(ring, next);
	return after;
}

/* An event of a writer that is dry found no room. The count stays in its bits. */
GPUTRACE_DEVICE_CALL gputrace_u64 gputrace_writer_lose(gputrace_u64 ring, gputrace_u64 next)
{
	const gputrace_u32 lost = gputrace_writer_lost(next) + 1;

	if ((lost & (GPUTRACE_WRITER_RETRY - 1)) == 0)
		gputrace_device_add64(GPUTRACE_RING_AT(ring, lost), GPUTRACE_WRITER_RETRY);
	if (!lost) /* it would not fit: the ring's count goes on, the writer's stays near its end */
		return next -
		       ((gputrace_u64)(GPUTRACE_WRITER_RETRY - 1) << GPUTRACE_WRITER_LOST_SHIFT);
	return next + (1ull << GPUTRACE_WRITER_LOST_SHIFT);
}

/* An event that needs a chunk, or the time. What next is after it. */
GPUTRACE_DEVICE_RARE gputrace_u64 gputrace_writer_turn(gputrace_u64 ring, gputrace_u64 next,
                                                       gputrace_u32 tag, gputrace_u64 value)
{
	const gputrace_u32 kind = GPUTRACE_DEVICE_TAG_KIND(tag);
	struct gputrace_moment moment = gputrace_device_moment();

	if (!gputrace_writer_is_full(next)) {
		if (kind <= GPUTRACE_DEVICE_MARK) {
			gputrace_writer_store(next, moment.clock, tag | GPUTRACE_DEVICE_TIMED,
			                      moment.globaltimer);
			return next + sizeof(struct gputrace_device_event);
		}
		gputrace_writer_store(next, moment.clock,
		                      GPUTRACE_DEVICE_TAG(0, GPUTRACE_DEVICE_TIME),
		                      moment.globaltimer);
		next += sizeof(struct gputrace_device_event);
	}
	if (gputrace_writer_is_full(next)) {
		ring = gputrace_writer_ring(ring);
		if (!ring)
			return 0;
		next = gputrace_writer_open(ring, next, moment);
		if (gputrace_writer_is_full(next))
			return gputrace_writer_lose(ring, next);
		if (kind == GPUTRACE_DEVICE_BEGIN) /* what comes before is none of the range's */
			moment.clock = gputrace_device_clock();
	}
	gputrace_writer_store(next, moment.clock, tag, value);
	return next + sizeof(struct gputrace_device_event);
}

/*
 * What comes last in a chunk that has room: the time, so that the rate of the clock can be told of
 * a kernel that is over soon. What next is after it.
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
	writer->next = leads && gputrace_writer_is_known(ring) ? GPUTRACE_WRITER_DRY : 0;
	writer->ring = ring;
	writer->slot = 0;
#else
	(void)writer;
	(void)ring;
	(void)leads;
#endif
}

/* Where nobody records: one branch. */
GPUTRACE_DEVICE_CALL void gputrace_writer_put(struct gputrace_writer *writer, gputrace_u32 tag,
                                              gputrace_u64 value)
{
#if GPUTRACE_DEVICE_WRITES
	gputrace_u64 clock;
	gputrace_u32 slot;

	if (!writer->next)
		return;
	clock = gputrace_device_clock();
	slot = (gputrace_u32)(clock / GPUTRACE_DEVICE_TIME_CYCLES);
	if (__builtin_expect(slot != writer->slot || gputrace_writer_is_full(writer->next), 0)) {
		writer->next = gputrace_writer_turn(writer->ring, writer->next, tag, value);
		writer->slot = slot;
		return;
	}
	gputrace_writer_store(writer->next, clock, tag, value);
	writer->next += sizeof(struct gputrace_device_event);
#else
	(void)writer;
	(void)tag;
	(void)value;
#endif
}

/* name: an id, 0: none. */
GPUTRACE_DEVICE_CALL void gputrace_writer_begin(struct gputrace_writer *writer, gputrace_u32 name)
{
	gputrace_writer_put(writer, GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_BEGIN), 0);
}

/* The innermost range of that name that this writer began. */
GPUTRACE_DEVICE_CALL void gputrace_writer_end(struct gputrace_writer *writer, gputrace_u32 name)
{
	gputrace_writer_put(writer, GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_END), 0);
}

GPUTRACE_DEVICE_CALL void gputrace_writer_mark(struct gputrace_writer *writer, gputrace_u32 name)
{
	gputrace_writer_put(writer, GPUTRACE_DEVICE_TAG(name, GPUTRACE_DEVICE_MARK), 0);
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

	if (!next)
		return;
	writer->next = 0;
	ring = gputrace_writer_ring(writer->ring);
	if (!ring)
		return;
	if (next & GPUTRACE_WRITER_DRY) {
		const gputrace_u32 lost = gputrace_writer_lost(next) & (GPUTRACE_WRITER_RETRY - 1);

		if (lost)
			gputrace_device_add64(GPUTRACE_RING_AT(ring, lost), lost);
		return;
	}
	if (!gputrace_writer_is_full(next))
		next = gputrace_writer_last(next);
	gputrace_writer_give_back(ring, next);
#else
	(void)writer;
#endif
}

#endif
