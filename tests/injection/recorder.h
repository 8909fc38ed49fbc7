/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_INJECTION_RECORDER_H
#define GT_TESTS_INJECTION_RECORDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "injection/session/routes.h"
#include "injection/session/services.h"
#include "injection/session/session.h"
#include "support/arena.h"
#include "support/capture.h"
#include "support/check.h"

/*
 * The session of the process as if it recorded: with an arena and a capture in memory and a
 * router, but without CUPTI, files and threads. The test is whatever thread it needs to be.
 */
struct recorder {
	struct gt_session *session;
	struct gt_arena *arena;
	struct test_arena memory;
	struct capture capture;
};

static inline void *zeroed(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);

	cr_assert(ne(ptr, memory, NULL));
	return memset(memory, 0, size);
}

static inline uint32_t recorder_string(void *context, const char *text, uint32_t size)
{
	return gt_interner_add(&((struct gt_session *)context)->interner, text, size);
}

static inline uint32_t recorder_name(void *context, uint64_t pointer)
{
	(void)context;
	(void)pointer;
	return 0;
}

static inline void recorder_init(struct recorder *recorder)
{
	struct gt_session *session = gt_session_get();

	recorder->session = session;
	test_arena_init(&recorder->memory, 4, 1 << 20, "host-1-2.capture");
	capture_begin(&recorder->capture, CAPTURE_UNLIMITED);
	session->arena = recorder->memory.arena;
	recorder->arena = &session->arena;
	gt_interner_init(&session->interner, &session->arena, zeroed(gt_interner_memory()));
	gt_writer_init(&session->writer, capture_sink(&recorder->capture),
	               zeroed(gt_writer_memory()), gt_writer_memory());

	const struct gt_drain_config config = {
		.arena = &session->arena,
		.writer = &session->writer,
		.name_of = recorder_name,
		.string_of = recorder_string,
		.context = session,
	};

	session->drain = gt_drain_init(&config, zeroed(gt_drain_memory()), gt_drain_memory());
	gt_router_init(&session->router, session, zeroed(gt_router_memory()));
	gt_flusher_init(&session->flusher);
	gt_writer_thread_init(&session->writer_thread);
	sem_init(&session->followed, 0, 0);
	cr_assert(gt_emit_init(session));
	atomic_store(&session->starter, (uint32_t)gettid()); /* it has the writer */
	atomic_store(&session->phase, GT_SESSION_STARTING);
}

static inline void recorder_add_sources(struct recorder *recorder,
                                        const struct gt_source *const *sources, uint32_t count)
{
	gt_sources_init(&recorder->session->sources, sources, count,
	                zeroed(gt_sources_memory(sources, count) + 64));
}

static inline uint64_t recorder_count(const struct recorder *recorder, enum gt_ledger_id id)
{
	return atomic_load(&recorder->arena->header->ledger[id]);
}

/* Turns what has been handed over, and what is still lent, into chunks. */
static inline void recorder_drain(struct recorder *recorder)
{
	for (uint32_t i = 0; i < recorder->arena->header->slot_count; i++) {
		struct gt_slot *slot = &recorder->arena->slots[i];

		if (slot->kind != GT_SLOT_RECORDS || slot->state == GT_SLOT_FREE)
			continue;
		gt_drain_begin(recorder->session->drain, slot);
		gt_drain_records(recorder->session->drain, slot, slot->used);
		gt_drain_end(recorder->session->drain);
	}
}

/* All records of a kind that are in the capture; the caller frees them. */
static inline void *recorder_records(const struct recorder *recorder, uint32_t kind, size_t *count)
{
	return read_records(recorder->capture.bytes, recorder->capture.size, kind, count);
}

/* How many notes there are whose text holds these words. */
static inline size_t recorder_notes(const struct recorder *recorder, const char *words)
{
	size_t found = 0;
	size_t count;
	struct gt_record_note *notes = recorder_records(recorder, GT_RECORD_note, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t offset = 0;
		const char *text = NULL;
		uint32_t size = 0;
		char copy[512];

		for (uint32_t id = 0; id < notes[i].text; id++)
			cr_assert(gt_arena_next_string(recorder->arena, &offset, &text, &size));
		snprintf(copy, sizeof(copy), "%.*s", (int)size, text);
		found += strstr(copy, words) != NULL;
	}
	free(notes);
	return found;
}

#endif
