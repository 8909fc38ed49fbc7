/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/capture_bundle.h"
#include "injection/capture_driver.h"
#include "injection/cupti/cupti.h"
#include "injection/launch_calls.h"
#include "injection/launch_choice.h"
#include "injection/services.h"
#include "injection/source.h"
#include "injection/thread.h"
#include "injection/wait.h"

/*
 * Single launches with all that running them again needs: code, parameters, and the memory that
 * they can reach, before and after. One launch is captured at a time, and no other one of the
 * process goes to a GPU meanwhile. Off unless GPUTRACE_CAPTURE_KERNELS says which.
 *
 * At the entry of the driver's call the program's thread reads what is launched and waits for a
 * thread of ours, which waits for the GPU, copies memory and writes the bundle; at its return once
 * more. It is done on a thread of ours as what the program's own does inside of a call of the
 * driver's CUPTI would count as that call's. Where nothing gets on for a while the launch is let go
 * and nothing is captured any more.
 */

#define PATIENCE_NS  30000000000u /* without a piece of memory that was copied */
#define LOOK_NS      100000000u   /* how often that is looked at */
#define PAUSE_NS     100000000u   /* after which our thread looks whether it is to end */
#define END_NS       2000000000u  /* that a bundle may hold up the end of the program */
#define MOST_REFUSED 1000         /* that are told one by one */

enum work { NOTHING, BEFORE, AFTER, DROP };

struct kernel_capture {
	struct gt_launch_choice choice;
	struct gt_launch_turn turn; /* whoever has it, has all below but what is atomic */
	struct gt_capture_driver driver;
	bool driver_open;
	struct gt_foreign foreign[GT_CAPTURE_FOREIGN];
	_Atomic bool foreign_full;
	_Atomic uint64_t refused;
	struct gt_launch_capture *capture; /* memory of our own, from the start */
	uint64_t bytes;                    /* of disk, of all bundles */
	uint64_t count;                    /* bundles */
	uint64_t number;                   /* of the launch that is being captured */
	uint32_t context;
	uint64_t began_ns; /* gt_stamp */
	uint64_t began_at_ns;
	uint64_t held_ns; /* of all */
	/* Between the two threads: */
	_Atomic uint32_t work; /* enum work */
	_Atomic bool abandoned;
	sem_t wanted;
	sem_t done;
	int result; /* of the work that was done */
	struct gt_error err;
};

extern const struct gt_source gt_source_kernel_capture;

/* ---- our thread ---- */

static void do_work(struct kernel_capture *state, uint32_t work)
{
	struct gt_launch_capture *capture = state->capture;
	CUcontext before;

	state->err = (struct gt_error){0};
	state->result = gt_capture_driver_check(&state->driver,
	                                        state->driver.context_push(capture->context),
	                                        "its context cannot be used", &state->err);
	if (state->result < 0 || work == DROP) {
		gt_capture_drop(capture);
	} else {
		state->result = work == BEFORE ? gt_capture_before(capture, &state->err)
		                               : gt_capture_after(capture, &state->err);
	}
	if (state->driver.context_pop)
		(void)state->driver.context_pop(&before);
}

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	struct kernel_capture *kernels = state;
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

	/* Else a capture that another thread began would forbid what this one does. */
	(void)kernels->driver.exchange_capture(&relaxed);
	gt_hold_last_flush(session);
	while (gt_wait_next(waiter, 0)) {
		uint32_t work;

		if (!gt_wait(&kernels->wanted, PAUSE_NS))
			continue;
		/* Pairs with the release in have_done. */
		work = atomic_load_explicit(&kernels->work, memory_order_acquire);
		if (work == NOTHING)
			continue;
		do_work(kernels, work);
		atomic_store_explicit(&kernels->work, NOTHING, memory_order_release);
		sem_post(&kernels->done);
	}
	gt_release_last_flush(session);
}

/* ---- threads of the program ---- */

