/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_SESSION_H
#define GT_INJECTION_SESSION_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/arena/arena.h"
#include "format/arena/drain.h"
#include "format/file/writer.h"
#include "format/settings.h"
#include "injection/control/control.h"
#include "injection/cupti/cupti.h"
#include "injection/output/interner.h"
#include "injection/output/output.h"
#include "injection/session/cost.h"
#include "injection/session/flusher.h"
#include "injection/session/forks.h"
#include "injection/session/notes.h"
#include "injection/session/replays.h"
#include "injection/session/router.h"
#include "injection/session/services.h"
#include "injection/session/sources.h"
#include "injection/session/writer_thread.h"

/*
 *   OFF --> STARTING --> RECORDING <--disarm, arm--> READY     the last two --stop--> STOPPING
 *   all --fork, in the child--> FORGOTTEN
 */
enum gt_session_phase {
	GT_SESSION_OFF,
	GT_SESSION_STARTING,  /* there is an arena; sources start */
	GT_SESSION_READY,     /* all is in place and nothing is recorded */
	GT_SESSION_RECORDING, /* what happens is recorded */
	GT_SESSION_STOPPING,  /* the program ends: what there is is written */
	GT_SESSION_FORGOTTEN, /* the child of a fork: nothing of the session may be touched */
};

#define GT_WIPED_BYTES 4096

/*
 * Each call of NVTX reads this and the phase, in one cache line, which is rarely written to. It is
 * written by injection/nvtx/, whose other state is its own.
 */
struct gt_nvtx_page {
	_Atomic uint32_t given[3]; /* how many numbers of each enum gt_nvtx_handle are given out */
	_Atomic uint32_t default_domain; /* 0, or GT_DOMAIN_UNWANTED */
	_Atomic bool others_hear;        /* there is another injection library that wants calls */
	_Atomic bool watches;            /* the name of a range is watched for */
};

/* The parts of the wiped page that the child of fork() gets again. */
struct gt_wiped {
	struct gt_router router; /* as it is once its wants are made; active: unused */
	_Atomic uint32_t phase;  /* from here on as before the last fork */
	struct gt_nvtx_page nvtx;
};

/*
 * The recording in this process. There is one, since CUPTI's buffer callbacks carry no user
 * pointer; it lives until the process ends and its memory is never given back. Sources do not see
 * into it: they have injection/session/services.h.
 */
struct gt_session {
	/*
	 * The kernel zeroes this page in the child of a fork (MADV_WIPEONFORK), where there is no
	 * arena: whatever made the child, nothing is heard in it from its first instruction on.
	 * forks.c restores what the child of fork() needs.
	 */
	_Alignas(GT_WIPED_BYTES) struct gt_router router;
	uint8_t apart[GT_WIPED_BYTES - 64 - sizeof(struct gt_router)];
	_Atomic uint32_t phase;  /* enum gt_session_phase */
	_Atomic uint32_t wanted; /* RECORDING or READY: what the writer thread is to make of it */
	/* From here to followed all outlives the session in the child of a fork. */
	struct gt_nvtx_page nvtx;
	_Alignas(64) struct gt_wiped wiped;

	sem_t followed; /* the writer thread has made of it what was wanted */
	struct gt_settings settings;
	struct gt_arena arena;
	struct gt_cupti cupti;
	int driver_version; /* cuDriverGetVersion, 0: not known */

	/* The starting thread's, then the writer thread's. */
	struct gt_interner interner;
	struct gt_writer writer;
	struct gt_drain *drain;
	struct gt_sources sources;
	_Atomic(void *) shared[GT_SHARED_COUNT]; /* any thread's */
	struct gt_cost cost;
	void *memory; /* of all these */
	size_t memory_bytes;

	struct gt_output output;

	/* Orders from outside, and the pause that began last: the writer thread's, likewise. */
	struct gt_control control;
	_Atomic uint32_t cause; /* enum gt_control_cause: who wants what is wanted */
	struct {
		uint64_t began; /* gt_stamp; 0: recording is not paused */
		uint32_t cause;
		bool is_told; /* there is a record of its begin */
	} pause;

	_Atomic bool closed; /* the recording is complete: no slot for records is lent any more */
	_Atomic bool cuda_starts; /* or has started, or has failed to */
	_Atomic bool
		reading_asked; /* of those that read at intervals, before the interval is over */
	_Atomic uint64_t reading_asked_ns; /* when it was last, gt_now */
	_Atomic bool cuda_up; /* CUPTI asked for a buffer: flushing is safe, the driver answers */
	_Atomic uint32_t activities; /* that CUPTI records: 1 << enum gt_activity */

