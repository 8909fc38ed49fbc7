/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/host.h"
#include "format/environment.h"
#include "format/file/meta.h"
#include "format/recording.h"
#include "injection/cupti/layout.h"
#include "injection/driver/driver_calls.h"
#include "injection/output/output.h"
#include "injection/process/calm.h"
#include "injection/process/process.h"
#include "injection/process/wait.h"
#include "injection/session/forks.h"
#include "injection/session/routes.h"
#include "injection/session/services.h"

#define COMMAND_BYTES     8192         /* kept of the command line, */
#define ENVIRONMENT_BYTES 4096         /* and of settings and environment each */
#define STOP_LIMIT_NS     10000000000u /* at exit: for CUPTI's last flush, and for writing the rest */

static int append(void *context, const void *data, size_t size)
{
	return gt_capture_file_write(&((struct gt_session *)context)->output, data, size);
}

static uint32_t string_of(void *context, const char *text, uint32_t size)
{
	return gt_interner_add(&((struct gt_session *)context)->interner, text, size);
}

/* CUPTI keeps names alive for the records it hands back. */
static uint32_t name_of(void *context, uint64_t pointer)
{
	struct gt_session *session = context;
	const char *text = (const char *)(uintptr_t)pointer; // NOLINT(performance-no-int-to-ptr)

	return gt_interner_add_name(&session->interner, pointer, text, strlen(text));
}

/* All the memory that recording takes besides the arena, in one mapping. */
static int take_memory(struct gt_session *session)
{
	const struct gt_sink sink = {append, session};
	const struct gt_drain_config config = {
		.arena = &session->arena,
		.writer = &session->writer,
		.name_of = name_of,
		.string_of = string_of,
		.context = session,
	};
	uint32_t count;
	const struct gt_source *const *sources = gt_sources_all(&count);
	const size_t interner = gt_align_64(gt_interner_memory());
	const size_t writer = gt_align_64(gt_writer_memory());
	const size_t drain = gt_align_64(gt_drain_memory());
	const size_t router = gt_align_64(gt_router_memory());
	const size_t all = interner + writer + drain + router + gt_sources_memory(sources, count);
	uint8_t *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	session->memory = at;
	session->memory_bytes = all;
	gt_interner_init(&session->interner, &session->arena, at);
	at += interner;
	if (gt_writer_init(&session->writer, sink, at, writer) < 0)
		return -1;
	session->writer.written = session->arena.header->written;
	at += writer;
	session->drain = gt_drain_init(&config, at, drain);
	at += drain;
	gt_router_init(&session->router, session, at);
	at += router;
	gt_sources_init(&session->sources, sources, count, at);
	return 0;
}

static void find_driver(struct gt_session *session)
{
	CUresult (*get_version)(int *);

	if (gt_driver_find("cuDriverGetVersion", &get_version) &&
	    get_version(&session->driver_version) != CUDA_SUCCESS)
		session->driver_version = 0;
}

static void write_meta(struct gt_session *session, char *const *environment)
{
	struct gt_meta meta = {.bytes = session->scratch.bytes,
	                       .capacity = sizeof(session->scratch.bytes)};
	char *text = session->scratch.text;

	gt_meta_add(&meta, GT_META_TOOL, GPUTRACE_VERSION);
	gt_process_describe(&meta, text, COMMAND_BYTES);
	gt_meta_add_bytes(&meta, GT_META_SETTINGS, text,
	                  gt_settings_text(environment, text, ENVIRONMENT_BYTES));
	gt_meta_add_bytes(&meta, GT_META_ENVIRONMENT, text,
	                  gt_environment_text(environment, text, ENVIRONMENT_BYTES));
	gt_meta_add(&meta, GT_META_API, gt_api_words[session->settings.api]);
	gt_meta_add(&meta, GT_META_WRITTEN, GT_META_COUNTED);
	(void)gt_meta_write(&session->writer, &meta);
}

