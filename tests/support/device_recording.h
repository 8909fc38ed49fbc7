/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_DEVICE_RECORDING_H
#define GT_TESTS_SUPPORT_DEVICE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/gputrace/device_layout.h"
#include "support/recording.h"

/*
 * Recordings of kernels that write events, as the injection library leaves them: calibrating
 * kernels, chunks and their events. The truth is in nanoseconds of the common timeline, which
 * CUPTI's clock shows; what clocks of the GPU show of it is worked out here.
 */
struct device_truth {
	int64_t timer_ahead_ns; /* %globaltimer at time 0 */
	double timer_ppm;       /* that it is faster */
	uint32_t step_ns;
	double cycles_per_ns;
};

/* What %globaltimer shows at a time. */
static inline uint64_t timer_at(const struct device_truth *truth, double time_ns)
{
	const uint64_t exact = (uint64_t)((double)truth->timer_ahead_ns + time_ns +
	                                  time_ns * truth->timer_ppm / 1e6);

	return exact - exact % truth->step_ns;
}

/* Reading of the clock of a multiprocessor: each began at another time. */
static inline uint64_t clock_at(const struct device_truth *truth, uint32_t sm, double time_ns)
{
	return (uint64_t)(time_ns * truth->cycles_per_ns) + 1000003ull * sm * sm;
}

/* A calibrating kernel of so many nanoseconds that reads so long after its start and before its
 * end. */
static inline void add_calibration(struct recording *recording, const struct device_truth *truth,
                                   uint32_t correlation, uint64_t start_ns, uint64_t length_ns,
                                   uint64_t margin_ns)
{
	recording_add(recording, kernel, .start_ns = start_ns, .end_ns = start_ns + length_ns,
	              .correlation = correlation, .shape = SHAPE, .context = CONTEXT,
	              .stream = STREAM);
	recording_add(recording, own_call, .correlation = correlation);
	recording_add(recording, device_time,
	              .first_ns = timer_at(truth, (double)(start_ns + margin_ns)),
	              .last_ns = timer_at(truth, (double)(start_ns + length_ns - margin_ns)),
	              .correlation = correlation, .context = CONTEXT, .step_ns = truth->step_ns);
}

/* A kernel of the program's, of 4 blocks of 256 threads. */
static inline void add_launch(struct recording *recording, uint32_t correlation, uint64_t start_ns,
                              uint64_t end_ns, uint32_t grid_id)
{
	recording_add(recording, kernel, .start_ns = start_ns, .end_ns = end_ns,
	              .correlation = correlation, .shape = SHAPE, .context = CONTEXT,
	              .stream = STREAM, .grid_id = grid_id);
}

/* A thread of a kernel that writes. */
struct device_writer {
	struct recording *recording;
	const struct device_truth *truth;
	uint64_t grid_id;
	uint32_t context;
	uint32_t sm;
	uint32_t block;
	uint32_t blocks;
	uint32_t thread;
	uint32_t threads;
	uint64_t ticket; /* of its chunk */
	uint32_t part;
	uint32_t sequence; /* of its next event */
};

static inline void write_chunk(struct device_writer *writer, uint64_t ticket, double time_ns,
                               uint64_t lost)
{
	writer->ticket = ticket;
	writer->sequence = 0;
	recording_add(writer->recording, device_chunk, .ticket = ticket,
	              .globaltimer = timer_at(writer->truth, time_ns),
	              .clock = clock_at(writer->truth, writer->sm, time_ns),
	              .grid_id = writer->grid_id, .lost = lost, .context = writer->context,
	              .sm = writer->sm, .part = writer->part, .block = writer->block,
	              .blocks = writer->blocks, .thread = writer->thread,
	              .threads = writer->threads);
	writer->part++;
}

static inline void write_event(struct device_writer *writer, double time_ns, uint32_t kind,
                               uint32_t name, uint64_t value)
{
	const bool timed = kind & GPUTRACE_DEVICE_TIMED || kind == GPUTRACE_DEVICE_TIME;

	recording_add(writer->recording, device_event, .ticket = writer->ticket,
	              .value = timed ? timer_at(writer->truth, time_ns) : value,
	              .context = writer->context, .sequence = writer->sequence++,
	              .clock = (uint32_t)clock_at(writer->truth, writer->sm, time_ns),
	              .tag = GPUTRACE_DEVICE_TAG(name, kind));
}

#endif
