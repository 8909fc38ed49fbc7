/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/meta.h"
#include "format/recording.h"
#include "injection/layout.h"
#include "injection/output.h"
#include "injection/process.h"
#include "injection/sources.h"
#include "injection/sources/api.h"
#include "injection/threads.h"

#define META_BYTES    32768
#define GIVEN_UP_NS   1000000000u
#define STOP_LIMIT_NS 10000000000u /* at exit: for CUPTI's last flush, and for writing the rest */

static int append(void *context, const void *data, size_t size)
{
	return gt_output_write(context, data, size);
}

uint32_t gt_session_intern(struct gt_session *session, const char *text)
{
	return gt_intern(&session->interner, text, strlen(text));
}

static uint32_t string_of(void *context, const char *text, uint32_t size)
{
	return gt_intern(&((struct gt_session *)context)->interner, text, size);
}

/* CUPTI keeps names alive for the records it hands back. */
static uint32_t name_of(void *context, uint64_t pointer)
{
	struct gt_session *session = context;
	const char *text = (const char *)(uintptr_t)pointer; // NOLINT(performance-no-int-to-ptr)

	return gt_intern_name(&session->interner, pointer, text, strlen(text));
}

void gt_session_note(struct gt_session *session, const char *topic, const char *text)
{
	const struct gt_record_note note = {
		.topic = gt_session_intern(session, topic),
		.text = gt_session_intern(session, text),
	};
	const struct gt_origin none = {0};

	(void)gt_writer_records(&session->writer, GT_RECORD_note, &note, 1, none);
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
	const size_t interner = gt_align_64(gt_interner_memory());
	const size_t writer = gt_align_64(gt_writer_memory());
	const size_t drain = gt_align_64(gt_drain_memory());
	uint8_t *at = mmap(NULL, interner + writer + drain + GT_DISCARD_BYTES,
	                   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	gt_interner_init(&session->interner, &session->arena, at);
	if (gt_writer_init(&session->writer, sink, at + interner, writer) < 0)
		return -1;
	session->drain = gt_drain_init(&config, at + interner + writer, drain);
	session->last_resort = at + interner + writer + drain;
	return 0;
}

static void find_driver(struct gt_session *session)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	CUresult (*get_version)(int *) = NULL;

	if (driver)
		*(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
	if (get_version && get_version(&session->driver_version) != CUDA_SUCCESS)
		session->driver_version = 0;
}

static void write_meta(struct gt_session *session, char *const *environment)
{
	static const char *const api_words[] = {"none", "outer", "all"};
	unsigned char bytes[META_BYTES];
	char text[4096];
	struct gt_meta meta = {.bytes = bytes, .capacity = sizeof(bytes)};

	gt_meta_add(&meta, GT_META_TOOL, GPUTRACE_VERSION);
	gt_process_describe(&meta);
	gt_meta_add_bytes(&meta, GT_META_SETTINGS, text,
	                  gt_settings_text(environment, text, sizeof(text)));
	gt_meta_add(&meta, GT_META_API, api_words[session->settings.api]);
	if (session->driver_version)
		gt_meta_add_number(&meta, GT_META_DRIVER, (unsigned)session->driver_version);
	if (session->cupti.path[0])
		gt_meta_add(&meta, GT_META_CUPTI_PATH, session->cupti.path);
	if (session->cupti.version)
		gt_meta_add_number(&meta, GT_META_CUPTI_VERSION, session->cupti.version);
	(void)gt_meta_write(&session->writer, &meta);
}

/* The other subscriber's name, where this CUPTI tells it; "" otherwise. */
static void name_other(struct gt_session *session, char *name, size_t size)
{
	char other[128] = "";
	CUpti_SubscriberParams params = {
		.structSize = sizeof(params),
		.subscriberName = "gputrace",
		.oldSubscriberName = other,
		.oldSubscriberSize = sizeof(other),
	};
	CUpti_SubscriberHandle handle;

	*name = '\0';
	if (!session->cupti.cuptiSubscribe_v2)
		return;
	if (session->cupti.cuptiSubscribe_v2(&handle, gt_api_callback, session, &params) ==
	    CUPTI_SUCCESS)
		(void)session->cupti.cuptiUnsubscribe(handle); /* it has just left */
	else if (other[0])
		snprintf(name, size, " (%s)", other);
}

/* Subscribing first keeps other tools from taking CUPTI's buffer callbacks over. */
static int subscribe(struct gt_session *session, char *why, size_t why_size)
{
	const CUptiResult result =
		session->cupti.cuptiSubscribe(&session->subscriber, gt_api_callback, session);

	if (result == CUPTI_SUCCESS)
		return 0;
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
		char other[160];

		name_other(session, other, sizeof(other));
		snprintf(
			why, why_size,
			"another tool%s uses CUPTI in this process, and CUPTI serves one at a time: "
			"run without it to record GPU activity",
			other);
	} else {
		snprintf(why, why_size, "cuptiSubscribe failed: %s",
		         gt_cupti_text(&session->cupti, result));
	}
	return -1;
}

static void say(const struct gt_session *session, const char *what, const char *detail)
{
	char line[PATH_MAX + 256];
	const int length = snprintf(line, sizeof(line), "gputrace: %s%s\n", what, detail);

	if (session->settings.verbose && length > 0)
		(void)!write(STDERR_FILENO, line,
		             length < (int)sizeof(line) ? (size_t)length : sizeof(line) - 1);
}

static void complain(void *context, const char *sentence)
{
	gt_session_note(context, "settings", sentence);
	say(context, sentence, "");
}

