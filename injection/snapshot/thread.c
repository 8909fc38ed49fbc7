/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "injection/calls/parameters.h"
#include "injection/cupti/cupti.h"
#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/bundle/host_steps.h"
#include "injection/snapshot/bundle/steps.h"
#include "injection/snapshot/graph_steps.h"
#include "injection/snapshot/graphs/kept.h"

#define LOOK_NS      100000000u /* how often that is looked at */
#define PAUSE_NS     100000000u /* after which our thread looks whether it is to end */
#define MOST_REFUSED 1000       /* that are told one by one */

/* ---- our thread ---- */

static void do_work(struct gt_capture_thread *thread, uint32_t work)
{
	struct gt_launch_capture *capture = thread->capture;
	CUcontext before;

	thread->err = (struct gt_error){0};
	thread->result = gt_capture_driver_check(&thread->driver,
	                                         thread->driver.context_push(capture->context),
	                                         "its context cannot be used", &thread->err);
	if (thread->result < 0 || work == GT_CAPTURE_DROP)
		gt_capture_drop(capture);
	else if (work == GT_CAPTURE_BEFORE)
		thread->result = gt_capture_before(capture, &thread->err);
	else if (work == GT_CAPTURE_FREE)
		thread->result = gt_capture_free(capture, &thread->err);
	else if (work == GT_CAPTURE_SETTLE)
		thread->result = gt_capture_settle(capture, &thread->err);
	else if (work == GT_CAPTURE_WRITTEN)
		thread->result = gt_capture_written(capture, &thread->err);
	else
		thread->result = gt_capture_after(capture, &thread->err);
	/* Nobody waits for it any more. */
	if (atomic_load_explicit(&thread->abandoned, memory_order_relaxed))
		gt_capture_drop(capture);
	if (thread->driver.context_pop)
		(void)thread->driver.context_pop(&before);
}

void gt_capture_thread_run(struct gt_session *session, struct gt_capture_thread *thread,
                           struct gt_waiter *waiter)
{
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

	/* Else a capture that another thread began would forbid what this one does. */
	(void)thread->driver.exchange_capture(&relaxed);
	gt_hold_last_flush(session);
	while (gt_wait_next(waiter, 0)) {
		uint32_t work;

		if (!gt_wait(&thread->wanted, PAUSE_NS))
			continue;
		/* Pairs with the release in gt_capture_thread_do. */
		work = atomic_load_explicit(&thread->work, memory_order_acquire);
		if (work == GT_CAPTURE_NOTHING)
			continue;
		do_work(thread, work);
		atomic_store_explicit(&thread->work, GT_CAPTURE_NOTHING, memory_order_release);
		sem_post(&thread->done);
	}
	gt_release_last_flush(session);
}

/* ---- threads of the program ---- */

int gt_capture_thread_open(struct gt_capture_thread *thread, struct gt_error *err)
{
	int result = 0;

	if (!thread->driver_open)
		result = gt_capture_driver_open(&thread->driver, err);
	thread->driver_open = result == 0;
	return result;
}

uint64_t gt_capture_thread_left(const struct gt_session *session,
                                const struct gt_capture_thread *thread)
{
	const uint64_t most = gt_settings_of(session)->capture_bytes;

	return most > thread->bytes ? most - thread->bytes : 0;
}

/* Not a piece of memory was copied for that long. */
static bool is_stuck(const struct gt_capture_thread *thread)
{
	return gt_now() - atomic_load_explicit(&thread->turn.alive_ns, memory_order_relaxed) >
	       thread->turn.patience_ns;
}

int gt_capture_thread_do(struct gt_session *session, struct gt_capture_thread *thread,
                         enum gt_capture_work work, struct gt_error *err)
{
	atomic_store_explicit(&thread->turn.alive_ns, gt_now(), memory_order_relaxed);
	/* Pairs with the acquire in gt_capture_thread_run. */
	atomic_store_explicit(&thread->work, work, memory_order_release);
	gt_want_thread(session, thread->source);
	sem_post(&thread->wanted);
	while (!gt_wait(&thread->done, LOOK_NS)) {
		if (!is_stuck(thread))
			continue;
		atomic_store_explicit(&thread->abandoned, true, memory_order_relaxed);
		atomic_store_explicit(&thread->turn.on, false, memory_order_relaxed);
		gt_count(session, GT_LEDGER_sources_failed, 1);
		gt_note(session, thread->topic,
		        thread->sequences
		                ? "sequences are not captured any more: nothing got on with one "
		                  "for half a minute, as where work that does not end keeps the "
		                  "GPU busy"
		                : "launches are not captured any more: nothing got on with one "
		                  "for half a minute, as where work that does not end keeps the "
		                  "GPU busy");
		return gt_fail(err, ETIMEDOUT,
		               "nothing got on for half a minute; no %s are captured any more",
		               thread->sequences ? "sequences" : "launches");
	}
	*err = thread->err;
	return thread->result;
}

int gt_capture_read_launch(struct gt_session *session, struct gt_capture_thread *thread,
                           struct gt_error *err)
{
	struct gt_launch_capture *capture = thread->capture;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	struct gt_set_aside calls;
	int result;

	(void)session;
	gt_own_set_aside(&calls);
	(void)thread->driver.exchange_capture(&mode);
	result = gt_captured_function_read(&capture->function, &thread->driver,
	                                   &capture->step.launch, err);
	(void)thread->driver.exchange_capture(&mode);
	gt_own_take_up(&calls);
	return result;
}

void gt_capture_give_graph(struct gt_session *session, const struct gt_capture_thread *thread,
                           struct gt_kept_graph *graph)
{
	if (!atomic_load_explicit(&thread->abandoned, memory_order_relaxed))
		gt_kept_graphs_give(gt_kept_graphs_of(session), graph);
}

