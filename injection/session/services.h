/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_SERVICES_H
#define GT_INJECTION_SESSION_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "format/arena/arena.h"
#include "format/control/control.h"
#include "format/settings.h"
#include "injection/process/now.h"
#include "injection/session/emit.h"

struct gt_cupti;
struct gt_session;
struct gt_source;
struct gt_waiter;

/*
 * The parts of the session that a source may use: these, emit (injection/session/emit.h), gt_now
 * and gt_stamp (injection/process/now.h) and nothing else. From any thread where nothing else is
 * said; none blocks, allocates or fails.
 */

/* The one session of the process, for callbacks that carry no pointer to it. */
struct gt_session *gt_session_get(void);

/* The state of a source, likewise: for the source itself. */
void *gt_source_state(struct gt_session *session, const struct gt_source *source);

/* Objects that one source keeps and others use, each with its type. */
enum gt_shared {
	GT_SHARED_DEVICE_EVENTS, /* struct gt_device_events (device_events/thread.h) */
	GT_SHARED_ASKED_MEMORY,  /* struct gt_asked_memory (callers/asked_memory.h) */
	GT_SHARED_KEPT_GRAPHS,   /* struct gt_kept_graphs (snapshot/graphs/kept.h) */
	GT_SHARED_KEPT_MODULES,  /* struct gt_kept_modules (snapshot/bundle/kept_modules.h) */
	GT_SHARED_COUNT,
};

/* In start: the object lives as long as the session. NULL where no source keeps it. */
void gt_share(struct gt_session *session, enum gt_shared what, void *object);
void *gt_shared(struct gt_session *session, enum gt_shared what);

const struct gt_settings *gt_settings_of(const struct gt_session *session);

/* The work of the program that is captured into bundles: one of these at most. */
enum gt_captured {
	GT_CAPTURED_NOTHING, /* nothing was asked for, or what does not go together */
	GT_CAPTURED_KERNELS,
	GT_CAPTURED_GRAPHS, /* launches of them */
	GT_CAPTURED_SEQUENCES,
};

enum gt_captured gt_captured_work(const struct gt_session *session);

/* In start: whether the process was forked and runs no program of its own. */
bool gt_is_worker(const struct gt_session *session);

/* libcupti's functions. */
const struct gt_cupti *gt_cupti_of(const struct gt_session *session);

/* In start: every API call that this CUPTI knows, with its name. */
typedef void gt_use_call(struct gt_session *session, CUpti_CallbackDomain domain,
                         CUpti_CallbackId id, const char *name);
void gt_each_call(struct gt_session *session, gt_use_call *use);

/* In start: callbacks that the source that is being started is to hear. */
void gt_want(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id);

/* The same of all API calls that a list of calls knows: gt_sync_call_find, gt_graph_call_find. */
typedef bool gt_knows_call(bool driver, CUpti_CallbackId id);
void gt_want_known(struct gt_session *session, gt_knows_call *knows);

/* The same of an API call whose records it names: the name stands in gt_call. */
void gt_want_call(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  const char *name);

/* In start: it is also to hear of calls inside calls that it wants, GT_ROUTER_LEVELS deep. */
void gt_want_nested(struct gt_session *session);

/*
 * The id of a text, the same for equal ones; 0, and counted, when there is no room. Only in start,
 * arm, cuda_up, tick and stop: elsewhere a text goes behind its record (gt_emit_text).
 */
uint32_t gt_intern(struct gt_session *session, const char *text);

/* A row of the capture's notes: the source that it is about and one sentence. */
void gt_note(struct gt_session *session, const char *topic, const char *text);

/* Whether nothing is recorded any more: the program's exit has begun, or this is a fork's child. */
bool gt_is_over(const struct gt_session *session);

/* Counts a call, by its name, that succeeded after that. */
void gt_count_unrecorded(struct gt_session *session, const char *function);

/*
 * A call that gputrace itself makes, on one of its threads: its correlation id when it is entered,
 * so that what it does on the GPU is known for ours, and its name when it has succeeded.
 */
void gt_own_call_enter(struct gt_session *session, uint32_t correlation);
void gt_own_call_leave(struct gt_session *session, const char *function);

/*
 * On a thread of ours: the correlation id of the last call of its own that any source would hear
 * of, since it was forgotten; 0: of none.
 */
uint32_t gt_own_correlation(void);
void gt_own_correlation_forget(void);

/* Adds to a class of the ledger. */
void gt_count(struct gt_session *session, enum gt_ledger_id id, uint64_t value);