static bool is_stuck(const struct kernel_capture *kernels)
{
	return gt_now() - atomic_load_explicit(&kernels->turn.alive_ns, memory_order_relaxed) >
	       PATIENCE_NS;
}

/* Has our thread do something and waits for it; negative with a sentence, also when it takes long. */
static int have_done(struct gt_session *session, struct kernel_capture *kernels, enum work work,
                     struct gt_error *err)
{
	atomic_store_explicit(&kernels->turn.alive_ns, gt_now(), memory_order_relaxed);
	/* Pairs with the acquire in run. */
	atomic_store_explicit(&kernels->work, work, memory_order_release);
	gt_want_thread(session, &gt_source_kernel_capture);
	sem_post(&kernels->wanted);
	while (!gt_wait(&kernels->done, LOOK_NS)) {
		if (!is_stuck(kernels))
			continue;
		atomic_store_explicit(&kernels->abandoned, true, memory_order_relaxed);
		atomic_store_explicit(&kernels->turn.on, false, memory_order_relaxed);
		gt_count(session, GT_LEDGER_sources_failed, 1);
		gt_note(session, "kernel_capture",
		        "launches are not captured any more: nothing got on with one for half a "
		        "minute, as where work that does not end keeps the GPU busy");
		return gt_fail(
			err, ETIMEDOUT,
			"nothing got on for half a minute; no launches are captured any more");
	}
	*err = kernels->err;
	return kernels->result;
}

static void emit(struct gt_session *session, const struct gt_record_captured_launch *told,
                 const char *bundle, const char *reason)
{
	const size_t bundle_size = strlen(bundle);
	const size_t reason_size = strlen(reason);
	struct gt_record_captured_launch *record = gt_emit_begin(
		session, GT_RECORD_captured_launch,
		sizeof(*record) + GT_TEXT_BYTES(bundle_size) + GT_TEXT_BYTES(reason_size));

	if (!record)
		return;
	*record = *told;
	record->bundle = gt_emit_text(record, sizeof(*record), bundle, bundle_size);
	record->reason = gt_emit_text(record, sizeof(*record) + GT_TEXT_BYTES(bundle_size), reason,
	                              reason_size);
	gt_emit_commit();
}