static void write_cuda_meta(struct gt_session *session)
{
	struct gt_meta meta = {.bytes = session->scratch.bytes,
	                       .capacity = sizeof(session->scratch.bytes)};

	if (session->driver_version)
		gt_meta_add_number(&meta, GT_META_DRIVER, (unsigned)session->driver_version);
	if (session->cupti.path[0])
		gt_meta_add(&meta, GT_META_CUPTI_PATH, session->cupti.path);
	if (session->cupti.version)
		gt_meta_add_number(&meta, GT_META_CUPTI_VERSION, session->cupti.version);
	if (meta.count > 0)
		(void)gt_meta_write(&session->writer, &meta);
}

static void say(const struct gt_session *session, const char *what, const char *detail)
{
	const char *const parts[] = {"gputrace: ", what, detail, "\n"};
	struct iovec line[sizeof(parts) / sizeof(parts[0])];

	/* writev only reads the parts. */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		// NOLINTNEXTLINE(performance-no-int-to-ptr)
		line[i] = (struct iovec){(void *)(uintptr_t)parts[i], strlen(parts[i])};
	if (session->settings.verbose)
		(void)!writev(STDERR_FILENO, line, sizeof(parts) / sizeof(parts[0]));
}

static void complain(void *context, const char *sentence)
{
	gt_note(context, "settings", sentence);
	say(context, sentence, "");
}

/* Nothing will be recorded: the capture says why and is complete. */
static void close_empty(struct gt_session *session, const char *why)
{
	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "threads", why);
	gt_drain_header(session->drain);
	(void)gt_meta_write_one(&session->writer, GT_META_END, GT_META_END_CLEAN);
	gt_capture_file_close(&session->output, 1);
	say(session, "not recording: ", why);
}

static int open_cupti(struct gt_session *session, struct gt_error *err)
{
	const int result = gt_cupti_open(&session->cupti, session->driver_version,
	                                 session->settings.cupti, err);

	return result < 0 ? result : gt_router_subscribe(&session->router, &session->cupti, err);
}

static void set_phase(struct gt_session *session, enum gt_session_phase phase)
{
	/* Pairs with the acquire in gt_session_is and its like. */
	atomic_store_explicit(&session->phase, phase, memory_order_release);
}

/* False when the phase is another by now: the program has ended meanwhile. */
static bool change_phase(struct gt_session *session, uint32_t from, enum gt_session_phase to)
{
	return atomic_compare_exchange_strong_explicit(&session->phase, &from, to,
	                                               memory_order_acq_rel, memory_order_relaxed);
}

/* Whether the calling thread has the writer, and may write notes itself. */
static void set_starter(struct gt_session *session, bool has_writer)
{
	atomic_store_explicit(&session->starter, has_writer ? (uint32_t)syscall(SYS_gettid) : 0,
	                      memory_order_relaxed);
}

static void prepare(struct gt_session *session)
{
	gt_layout_fill(&session->arena.header->layout, 0);
	session->arena.header->counter = gt_ticks;
	if (session->settings.graphs == GT_GRAPHS_SETTING_SAMPLED)
		session->arena.header->graph_samples.wanted =
			(uint32_t)session->settings.graph_sample;
	gt_arena_publish(&session->arena);
	sem_init(&session->followed, 0, 0);
	pthread_mutex_init(&session->turn, NULL);
	gt_flusher_init(&session->flusher);
	gt_writer_thread_init(&session->writer_thread);
	if (!gt_emit_init(session))
		gt_note(session, "threads",
		        "no API call is recorded: the program uses up all thread keys");
}

static void begin_pause(struct gt_session *session, uint32_t cause)
{
	session->pause.began = gt_stamp();
	session->pause.cause = cause;
	session->pause.is_told = false;
}

/* The phase to begin with: all is recorded, or what goes on in a pause. */
static enum gt_session_phase first_phase(struct gt_session *session)
{
	const struct gt_order order =
		gt_control_begin(&session->control, session->output.roll.roll, &session->settings);
	const enum gt_session_phase phase = order.records ? GT_SESSION_RECORDING : GT_SESSION_READY;