/* A pair of clock readings. Only in start and tick. */
void gt_add_clock(struct gt_session *session, const struct gt_record_clock *clock);

/*
 * Which of CUPTI's activities are recorded from now on, 1 << enum gt_activity (format/activity.h)
 * each, as the source says that turns them on; and whether one of them is.
 */
void gt_tell_activities(struct gt_session *session, uint32_t activities);
bool gt_is_activity_recorded(const struct gt_session *session, unsigned activity);

/* CUDA is up: whoever waits for it is told. */
void gt_tell_cuda_is_up(struct gt_session *session);

/*
 * Asks the sources that read something at intervals for a reading now, or tells one of them, on its
 * own thread, that somebody did. Asking again within 10 ms does nothing.
 */
void gt_ask_reading(struct gt_session *session);
bool gt_is_reading_asked(struct gt_session *session);

/*
 * Asks for what CUPTI has finished to be fetched, and waits for it, at most limit_ns; not at all
 * where nothing can have been finished yet or fetching hangs.
 */
void gt_fetch(struct gt_session *session, uint64_t limit_ns);

/*
 * Asks for the same without waiting for it: work that the program has waited for has finished. At
 * most one such fetch in settings.wait_flush_ns. Asking all the time costs next to nothing.
 */
void gt_fetch_soon(struct gt_session *session);

/*
 * Around a launch that CUPTI replays, on the thread that makes it, one launch at a time: fetching
 * waits for it, however long it takes. correlation: of a kernel, whose record CUPTI never finishes,
 * 0: of none. Where such records leave CUPTI few buffers, gt_replay_ends has them fetched, and
 * waits for that a bounded time: it is called while no other launch of the program can begin.
 */
void gt_replay_begins(struct gt_session *session);
void gt_replay_ends(struct gt_session *session, uint32_t correlation);

/*
 * In run: what the thread does on GPUs until it releases it again is fetched at the end of the
 * program, whose last flush waits for it, a bounded time.
 */
void gt_hold_last_flush(struct gt_session *session);
void gt_release_last_flush(struct gt_session *session);

/*
 * In run: waits so long, and longer while nothing is recorded. False: the thread is to end.
 */
bool gt_wait_next(struct gt_waiter *waiter, uint64_t interval_ns);

/*
 * For what CUPTI tells in the middle of an API call: the correlation id of the outermost call that
 * the thread is in, of those that any source hears of; 0: in none.
 */
uint32_t gt_call_correlation(void);

/*
 * With GPUTRACE_GRAPHS=sampled, before a launch of a CUDA graph: it is to be recorded node by node.
 */
void gt_want_nodes(struct gt_session *session, uint32_t correlation);

/* The source's run is to begin, if it has not: see runs_when_asked. */
void gt_want_thread(struct gt_session *session, const struct gt_source *source);

/* Memory for CUPTI's records: a slot of the arena. */
struct gt_buffer {
	uint8_t *bytes; /* zeroed; NULL: none is free */
	size_t size;
};

struct gt_buffer gt_buffer_lend(struct gt_session *session);

/* Hands it to the writer with what is in it; false when it is no memory that was lent. */
bool gt_buffer_take_back(struct gt_session *session, const uint8_t *bytes, size_t used);

/*
 * A file that the recording keeps beside its captures: its name says what is in it, so that one
 * that is there already with the same size is the same.
 */
struct gt_kept_file {
	const char *folder; /* of the recording's: made where it is missing */
	const char *name;
	const void *bytes;
	size_t size;
};

bool gt_is_kept(const struct gt_session *session, const struct gt_kept_file *file);

/* The path of a file or folder of the recording; 0, or -ENAMETOOLONG. */
int gt_kept_path(const struct gt_session *session, const char *name, char *path, size_t size);

/*
 * Puts it there, whole or not at all. Writes on the calling thread, which is kept calm meanwhile.
 * 0 or a negative errno value.
 */
int gt_keep_file(struct gt_session *session, const struct gt_kept_file *file);

/* Whether what happens now has a place: not before the start, nor in the child of a fork. */
bool gt_is_recorded(const struct gt_session *session);

/* Whether what happens now is wanted: not while recording is off, nor after the exit has begun. */
bool gt_is_recording(const struct gt_session *session);

/*
 * On a thread of the program, for what the program or its options ask for: recording begins, or is
 * paused. It is so when this returns, but where our threads do not come to it within a second.
 */
void gt_ask_recording(struct gt_session *session, bool records, enum gt_control_cause cause);

#endif