static void emit_refused(struct gt_session *session, struct kernel_capture *kernels,
                         const struct gt_record_captured_launch *told, const char *reason)
{
	const uint64_t refused =
		atomic_fetch_add_explicit(&kernels->refused, 1, memory_order_relaxed);

	if (refused < MOST_REFUSED)
		emit(session, told, "", reason);
	else if (refused == MOST_REFUSED)
		gt_note(session, "kernel_capture",
		        "more than 1000 launches were refused, of which the rest is not listed");
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

/* What the driver is asked inside of a call of the program's is ours, and no call is heard of. */
static int read_launch(struct gt_session *session, struct kernel_capture *kernels,
                       struct gt_launch_capture *capture, bool per_thread, struct gt_error *err)
{
	const struct gt_capture_driver *driver = &kernels->driver;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUstream stream = capture->launch.stream;
	struct gt_set_aside calls;
	int result;

	if (!stream && per_thread)
		stream = CU_STREAM_PER_THREAD;
	gt_own_set_aside(&calls);
	(void)driver->exchange_capture(&mode);
	result = gt_captured_function_read(&capture->function, driver, &capture->launch, err);
	(void)driver->stream_priority(stream, &capture->stream_priority);
	(void)driver->stream_flags(stream, &capture->stream_flags);
	capture->stream = stream_id(session, capture->context, stream);
	(void)driver->exchange_capture(&mode);
	gt_own_take_up(&calls);
	return result;
}

static int open_driver(struct kernel_capture *kernels, struct gt_error *err)
{
	int result = 0;

	if (!kernels->driver_open)
		result = gt_capture_driver_open(&kernels->driver, err);
	kernels->driver_open = result == 0;
	return result;
}

/* With the turn: all that is done before the launch. */
static int capture_before(struct gt_session *session, struct kernel_capture *kernels,
                          const struct gt_launch *launch, struct gt_call call, struct gt_error *err)
{
	const uint64_t most = gt_settings_of(session)->capture_bytes;
	struct gt_launch_capture *capture = kernels->capture;
	int result = open_driver(kernels, err);

	capture->context = call.data->context;
	capture->correlation = call.data->correlationId;
	capture->name = call.data->symbolName ? call.data->symbolName : "";
	capture->most = most > kernels->bytes ? most - kernels->bytes : 0;
	capture->stream_priority = 0;
	capture->stream_flags = 0;
	gt_capture_folder(capture->folder, sizeof(capture->folder), kernels->number, capture->name);
	if (result == 0 && !gt_launch_describe(call.id, call.data, &capture->launch))
		result = gt_fail(err, EINVAL, "its call has no parameters");
	if (result == 0)
		result = read_launch(session, kernels, capture, launch->per_thread, err);
	return result == 0 ? have_done(session, kernels, BEFORE, err) : result;
}

static struct gt_record_captured_launch told_of(struct gt_call call, uint64_t number)
{
	const uint64_t now = gt_stamp();

	return (struct gt_record_captured_launch){
		.start_ns = now,
		.end_ns = now,
		.correlation = call.data->correlationId,
		.context = call.data->contextUid,
		.number = number,
	};
}

/* True: the launch is captured, and has the turn until it returns. */
static bool begin_capture(struct gt_session *session, struct kernel_capture *kernels,
                          const struct gt_launch *launch, struct gt_call call, uint64_t number)
{
	struct gt_record_captured_launch told = told_of(call, number);
	struct gt_error err = {0};

	switch (gt_launch_turn_take(&kernels->turn)) {
	case GT_TURN_TAKEN:
		break;
	case GT_TURN_LATE:
		emit_refused(session, kernels, &told, "another launch was being captured");
		return false;
	case GT_TURN_NOISY:
		emit_refused(session, kernels, &told,
		             "another thread's launch did not return within two seconds");
		return false;
	}
	kernels->number = number;
	kernels->began_ns = gt_stamp();
	kernels->began_at_ns = gt_now();
	if (capture_before(session, kernels, launch, call, &err) == 0)
		return true;
	told.start_ns = kernels->began_ns;
	told.end_ns = gt_stamp();
	kernels->held_ns += gt_now() - kernels->began_at_ns;
	emit_refused(session, kernels, &told, err.text);
	gt_launch_turn_end(&kernels->turn);
	return false;
}

static void end_capture(struct gt_session *session, struct kernel_capture *kernels,
                        struct gt_call call)
{
	struct gt_record_captured_launch told = told_of(call, kernels->number);
	const uint32_t failed = gt_call_result(call);
	struct gt_error err = {0};
	int result = have_done(session, kernels, failed ? DROP : AFTER, &err);

	if (failed)
		result = gt_fail(&err, EINVAL, "the launch failed");
	told.start_ns = kernels->began_ns;
	told.end_ns = gt_stamp();
	if (result == 0) {
		told.bytes = kernels->capture->bytes;
		kernels->bytes += told.bytes;
		kernels->count++;
		emit(session, &told, kernels->capture->folder, "");
	} else {
		emit_refused(session, kernels, &told, err.text);
	}
	kernels->held_ns += gt_now() - kernels->began_at_ns;
	gt_launch_turn_end(&kernels->turn);
}

/* ---- values of calls that launches cannot be captured with ---- */

struct foreign_call {
	uint64_t value;
	enum gt_foreign_kind kind; /* NONE: the call ends what the value is of */
};

/* False: the call is none of them. begins: the value is there once it has returned. */
static bool read_foreign(struct gt_call call, struct foreign_call *read)
{
#define BEGINS(name, member, of)                                                                   \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		read->value = *((const name##_params *)call.data->functionParams)->member;         \
		read->kind = GT_FOREIGN_##of;                                                      \
		return true;
#define ENDS(name, member)                                                                         \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		read->value = ((const name##_params *)call.data->functionParams)->member;          \
		read->kind = GT_FOREIGN_NONE;                                                      \
		return true;
	switch (call.id) {
		BEGINS(cuTexObjectCreate, pTexObject, TEXTURE)
		BEGINS(cuSurfObjectCreate, pSurfObject, SURFACE)
		BEGINS(cuIpcOpenMemHandle_v2, pdptr, IPC)
		BEGINS(cuMemPoolImportPointer, ptr_out, IPC)
		ENDS(cuTexObjectDestroy, texObject)
		ENDS(cuSurfObjectDestroy, surfObject)
		ENDS(cuIpcCloseMemHandle, dptr)
	default: /* CUPTI's numbers, of which most are of other calls */
		return false;
	}
#undef BEGINS
#undef ENDS
}

static const CUpti_CallbackId foreign_calls[] = {
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectCreate,
	CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2,
	CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportPointer,
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuIpcCloseMemHandle,
};

static bool is_foreign_call(CUpti_CallbackId id)
{
	for (size_t i = 0; i < sizeof(foreign_calls) / sizeof(foreign_calls[0]); i++)
		if (foreign_calls[i] == id)
			return true;
	return false;
}

static void add_foreign(struct gt_session *session, struct kernel_capture *kernels,
                        const struct foreign_call *call)
{
	for (size_t i = 0; i < GT_CAPTURE_FOREIGN; i++) {
		struct gt_foreign *foreign = &kernels->foreign[i];

		if (atomic_load_explicit(&foreign->kind, memory_order_relaxed) != GT_FOREIGN_NONE)
			continue;
		atomic_store_explicit(&foreign->value, call->value, memory_order_relaxed);
		atomic_store_explicit(&foreign->kind, call->kind, memory_order_release);
		return;
	}
	if (!atomic_exchange_explicit(&kernels->foreign_full, true, memory_order_relaxed))
		gt_note(session, "kernel_capture",
		        "the program has more than 512 texture and surface objects and pieces of "
		        "memory of other processes: launches with the rest may be captured though "
		        "they cannot be replayed");
}

static void follow_foreign(struct gt_session *session, struct kernel_capture *kernels,
                           struct gt_call call)
{
	struct foreign_call read;

	if (gt_call_result(call) != 0 || !read_foreign(call, &read))
		return;
	if (read.kind != GT_FOREIGN_NONE) {
		add_foreign(session, kernels, &read);
		return;
	}
	for (size_t i = 0; i < GT_CAPTURE_FOREIGN; i++)
		if (atomic_load_explicit(&kernels->foreign[i].value, memory_order_relaxed) ==
		    read.value)
			atomic_store_explicit(&kernels->foreign[i].kind, GT_FOREIGN_NONE,
			                      memory_order_relaxed);
}

/* ---- callbacks ---- */

static void give_up(void *context)
{
	struct gt_session *session = context;

	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "kernel_capture",
	        "launches are not captured any more: one took more than half a minute while another "
	        "thread waited to launch");
}