	atomic_store_explicit(&session->wanted, phase, memory_order_relaxed);
	session->pauses = !order.records;
	atomic_store_explicit(&session->arena.header->paused, !order.records, memory_order_relaxed);
	if (!order.records)
		begin_pause(session, order.cause);
	return phase;
}

static bool start_recording(struct gt_session *session, uint64_t began_ns)
{
	const enum gt_session_phase phase = first_phase(session);

	prepare(session);
	set_phase(session, GT_SESSION_STARTING);
	gt_sources_start_alone(session);
	(void)gt_sources_arm(session, phase == GT_SESSION_READY);
	gt_count(session, GT_LEDGER_arming_ns, gt_now() - began_ns);
	gt_arena_keep_strings(&session->arena);
	gt_drain_header(session->drain);
	/* From here on the writer, the drain, the interner and the sources are the writer thread's.
	 */
	set_starter(session, false);
	if (gt_writer_thread_start(session) != 0) {
		set_starter(session, true);
		set_phase(session, GT_SESSION_OFF);
		gt_sources_disarm(session, true);
		return false;
	}
	(void)change_phase(session, GT_SESSION_STARTING, phase);
	return true;
}

static void ignore_complaint(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

static void begin_session(struct gt_session *session, char *const *environment)
{
	struct gt_error err = {0};
	uint64_t began_ns;

	gt_now_init();
	began_ns = gt_now();
	gt_settings_read(&session->settings, environment, ignore_complaint, NULL);
	if (session->settings.disable) {
		say(session, "not recording: ", "GPUTRACE_DISABLE is set");
		return;
	}
	/* No file is made, and no library loaded, that a variable names. */
	if (gt_process_is_privileged()) {
		session->settings.nvtx_next = "";
		return;
	}
	atomic_store_explicit(&session->is_waiting, false, memory_order_relaxed);
	session->output.settings = &session->settings;
	session->output.arena = &session->arena;
	session->output.filters =
		*session->settings.run ? session->settings.filters : gt_host_filters();
	if (session->output.filters == gt_host_filters())
		gt_files_start(&session->output.files);
	if (gt_capture_file_open(&session->output, &err) < 0) {
		gt_files_stop(&session->output.files);
		say(session, "not recording: ", err.text);
		return;
	}
	if (take_memory(session) < 0) {
		gt_capture_file_remove(&session->output);
		gt_roll_enter(&session->output, "there is no memory for it");
		say(session, "not recording: ", "no memory");
		return;
	}
	set_starter(session, true);
	(void)gt_writer_file_header(&session->writer);
	write_meta(session, environment);
	gt_settings_read(&session->settings, environment, complain, session);
	if (!start_recording(session, began_ns))
		close_empty(session, "the program's limits leave no room for a thread");
	set_starter(session, false);
}

/* Once in a process. */
static void say_where(struct gt_session *session)
{
	if (gt_session_is_running(session) && !session->said)
		say(session, "recording into ", session->output.folder);
	session->said = true;
}

static void leave_out_cuda(struct gt_session *session, const char *why)
{
	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "cupti", why);
	say(session, "not recording: ", why);
}

static void hear(struct gt_session *session, uint32_t routes)
{
	gt_router_activate(&session->router, routes);
	(void)gt_sources_pause(session, gt_router_times(&session->router));
}