/* Nothing will be recorded: the capture says why and is complete. */
static void close_empty(struct gt_session *session, const char *why)
{
	gt_ledger_add(&session->arena, GT_LEDGER_sources_failed, 1);
	gt_session_note(session, "cupti", why);
	gt_drain_header(session->drain);
	(void)gt_meta_write_one(&session->writer, GT_META_END, GT_META_END_CLEAN);
	gt_output_close(session, 1);
	say(session, "not recording: ", why);
}

static int open_cupti(struct gt_session *session, char *why, size_t why_size)
{
	const int result = gt_cupti_open(&session->cupti, session->driver_version,
	                                 session->settings.cupti, why, why_size);

	return result < 0 ? result : subscribe(session, why, why_size);
}

static bool start_recording(struct gt_session *session, uint64_t began_ns)
{
	gt_layout_fill(&session->arena.header->layout, session->cupti.version);
	gt_arena_publish(&session->arena);
	gt_threads_init(session);
	gt_sources_start(session);
	atomic_store_explicit(&session->arena.header->ledger[GT_LEDGER_arming_ns],
	                      gt_now() - began_ns, memory_order_relaxed);
	gt_drain_header(session->drain);
	/* From here on the writer, the drain and the interner are the writer thread's. */
	atomic_store_explicit(&session->armed, true, memory_order_release);
	if (gt_threads_start(session) == 0)
		return true;
	atomic_store_explicit(&session->armed, false, memory_order_release);
	return false;
}

static void ignore_complaint(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

static void start(struct gt_session *session, char *const *environment)
{
	const uint64_t began_ns = gt_now();
	char why[PATH_MAX + 256];

	gt_settings_read(&session->settings, environment, ignore_complaint, NULL);
	if (session->settings.disable) {
		say(session, "not recording: ", "GPUTRACE_DISABLE is set");
		return;
	}
	if (gt_output_open(session, why, sizeof(why)) < 0) {
		say(session, "not recording: ", why);
		return;
	}
	if (take_memory(session) < 0) {
		gt_output_close(session, 1);
		say(session, "not recording: ", "no memory");
		return;
	}
	(void)gt_writer_file_header(&session->writer);
	find_driver(session);

	const int result = open_cupti(session, why, sizeof(why));

	write_meta(session, environment);
	gt_settings_read(&session->settings, environment, complain, session);
	if (result < 0) {
		close_empty(session, why);
		return;
	}
	if (start_recording(session, began_ns))
		say(session, "recording into ", session->folder);
	else
		close_empty(session, "the program's limits leave no room for a thread");
}

/* What a thread of the program had allowed. */
struct calm {
	sigset_t signals;
	int cancel;
};

/*
 * No signal may reach the program from what we do on its thread: a file that grows past the
 * limit of its shell (SIGXFSZ) is our trouble, and a handler of its own must not run in here.
 * Nor may the thread be cancelled at our file calls, in the middle of a call of the driver.
 */
static void block_signals(struct calm *before)
{
	sigset_t all;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before->signals);
}

/* A SIGXFSZ that is pending is from our writing: taken away before signals are let through. */
static void unblock_signals(const struct calm *before)
{
	static const struct timespec now = {0};
	sigset_t size;

	sigemptyset(&size);
	sigaddset(&size, SIGXFSZ);
	if (!sigismember(&before->signals, SIGXFSZ))
		(void)sigtimedwait(&size, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
	pthread_setcancelstate(before->cancel, NULL);
}

void gt_session_start(struct gt_session *session, char *const *environment)
{
	struct calm before;

	block_signals(&before);
	start(session, environment);
	unblock_signals(&before);
}

void gt_session_flush(struct gt_session *session, uint64_t limit_ns)
{
	const uint64_t began_ns =
		atomic_load_explicit(&session->flush_began_ns, memory_order_relaxed);

	if (began_ns && gt_now() - began_ns > GIVEN_UP_NS)
		return; /* the flusher hangs: waiting for it again would only cost the program */
	if (!atomic_load_explicit(&session->activity_seen, memory_order_acquire))
		return;
	while (sem_trywait(&session->flushed) == 0)
		; /* of an earlier call that did not wait long enough */
	sem_post(&session->flusher_work);
	(void)gt_wait(&session->flushed, limit_ns);
}

/* Records of threads that still run, or never said goodbye. */
static void hand_over_records(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		struct gt_slot *slot = &session->arena.slots[i];
		uint32_t lent = GT_SLOT_LENT;

		if (slot->kind == GT_SLOT_RECORDS)
			(void)atomic_compare_exchange_strong_explicit(&slot->state, &lent,
			                                              GT_SLOT_FULL,
			                                              memory_order_acq_rel,
			                                              memory_order_relaxed);
	}
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

static void stop(struct gt_session *session)
{
	gt_sources_stop(session);
	hand_over_records(session);
	atomic_store_explicit(&session->stopping, true, memory_order_release);
	sem_post(&session->flusher_work);
	sem_post(&session->writer_work);
	if (!gt_wait(&session->writer_done, STOP_LIMIT_NS))
		return; /* it may still be writing: the arena stays for whoever salvages it */
	if (is_anything_lent(session)) {
		gt_output_close(session, 0);
		return;
	}
	(void)gt_meta_write_one(&session->writer, GT_META_END, GT_META_END_CLEAN);
	gt_output_close(session, session->writer.failed == 0);
}

void gt_session_stop(struct gt_session *session)
{
	struct calm before;

	if (!atomic_exchange_explicit(&session->armed, false, memory_order_acq_rel))
		return;
	block_signals(&before);
	stop(session);
	unblock_signals(&before);
}

void gt_session_forget(struct gt_session *session)
{
	const bool armed = atomic_exchange_explicit(&session->armed, false, memory_order_acq_rel);

	/* The arena is not mapped here: nothing may look at it any more. */
	atomic_store_explicit(&session->stopping, false, memory_order_release);
	if (!armed)
		return;
	gt_output_forget(session);
}