static void *enter_launch(struct gt_session *session, struct kernel_capture *kernels,
                          const struct gt_launch *launch, struct gt_call call)
{
	struct gt_record_captured_launch told;
	uint64_t number = 0;

	switch (gt_launch_choice_ask(session, &kernels->choice, launch, call, &number)) {
	case GT_LAUNCH_OTHER:
		break;
	case GT_LAUNCH_CAPTURED:
		told = told_of(call, 0);
		emit_refused(session, kernels, &told,
		             "a stream was being captured into a CUDA graph: as its node it runs "
		             "later, after other nodes");
		break;
	case GT_LAUNCH_TAKEN:
		if (begin_capture(session, kernels, launch, call, number))
			return kernels->capture;
		break;
	}
	return gt_launch_turn_pass(&kernels->turn, give_up, session) ? &kernels->turn : NULL;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct kernel_capture *kernels = state;
	const int saved = errno;
	struct gt_launch launch;
	void *kept = NULL;

	if (is_foreign_call(call.id))
		return &kernels->foreign;
	if (!gt_launch_read(call.id, call.data, &launch))
		return gt_capture_step(call.id) ? &kernels->choice : NULL;
	if (atomic_load_explicit(&kernels->turn.on, memory_order_acquire))
		kept = enter_launch(session, kernels, &launch, call);
	errno = saved;
	return kept;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct kernel_capture *kernels = state;
	const int saved = errno;

	if (kept == &kernels->turn)
		gt_launch_turn_leave(&kernels->turn);
	else if (kept == &kernels->choice)
		gt_launch_choice_follow(&kernels->choice, call);
	else if (kept == &kernels->foreign)
		follow_foreign(session, kernels, call);
	else if (kept)
		end_capture(session, kernels, call);
	errno = saved;
}