static uint32_t stream_id(const struct gt_session *session, CUcontext context, CUstream stream)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	uint32_t id = 0;

	if (!cupti->cuptiGetStreamIdEx ||
	    cupti->cuptiGetStreamIdEx(context, stream, 0, &id) != CUPTI_SUCCESS)
		return 0;
	return id;
}

struct gt_capture_stream gt_capture_read_stream(struct gt_session *session,
                                                struct gt_capture_thread *thread, CUstream stream)
{
	struct gt_capture_stream read = {.handle = stream};
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	struct gt_set_aside calls;

	gt_own_set_aside(&calls);
	(void)thread->driver.exchange_capture(&mode);
	(void)thread->driver.stream_priority(stream, &read.priority);
	(void)thread->driver.stream_flags(stream, &read.flags);
	read.number = stream_id(session, thread->capture->context, stream);
	(void)thread->driver.exchange_capture(&mode);
	gt_own_take_up(&calls);
	return read;
}

/* ---- what becomes of it ---- */

static void emit(struct gt_session *session, const struct gt_capture_thread *thread,
                 const struct gt_record_captured_launch *told, const char *bundle, const char *node,
                 const char *reason)
{
	const char *range = thread->sequences ? thread->capture->range : "";
	const size_t bundle_size = strlen(bundle);
	const size_t reason_size = strlen(reason);
	const size_t range_size = strlen(range);
	const size_t node_size = strlen(node);
	struct gt_record_captured_launch *record = gt_emit_begin(
		session, GT_RECORD_captured_launch,
		sizeof(*record) + GT_TEXT_BYTES(bundle_size) + GT_TEXT_BYTES(reason_size) +
			GT_TEXT_BYTES(range_size) + GT_TEXT_BYTES(node_size));
	size_t used = sizeof(*record);

	if (!record)
		return;
	*record = *told;
	record->bundle = gt_emit_text(record, used, bundle, bundle_size);
	used += GT_TEXT_BYTES(bundle_size);
	record->reason = gt_emit_text(record, used, reason, reason_size);
	used += GT_TEXT_BYTES(reason_size);
	record->range = gt_emit_text(record, used, range, range_size);
	used += GT_TEXT_BYTES(range_size);
	record->node = gt_emit_text(record, used, node, node_size);
	gt_emit_commit();
}

void gt_capture_emit(struct gt_session *session, struct gt_capture_thread *thread,
                     struct gt_record_captured_launch *told, const char *node)
{
	told->bytes = thread->capture->bytes;
	thread->bytes += told->bytes;
	thread->count++;
	emit(session, thread, told, thread->capture->folder, node, "");
}

void gt_capture_emit_refused(struct gt_session *session, struct gt_capture_thread *thread,
                             const struct gt_record_captured_launch *told, const char *node,
                             const char *reason)
{
	const uint64_t refused =
		atomic_fetch_add_explicit(&thread->refused, 1, memory_order_relaxed);

	if (refused < MOST_REFUSED)
		emit(session, thread, told, "", node, reason);
	else if (refused == MOST_REFUSED)
		gt_note(session, thread->topic,
		        thread->sequences
		                ? "more than 1000 occurrences were refused, of which the rest is "
		                  "not listed"
		                : "more than 1000 launches were refused, of which the rest is not "
		                  "listed");
}

struct pass {
	struct gt_session *session;
	const char *topic;
	bool sequences;
};

static void give_up(void *context)
{
	const struct pass *pass = context;

	gt_count(pass->session, GT_LEDGER_sources_failed, 1);
	gt_note(pass->session, pass->topic,
	        pass->sequences ? "sequences are not captured any more: a step of one took more "
	                          "than half a minute while another thread waited to launch"
	                        : "launches are not captured any more: one took more than half a "
	                          "minute while another thread waited to launch");
}

bool gt_capture_thread_pass(struct gt_session *session, struct gt_capture_thread *thread)
{
	struct pass pass = {session, thread->topic, thread->sequences};

	return gt_launch_turn_pass(&thread->turn, give_up, &pass);
}

/* ---- its life ---- */

int gt_capture_thread_init(struct gt_session *session, struct gt_capture_thread *thread,
                           const struct gt_source *source, const char *names, const char *range,
                           struct gt_error *err)
{
	const char *none =
		thread->sequences ? "no sequences are captured" : "no launches are captured";
	const size_t writer = gt_bundle_writer_memory();
	uint8_t *memory = mmap(NULL, sizeof(*thread->capture) + writer, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result;

	thread->graphs = gt_graph_steps_new();
	if (memory == MAP_FAILED || !thread->graphs)
		return gt_fail(err, ENOMEM, "%s: there is no memory for it", none);
	result = gt_launch_choice_init(session, &thread->choice, names, none, err);
	if (result < 0)
		return result;
	thread->source = source;
	thread->topic = thread->sequences ? "sequence_capture" : "kernel_capture";
	thread->capture = (struct gt_launch_capture *)(void *)(memory + writer);
	gt_bundle_writer_init(&thread->capture->writer, memory);
	thread->capture->session = session;
	thread->capture->driver = &thread->driver;
	thread->capture->foreign = &thread->foreign;
	thread->capture->alive_ns = &thread->turn.alive_ns;
	thread->capture->abandoned = &thread->abandoned;
	thread->capture->range = range;
	sem_init(&thread->wanted, 0, 0);
	sem_init(&thread->done, 0, 0);
	gt_foreign_want(session);
	gt_launch_turn_init(&thread->turn, gt_settings_of(session)->launches_patience_ns);
	gt_launch_choice_want(session);
	return 0;
}