	/*
	 * Held by who uses the writer, the drain, the interner or the sources: the writer thread in
	 * each of its turns, and the thread that initialises CUDA where the session began before.
	 */
	pthread_mutex_t turn;
	/* Likewise: for what would be much of a stack that may be small. */
	struct {
		unsigned char bytes[32768];
		char text[GT_TEXT_MAX];
	} scratch;

	/* Thread id of who has all these while the session begins, or in its turn; 0: none does. */
	_Atomic uint32_t starter;
	bool said;               /* on stderr that it records */
	bool is_worker;          /* guarded by turn: gt_process_is_forked */
	bool flushes;            /* guarded by turn: the flusher runs */
	bool pauses;             /* guarded by turn: sources do, before they are disarmed */
	_Atomic bool is_waiting; /* the child of a fork, whose session begins with CUDA */

	pthread_key_t thread_end; /* calls gt_emit's destructor */
	bool emits;               /* there was a key */

	struct gt_notes notes;
	struct gt_flusher flusher;
	struct gt_replays replays;
	struct gt_writer_thread writer_thread;
};

static inline bool gt_session_is(const struct gt_session *session, enum gt_session_phase phase)
{
	/* Pairs with the releases where the phase changes. */
	return atomic_load_explicit(&session->phase, memory_order_acquire) == phase;
}

/*
 * Whether a call of NVTX or gputrace.h is recorded. Where a child of a fork or a clone has no
 * session (yet), it is counted.
 */
static inline bool gt_session_records(struct gt_session *session)
{
	const bool records = gt_session_is(session, GT_SESSION_RECORDING);

	if (!records)
		gt_forks_count(session);
	return records;
}

/* Before its end. */
static inline bool gt_session_is_running(const struct gt_session *session)
{
	const uint32_t phase = atomic_load_explicit(&session->phase, memory_order_acquire);

	return phase == GT_SESSION_STARTING || phase == GT_SESSION_READY ||
	       phase == GT_SESSION_RECORDING;
}

static inline bool gt_session_is_ending(const struct gt_session *session)
{
	return gt_session_is(session, GT_SESSION_STOPPING);
}

/* Whether records and buffers have somewhere to go: not in the child of a fork. */
static inline bool gt_session_has_arena(const struct gt_session *session)
{
	const uint32_t phase = atomic_load_explicit(&session->phase, memory_order_acquire);

	return phase != GT_SESSION_OFF && phase != GT_SESSION_FORGOTTEN;
}

static inline bool gt_session_cuda_is_up(const struct gt_session *session)
{
	return atomic_load_explicit(&session->cuda_up, memory_order_acquire);
}

/*
 * Begins to record what needs no CUDA: everything that cannot start is noted in the capture and
 * left out, and the program goes on as it would without. Called once, on any thread; with_cuda:
 * gt_session_start_cuda comes next.
 */
void gt_session_begin(struct gt_session *session, char *const *environment, bool with_cuda);

/* Adds what CUPTI tells. Called once after it has begun, on the thread that initialises CUDA. */
void gt_session_start_cuda(struct gt_session *session);

/* Both. */
void gt_session_start(struct gt_session *session, char *const *environment);

/*
 * From any thread but ours: records from now on, or pauses: then sources that go on alone record,
 * and it costs the program next to nothing. True when that is so within limit_ns.
 */
bool gt_session_arm(struct gt_session *session, enum gt_control_cause cause, uint64_t limit_ns);
bool gt_session_disarm(struct gt_session *session, enum gt_control_cause cause, uint64_t limit_ns);

/* Writer thread: does what was asked for by the two, and by orders from outside. */
void gt_session_follow(struct gt_session *session);

/* Writer thread, at the end: a pause ends with the program. */
void gt_session_end_pause(struct gt_session *session);

/* Ends it, from an exit handler: fetches what CUPTI has, writes all, removes the arena. */
void gt_session_stop(struct gt_session *session);

/* Writer thread, last: the capture is complete, but for what CUPTI still has. */
void gt_session_close(struct gt_session *session);

/* Before sources start: the key that calls back when a thread ends. False: there is none left. */
bool gt_emit_init(struct gt_session *session);

#endif