/* ---- its life ---- */

static int get_memory(struct gt_session *session, struct kernel_capture *kernels,
                      struct gt_error *err)
{
	const size_t writer = gt_bundle_writer_memory();
	uint8_t *memory = mmap(NULL, sizeof(*kernels->capture) + writer, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return gt_fail(err, ENOMEM, "no launches are captured: there is no memory for it");
	kernels->capture = (struct gt_launch_capture *)(void *)(memory + writer);
	gt_bundle_writer_init(&kernels->capture->writer, memory);
	kernels->capture->session = session;
	kernels->capture->driver = &kernels->driver;
	kernels->capture->foreign = kernels->foreign;
	kernels->capture->alive_ns = &kernels->turn.alive_ns;
	kernels->capture->abandoned = &kernels->abandoned;
	return 0;
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	struct kernel_capture *kernels = state;
	int result;

	if (!*settings->capture_kernels)
		return 0;
	if (*settings->kernel_counters)
		return gt_fail(err, EINVAL,
		               "no launches are captured: GPUTRACE_KERNEL_COUNTERS has launches "
		               "run several times, and only one of both is done");
	result = gt_launch_choice_init(session, &kernels->choice, settings->capture_kernels,
	                               "no launches are captured", err);
	if (result == 0)
		result = get_memory(session, kernels, err);
	if (result < 0)
		return result;
	sem_init(&kernels->wanted, 0, 0);
	sem_init(&kernels->done, 0, 0);
	gt_launch_choice_want(session);
	for (size_t i = 0; i < sizeof(foreign_calls) / sizeof(foreign_calls[0]); i++)
		gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, foreign_calls[i]);
	gt_launch_turn_init(&kernels->turn);
	return 0;
}

static void stop(struct gt_session *session, void *state)
{
	struct kernel_capture *kernels = state;
	char note[256];

	if (!kernels->capture)
		return;
	if (kernels->count == 0)
		(void)snprintf(note, sizeof(note),
		               "no launch was captured, of %llu that were chosen by name and range",
		               (unsigned long long)atomic_load(&kernels->choice.chosen));
	else
		(void)snprintf(
			note, sizeof(note),
			"%llu launches were captured into launches/, %.1f MiB, which held the "
			"program up for %.0f ms: what ran beside them is disturbed",
			(unsigned long long)kernels->count, (double)kernels->bytes / (1 << 20),
			(double)kernels->held_ns / 1e6);
	gt_note(session, "kernel_capture", note);
}

const struct gt_source gt_source_kernel_capture = {
	.name = "kernel_capture",
	.state_size = sizeof(struct kernel_capture),
	.start = start,
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = END_NS,
	.hears = {.enter = enter, .leave = leave},
};
