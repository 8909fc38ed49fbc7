/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_THREAD_H
#define GT_INJECTION_SNAPSHOT_THREAD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "injection/counters/launch_choice.h"
#include "injection/driver/capture_driver.h"
#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/memory/foreign.h"

struct gt_call;
struct gt_graph_steps;
struct gt_kept_graph;
struct gt_record_captured_launch;
struct gt_session;
struct gt_source;
struct gt_waiter;

/*
 * Shared by single launches and sequences: a thread of ours that waits for the GPU, copies memory
 * and writes the bundle, while a thread of the program waits for it at the entry of a call; and
 * what becomes of it in the recording.
 *
 * It is done on a thread of ours as what the program's own does inside of a call of the driver's
 * CUPTI would count as that call's. Where nothing gets on for a while the program is let go and
 * nothing is captured any more.
 */

#define GT_CAPTURE_END_NS 2000000000u /* that a bundle may hold up the end of the program */

enum gt_capture_work {
	GT_CAPTURE_NOTHING,
	GT_CAPTURE_BEFORE,
	GT_CAPTURE_SETTLE,
	GT_CAPTURE_WRITTEN,
	GT_CAPTURE_FREE,
	GT_CAPTURE_AFTER,
	GT_CAPTURE_DROP,
};

struct gt_capture_thread {
	const struct gt_source *source;
	bool sequences;                 /* what is captured are occurrences of a range; set first */
	const char *topic;              /* of its notes */
	struct gt_launch_choice choice; /* which, and the captures of streams that are under way */
	struct gt_launch_turn turn;     /* whoever has it, has all below but what is atomic */
	struct gt_graph_steps *graphs;  /* of what is being captured */
	struct gt_capture_driver driver;
	bool driver_open;
	struct gt_foreign foreign;
	struct gt_launch_capture *capture; /* memory of our own, from the start; NULL: it did not */
	_Atomic uint64_t refused;
	uint64_t bytes;   /* of disk, of all bundles */
	uint64_t count;   /* bundles */
	uint64_t held_ns; /* that the program was held up, in all */
	/* Between the two threads: */
	_Atomic uint32_t work; /* enum gt_capture_work */
	_Atomic bool abandoned;
	sem_t wanted;
	sem_t done;
	int result; /* of the work that was done */
	struct gt_error err;
};

/*
 * In the source's start; fails with a sentence. names: a pattern of the kernels that are chosen,
 * empty: all. range: what steps are told to be in.
 */
int gt_capture_thread_init(struct gt_session *session, struct gt_capture_thread *thread,
                           const struct gt_source *source, const char *names, const char *range,
                           struct gt_error *err);

/* The source's run. */
void gt_capture_thread_run(struct gt_session *session, struct gt_capture_thread *thread,
                           struct gt_waiter *waiter);

/* ---- on a thread of the program, with the turn ---- */

/* The driver's functions; fails with a sentence. */
int gt_capture_thread_open(struct gt_capture_thread *thread, struct gt_error *err);

/* Bytes of disk that are left for a bundle. */
uint64_t gt_capture_thread_left(const struct gt_session *session,
                                const struct gt_capture_thread *thread);

/* Has our thread do something and waits for it; negative with a sentence, also when it takes long. */
int gt_capture_thread_do(struct gt_session *session, struct gt_capture_thread *thread,
                         enum gt_capture_work work, struct gt_error *err);

/*
 * The function of the launch in capture->step, and the stream of a call, as the driver tells. The
 * capture's context is known. Nobody hears of calls that this makes.
 */
int gt_capture_read_launch(struct gt_session *session, struct gt_capture_thread *thread,
                           struct gt_error *err);
struct gt_capture_stream gt_capture_read_stream(struct gt_session *session,
                                                struct gt_capture_thread *thread, CUstream stream);

/*
 * A graph whose launch was captured (gt_kept_graphs_take). Where our thread was given up it may
 * still read in it: then it stays.
 */
void gt_capture_give_graph(struct gt_session *session, const struct gt_capture_thread *thread,
                           struct gt_kept_graph *graph);

/* A bundle is whole: told has its times; node: as the record has it. */
void gt_capture_emit(struct gt_session *session, struct gt_capture_thread *thread,
                     struct gt_record_captured_launch *told, const char *node);

/* ---- on any thread ---- */

void gt_capture_emit_refused(struct gt_session *session, struct gt_capture_thread *thread,
                             const struct gt_record_captured_launch *told, const char *node,
                             const char *reason);

/* A launch that has not the turn waits for it; true: gt_launch_turn_leave at its return. */
bool gt_capture_thread_pass(struct gt_session *session, struct gt_capture_thread *thread);

#endif
