/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_DEVICE_LAYOUT_H
#define GPUTRACE_DEVICE_LAYOUT_H

/*
 * Events in device memory that kernels write and gputrace reads. Plain C, for both sides; programs
 * include gputrace/device.cuh. docs/device-events.md explains it.
 *
 * A context has one ring: a struct gputrace_device_ring, a state for each chunk, and the chunks. A
 * writer is one thread of a kernel. It draws a ticket (atomic add to next), tries to make the chunk
 * with that number, modulo chunk_count, its own (compare and swap of its state from FREE to OPEN),
 * tries the next tickets when that is taken, fills in the header, and puts event behind event, each
 * with one store of 16 bytes. When the writer needs another chunk, or is done, it closes the one
 * that it has: a fence, and the state becomes CLOSED with the number of events. gputrace copies
 * chunks out, sets the bytes of those that are closed to zero, the header's too, and makes them
 * FREE again after that; from open ones it takes what is there, up to the first event of kind NONE.
 * Whatever finds no room is counted in lost.
 *
 * A writer of many events may take a run of chunks that lie one behind the other, with as many
 * tickets or more at once (atomic add of their number to next), and close them together: full ones,
 * the one at hand and, with 0 events, those that it did not need. Tickets that are drawn and not
 * used leave their chunks FREE. The headers of the run may be there before its chunks are written,
 * all but globaltimer and clock.
 *
 * Between a writer's stores to an open chunk there is no order: one whose globaltimer, threads or
 * ticket is 0 has no header yet, and another look at it finds more. The first ticket is
 * chunk_count, so that none is 0. The chunk of a writer that ended without closing it stays OPEN;
 * whoever knows that no kernel runs may free it. With GPUTRACE_DEVICE_OVERWRITE kernels take closed
 * chunks themselves, so that gputrace frees none while one may run: it copies, and knows a chunk
 * that it has seen before by its ticket.
 *
 * Times of the events of a chunk do not decrease and are not before the header's.
 *
 * Numbers in here are part of recordings and of compiled kernels: never change or reuse one; a
 * layout that differs has another version and another name of the variable.
 */
#if defined(__CUDACC_RTC__)
typedef unsigned int gputrace_u32;
typedef unsigned long long gputrace_u64;
#else
#include <stdint.h>
typedef uint32_t gputrace_u32;
typedef uint64_t gputrace_u64;
#endif

#define GPUTRACE_DEVICE_VERSION 1

/*
 * A module that includes device.cuh has a variable of this name in global memory, 8 bytes: the
 * device address of its context's ring, 0 as long as nobody records.
 */
#define GPUTRACE_DEVICE_VARIABLE      gputrace_device_ring_1
#define GPUTRACE_DEVICE_VARIABLE_NAME "gputrace_device_ring_1"

enum {
	GPUTRACE_DEVICE_CHUNK_BYTES = 512, /* chunks lie at multiples of it */
	GPUTRACE_DEVICE_EVENTS = 28,       /* that fit into one, behind its header */
	GPUTRACE_DEVICE_TRIES = 8,         /* tickets that a writer draws before it gives up */
	GPUTRACE_DEVICE_NAME_BYTES = 63,   /* of a name at most, without the zero */
	/*
	 * Values have no room for %globaltimer: the first one in each stretch of so many cycles, by
	 * %clock64, that no reading of it was in yet has TIME before it. In between times are told
	 * from the multiprocessor's clock. Writers of before did so with events of all kinds.
	 */
	GPUTRACE_DEVICE_TIME_CYCLES = 65536,
};

/* The lower four bits of an event's tag; the name's id are the other 28, 0: it has none. */
enum gputrace_device_kind {
	GPUTRACE_DEVICE_NONE = 0, /* nothing has been written here yet */
	GPUTRACE_DEVICE_BEGIN = 1,
	GPUTRACE_DEVICE_END = 2, /* of the innermost open range of that name of this writer's */
	GPUTRACE_DEVICE_MARK = 3,
	GPUTRACE_DEVICE_INT = 4,  /* value: a number with a sign, 64 bits */
	GPUTRACE_DEVICE_REAL = 5, /* value: the bits of a double */
	GPUTRACE_DEVICE_TIME = 6, /* nothing but the time: value as with TIMED */
	GPUTRACE_DEVICE_TIMED = 8 /* added to BEGIN, END and MARK: value is %globaltimer, read right
	                             after clock */
};

#define GPUTRACE_DEVICE_TAG(name, kind) ((gputrace_u32)(name) << 4 | (gputrace_u32)(kind))
#define GPUTRACE_DEVICE_TAG_KIND(tag)   ((tag)&15u)
#define GPUTRACE_DEVICE_TAG_NAME(tag)   ((tag) >> 4)

struct gputrace_device_event {
	gputrace_u32 clock; /* lower half of %clock64 */
	gputrace_u32 tag;
	gputrace_u64 value;
};

struct gputrace_device_chunk {
	gputrace_u64 globaltimer; /* both read when it was opened, one right after the other */
	gputrace_u64 clock;       /* %clock64 */
	gputrace_u64 grid_id;     /* %gridid */
	gputrace_u32 sm;          /* %smid */
	gputrace_u32 part;        /* how many chunks the writer had before it */
	gputrace_u32 block;       /* its number in the grid: x + gridDim.x * (y + gridDim.y * z) */
	gputrace_u32 blocks;      /* of the grid */
	gputrace_u32 thread;      /* its number in the block, likewise */
	gputrace_u32 threads;     /* of a block */
	gputrace_u64 ticket;
	gputrace_u64 lost; /* events of this writer's since its last chunk, for which there was no
	                      room */
	struct gputrace_device_event events[GPUTRACE_DEVICE_EVENTS];
};

/* A chunk's state: CLOSED has the number of its events in the upper bits. */
enum gputrace_device_state {
	GPUTRACE_DEVICE_FREE = 0,
	GPUTRACE_DEVICE_OPEN = 1,
	GPUTRACE_DEVICE_CLOSED = 2,
	GPUTRACE_DEVICE_STATE_BITS = 8
};

/* Flags of a ring. */
enum {
	/*
	 * A closed chunk that nobody has copied out yet may be written again: the ring holds the
	 * last events, not the first ones. Its writer counts what was in it in overwritten and sets
	 * the events to zero before it writes the header.
	 */
	GPUTRACE_DEVICE_OVERWRITE = 1
};

struct gputrace_device_ring {
	gputrace_u32 version; /* GPUTRACE_DEVICE_VERSION */
	gputrace_u32 flags;
	gputrace_u64 chunks;       /* device address of the first */
	gputrace_u64 states;       /* device address of chunk_count numbers of 32 bits */
	gputrace_u32 chunk_count;  /* a power of two */
	gputrace_u32 reserved[25]; /* what follows is written by kernels: a cache line of its own */
	gputrace_u64 next;         /* the next ticket; chunk_count at first */
	/*
	 * Events for which there was no room, those included that chunks tell of. Writers add to it
	 * now and then and when they close: by then it is exact.
	 */
	gputrace_u64 lost;
	gputrace_u64 overwritten; /* events */
	gputrace_u64 reserved_too[13];
};

#endif