/* The sources that need CUPTI, while the writer thread stands still. */
static void start_cuda(struct gt_session *session)
{
	const uint64_t began_ns = gt_now();
	struct gt_error err = {0};
	int result;

	find_driver(session);
	session->is_worker = gt_process_is_forked();
	result = open_cupti(session, &err);
	write_cuda_meta(session);
	if (result < 0) {
		leave_out_cuda(session, err.text);
		return;
	}
	gt_layout_fill(&session->arena.header->layout, session->cupti.version);
	session->flushes = gt_flusher_start(session) == 0;
	if (!session->flushes) {
		leave_out_cuda(session, "the program's limits leave no room for a thread");
		return;
	}
	gt_sources_start(session);
	gt_forks_keep_router(session);
	if (gt_session_is(session, GT_SESSION_RECORDING) ||
	    gt_session_is(session, GT_SESSION_READY))
		hear(session, gt_sources_arm(session, gt_session_is(session, GT_SESSION_READY)));
	say_where(session);
	gt_count(session, GT_LEDGER_arming_ns, gt_now() - began_ns);
	gt_arena_keep_strings(&session->arena);
	gt_drain_header(session->drain);
}

void gt_session_begin(struct gt_session *session, char *const *environment, bool with_cuda)
{
	struct gt_calm before;

	gt_calm_begin(&before);
	begin_session(session, environment);
	if (!with_cuda)
		say_where(session);
	gt_calm_end(&before);
}

void gt_session_start_cuda(struct gt_session *session)
{
	struct gt_calm before;

	if (!gt_session_is_running(session))
		return;
	atomic_store_explicit(&session->cuda_starts, true, memory_order_relaxed);
	gt_calm_begin(&before);
	pthread_mutex_lock(&session->turn);
	set_starter(session, true);
	if (gt_session_is_running(session))
		start_cuda(session);
	set_starter(session, false);
	pthread_mutex_unlock(&session->turn);
	sem_post(&session->writer_thread.work);
	gt_calm_end(&before);
}

void gt_session_start(struct gt_session *session, char *const *environment)
{
	gt_session_begin(session, environment, true);
	gt_session_start_cuda(session);
}

static void follow_to_ready(struct gt_session *session)
{
	if (!change_phase(session, GT_SESSION_RECORDING, GT_SESSION_READY))
		return;
	begin_pause(session, atomic_load_explicit(&session->cause, memory_order_relaxed));
	gt_router_keep(&session->router, gt_sources_that_go_on(session));
	gt_sources_disarm(session, false);
}

/* Twice of each pause: when it has begun, with an end of 0, and when it ends. */
static void write_pause(struct gt_session *session, uint64_t end, uint32_t resumed_by)
{
	struct gt_record_pause *record = gt_emit_begin(session, GT_RECORD_pause, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_pause){
		.start_ns = session->pause.began,
		.end_ns = end,
		.paused_by = session->pause.cause,
		.resumed_by = resumed_by,
	};
	gt_emit_commit();
}

static void end_pause(struct gt_session *session, uint32_t cause)
{
	if (session->pause.began)
		write_pause(session, gt_stamp(), cause);
	session->pause.began = 0;
}

void gt_session_end_pause(struct gt_session *session)
{
	end_pause(session, GT_CAUSE_END);
}

static void follow_to_recording(struct gt_session *session)
{
	uint32_t routes;

	if (gt_session_is(session, GT_SESSION_RECORDING)) { /* it had not come to be READY */
		(void)gt_sources_pause(session, gt_router_times(&session->router));
		return;
	}
	routes = gt_sources_arm(session, false);
	if (!change_phase(session, GT_SESSION_READY, GT_SESSION_RECORDING))
		return;
	hear(session, routes);
	end_pause(session, atomic_load_explicit(&session->cause, memory_order_relaxed));
}

static void follow(struct gt_session *session)
{
	const uint32_t wanted = atomic_load_explicit(&session->wanted, memory_order_relaxed);

	if (wanted == GT_SESSION_READY && gt_session_is(session, GT_SESSION_RECORDING)) {
		session->pauses = true;
		if (!gt_sources_pause(session, GT_PAUSED))
			return; /* not yet: in the next turn */
		follow_to_ready(session);
	} else if (wanted == GT_SESSION_RECORDING && session->pauses) {
		session->pauses = false;
		follow_to_recording(session);
	} else {
		return;
	}
	gt_sources_wake(session);
	sem_post(&session->followed);
}

