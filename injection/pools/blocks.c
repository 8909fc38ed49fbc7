/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/blocks.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "injection/nvtx/texts.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#define SEEN_FOR_NS 1000000000u

/* A begin or an end that is told now, or, with a time, some time ago on whatever thread. */
__attribute__((always_inline)) static inline uint64_t stamp_of(const uint64_t *stamp)
{
	return stamp ? *stamp : gt_stamp_in_order();
}

__attribute__((always_inline)) static inline void
begin_block(struct gt_session *session, uint64_t pool, const struct gt_record_block_begin *block,
            const uint64_t *stamp)
{
	struct gt_record_block_begin *record;

	if (pool == 0 || !gt_session_records(session))
		return;
	record = gt_emit_begin(session, GT_RECORD_block_begin, sizeof(*record));
	if (!record)
		return;
	*record = *block;
	record->pool = gt_pool_number(pool);
	record->thread = stamp ? GT_RECORD_NO_THREAD : 0;
	record->time_ns = stamp_of(stamp);
	gt_emit_commit();
}

__attribute__((always_inline)) static inline void end_block(struct gt_session *session,
                                                            uint64_t pool, const void *address,
                                                            void *stream, const uint64_t *stamp)
{
	struct gt_record_block_end *record;

	if (pool == 0 || !gt_session_records(session))
		return;
	record = gt_emit_begin(session, GT_RECORD_block_end, sizeof(*record));
	if (!record)
		return;
	record->address = (uintptr_t)address;
	record->stream = (uintptr_t)stream;
	record->pool = gt_pool_number(pool);
	record->thread = stamp ? GT_RECORD_NO_THREAD : 0;
	record->flags = 0;
	record->time_ns = stamp_of(stamp);
	gt_emit_commit();
}

__attribute__((always_inline)) static inline struct gt_record_block_begin
block_of(const void *address, uint64_t bytes, uint64_t requested, void *stream)
{
	return (struct gt_record_block_begin){
		.address = (uintptr_t)address,
		.size_bytes = bytes,
		.requested_bytes = requested == GPUTRACE_UNKNOWN ? 0 : requested,
		.stream = (uintptr_t)stream,
	};
}

__attribute__((hot)) void gt_block_alloc(uint64_t pool, const void *address, uint64_t bytes,
                                         uint64_t requested, void *stream)
{
	const struct gt_record_block_begin block = block_of(address, bytes, requested, stream);

	begin_block(gt_session_get(), pool, &block, NULL);
}

__attribute__((hot)) void gt_block_free(uint64_t pool, const void *address, void *stream)
{
	end_block(gt_session_get(), pool, address, stream, NULL);
}

/*
 * The reading of gt_stamp at a time of CLOCK_MONOTONIC that has passed. Both clocks began at one
 * value and go at rates that hardly change, which their readings now tell; these are kept for a
 * while, since two of them differ by more than what lies between two blocks.
 */
static uint64_t stamp_at(uint64_t monotonic_ns)
{
	const uint64_t now_ns = gt_now();
	const uint64_t start_ns = gt_ticks.ns;
	uint64_t elapsed_ns;
	uint64_t monotonic_elapsed_ns;
	uint64_t at_ns;

	if (gt_now_is_monotonic())
		return monotonic_ns < now_ns ? monotonic_ns : now_ns;
	pthread_mutex_lock(&gt_pools.lock);
	if (gt_pools.seen_ns == 0 || now_ns - gt_pools.seen_ns > SEEN_FOR_NS) {
		gt_pools.seen_monotonic_ns = gt_monotonic();
		gt_pools.seen_ns = gt_now();
	}
	elapsed_ns = gt_pools.seen_ns - start_ns;
	monotonic_elapsed_ns = gt_pools.seen_monotonic_ns - start_ns;
	pthread_mutex_unlock(&gt_pools.lock);
	if (monotonic_ns <= start_ns || monotonic_elapsed_ns == 0)
		return gt_ticks.ticks;
	at_ns = start_ns + (uint64_t)((gt_wide_product)(monotonic_ns - start_ns) * elapsed_ns /
	                              monotonic_elapsed_ns);
	return gt_ticks_at(&gt_ticks, at_ns < now_ns ? at_ns : now_ns);
}

void gt_block_alloc_at(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
                       void *stream, uint64_t time_ns)
{
	struct gt_session *session = gt_session_get();
	const struct gt_record_block_begin block = block_of(address, bytes, requested, stream);
	uint64_t stamp;

	if (pool == 0 || !gt_is_recording(session))
		return;
	stamp = stamp_at(time_ns);
	begin_block(session, pool, &block, &stamp);
}

void gt_block_free_at(uint64_t pool, const void *address, void *stream, uint64_t time_ns)
{
	struct gt_session *session = gt_session_get();
	uint64_t stamp;

	if (pool == 0 || !gt_is_recording(session))
		return;
	stamp = stamp_at(time_ns);
	end_block(session, pool, address, stream, &stamp);
}

void gt_executable(const struct gputrace_executable *what)
{
	struct gt_session *session = gt_session_get();
	struct gputrace_executable all;
	struct gt_record_executable *record;
	struct gt_nvtx_text name;

	if (!what || !gt_pools.entries || !gt_is_recording(session))
		return;
	memset(&all, 0xff, sizeof(all)); /* GPUTRACE_UNKNOWN, and any device */
	all.name = NULL;
	gt_pools_read_struct(&all, sizeof(all), what);
	name = gt_nvtx_narrow(all.name);
	record = gt_emit_begin(session, GT_RECORD_executable,
	                       sizeof(*record) + (name.size ? GT_TEXT_BYTES(name.size) : 0));
	if (!record)
		return;
	*record = (struct gt_record_executable){
		.argument_bytes = all.argument_bytes,
		.output_bytes = all.output_bytes,
		.temporary_bytes = all.temporary_bytes,
		.alias_bytes = all.alias_bytes,
		.code_bytes = all.code_bytes,
		.device = all.device < 0 ? 0 : (uint32_t)all.device + 1,
		.name = gt_nvtx_put_text(record, sizeof(*record), &name),
		.start_ns = gt_stamp(),
	};
	record->end_ns = record->start_ns;
	gt_emit_commit();
}