static void want(struct gt_session *session, enum gt_session_phase wanted,
                 enum gt_control_cause cause)
{
	atomic_store_explicit(&session->cause, cause, memory_order_relaxed);
	atomic_store_explicit(&session->wanted, wanted, memory_order_relaxed);
}

static void take_orders(struct gt_session *session)
{
	struct gt_order order;

	while ((order = gt_control_next(&session->control)).is_one)
		want(session, order.records ? GT_SESSION_RECORDING : GT_SESSION_READY, order.cause);
}

/* For who gave an order: gt_control_each. */
static void tell_followed(struct gt_session *session)
{
	const bool is_paused = gt_session_is(session, GT_SESSION_READY);
	struct gt_arena_header *header = session->arena.header;

	if (is_paused !=
	    (atomic_load_explicit(&session->wanted, memory_order_relaxed) == GT_SESSION_READY))
		return;
	atomic_store_explicit(&header->paused, is_paused, memory_order_relaxed);
	/* Pairs with the acquire in read_arena of format/control/control.c. */
	atomic_store_explicit(&header->followed, session->control.followed, memory_order_release);
}

void gt_session_follow(struct gt_session *session)
{
	take_orders(session);
	follow(session);
	if (session->pause.began && !session->pause.is_told) {
		session->pause.is_told = true;
		write_pause(session, 0, GT_CAUSE_UNKNOWN);
	}
	tell_followed(session);
}

/* Asks the writer thread for a phase. */
static bool ask_for(struct gt_session *session, enum gt_session_phase wanted,
                    enum gt_control_cause cause, uint64_t limit_ns)
{
	if (!gt_session_is_running(session))
		return false;
	while (sem_trywait(&session->followed) == 0)
		; /* of an earlier call that did not wait long enough */
	want(session, wanted, cause);
	if (gt_session_is(session, wanted))
		return true;
	sem_post(&session->writer_thread.work);
	(void)gt_wait(&session->followed, limit_ns);
	return gt_session_is(session, wanted);
}

bool gt_session_arm(struct gt_session *session, enum gt_control_cause cause, uint64_t limit_ns)
{
	return ask_for(session, GT_SESSION_RECORDING, cause, limit_ns);
}

bool gt_session_disarm(struct gt_session *session, enum gt_control_cause cause, uint64_t limit_ns)
{
	return ask_for(session, GT_SESSION_READY, cause, limit_ns);
}

/* True when CUPTI still has buffers of ours: what is in them can only be salvaged. */
static bool is_anything_lent(const struct gt_session *session)
{
	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		const struct gt_slot *slot = &session->arena.slots[i];

		if (slot->kind == GT_SLOT_ACTIVITY &&
		    atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_LENT &&
		    gt_raw_size(&session->arena, gt_slot_memory(&session->arena, slot), slot->size))
			return true;
	}
	return false;
}

void gt_session_close(struct gt_session *session)
{
	if (is_anything_lent(session)) {
		gt_capture_file_close(&session->output, 0);
		return;
	}
	(void)gt_meta_write_one(&session->writer, GT_META_END, GT_META_END_CLEAN);
	gt_capture_file_close(&session->output, session->writer.failed == 0);
}

void gt_session_stop(struct gt_session *session)
{
	uint32_t phase = atomic_load_explicit(&session->phase, memory_order_acquire);
	struct gt_calm before;

	/* The writer thread may be changing between the two. */
	do {
		if (phase != GT_SESSION_READY && phase != GT_SESSION_RECORDING)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&session->phase, &phase,
	                                                GT_SESSION_STOPPING, memory_order_acq_rel,
	                                                memory_order_acquire));
	gt_calm_begin(&before);
	gt_router_activate(&session->router, 0);
	sem_post(&session->flusher.work);
	sem_post(&session->writer_thread.work);
	/* Later it may still be writing: the arena stays for whoever salvages it. */
	(void)gt_wait(&session->writer_thread.done, STOP_LIMIT_NS);
	gt_calm_end(&before);
}
