/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/sources/api.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/session.h"
#include "injection/source.h"
#include "injection/threads.h"

/*
 * The API calls of the program, from callbacks on the calls that format/api_calls.def allows.
 * A call is written where the kernel keeps it: its beginning when it is entered, its end and
 * result when it returns, so that a process that dies inside it leaves it behind unfinished.
 */

#define MAX_CALLS      4096 /* callback ids of one domain */
#define MAX_DEPTH      4    /* calls inside calls that are recorded with GPUTRACE_API=all */
#define MEASURE_EVERY  256
#define FLUSH_LIMIT_NS 500000000u
#define FUNCTION_MASK  0x7fffffffu
#define DESTROYS       0x80000000u /* with a function's string: a context ends in this call */

/* What a thread of the program is in the middle of. Lives in static TLS: keep it small. */
struct thread_state {
	struct gt_slot *slot;
	struct gt_record_api_call *open[MAX_DEPTH];
	uint32_t depth;
	uint32_t used; /* bytes of the slot */
	uint32_t count;
	bool measuring;
};

static __thread struct thread_state state __attribute__((tls_model("initial-exec")));

/* Per callback id: the string of its name, 0 for calls that are not recorded. */
static uint32_t runtime_functions[MAX_CALLS];
static uint32_t driver_functions[MAX_CALLS];
static pthread_key_t thread_end;

static void hand_over(struct gt_session *session)
{
	struct gt_slot *slot = state.slot;

	state.slot = NULL;
	gt_slot_hand_over(slot, state.used);
	sem_post(&session->writer_work);
}

/*
 * A thread that ends hands its slot over. The key only makes this be called: its value is the
 * slot that was taken last, which is another thread's by now if none was free after it.
 */
static void end_thread(void *taken)
{
	struct gt_session *session = gt_session_get();

	(void)taken;
	if (state.slot && atomic_load_explicit(&session->armed, memory_order_acquire))
		hand_over(session);
}

/* A new slot for the calling thread; NULL when there is none. */
static struct gt_slot *take_slot(struct gt_session *session)
{
	struct gt_slot *slot = gt_arena_take(&session->arena, GT_SLOT_RECORDS);

	if (slot) {
		slot->tid = (uint32_t)syscall(SYS_gettid);
		prctl(PR_GET_NAME, slot->thread_name);
		pthread_setspecific(thread_end, slot);
	}
	state.slot = slot;
	state.used = 0;
	return slot;
}

/* Room for one more record of the calling thread, or NULL. */
static struct gt_record_api_call *next_record(struct gt_session *session)
{
	const uint32_t size = sizeof(struct gt_entry) + sizeof(struct gt_record_api_call);
	struct gt_entry *entry;

	/* A slot is only left between calls, when no record in it is still open. */
	if (state.slot && state.depth == 0 && GT_RECORD_BYTES - state.used < MAX_DEPTH * size)
		hand_over(session);
	if (!state.slot && !take_slot(session))
		return NULL;
	if (GT_RECORD_BYTES - state.used < size)
		return NULL;
	entry = (struct gt_entry *)(gt_slot_memory(&session->arena, state.slot) + state.used);
	*entry = (struct gt_entry){.kind = GT_RECORD_api_call,
	                           .bytes = sizeof(struct gt_record_api_call)};
	state.used += size;
	return (struct gt_record_api_call *)(entry + 1);
}

static void enter(struct gt_session *session, const CUpti_CallbackData *data, uint32_t function,
                  uint32_t flags)
{
	struct gt_record_api_call *record;

	if (state.depth >= MAX_DEPTH ||
	    (state.depth > 0 && session->settings.api != GT_API_SETTING_ALL)) {
		state.depth++;
		return;
	}
	record = next_record(session);
	state.open[state.depth] = record;
	if (!record) {
		gt_ledger_add(&session->arena, GT_LEDGER_api_lost, 1);
		state.depth++;
		return;
	}
	record->end_ns = 0;
	record->correlation = data->correlationId;
	record->function = function;
	record->result = 0;
	record->flags = flags | (state.depth ? GT_RECORD_NESTED : 0);
	record->start_ns = gt_now();
	/* From here on a salvager sees it; pairs with the acquire of whoever drains the slot. */
	atomic_store_explicit(&state.slot->used, state.used, memory_order_release);
	state.depth++;
}

static void leave(struct gt_session *session, const CUpti_CallbackData *data)
{
	struct gt_record_api_call *record;

	if (state.depth == 0)
		return; /* the call began before recording did */
	if (--state.depth >= MAX_DEPTH ||
	    (state.depth > 0 && session->settings.api != GT_API_SETTING_ALL))
		return;
	record = state.open[state.depth];
	if (!record)
		return;
	if (data->functionReturnValue)
		memcpy(&record->result, data->functionReturnValue, sizeof(record->result));
	record->end_ns = gt_now();
	if (state.depth == 0 && ++state.count % MEASURE_EVERY == 0)
		state.measuring = true;
}

/* One call in MEASURE_EVERY is timed from outside: what a callback itself costs. */
static void measure(struct gt_session *session, uint64_t began_ns)
{
	gt_ledger_add(&session->arena, GT_LEDGER_callback_samples, 1);
	gt_ledger_add(&session->arena, GT_LEDGER_callback_ns, gt_now() - began_ns);
	state.measuring = false;
}

void CUPTIAPI gt_api_callback(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *callback_data)
{
	struct gt_session *session = context;
	const CUpti_CallbackData *data = callback_data;
	const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
	const uint32_t *functions = driver ? driver_functions : runtime_functions;
	const int saved = errno;

	if ((!driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API) || id >= MAX_CALLS ||
	    gt_thread_is_ours() || !atomic_load_explicit(&session->armed, memory_order_acquire))
		return;
	if (data->callbackSite == CUPTI_API_ENTER) {
		const uint64_t began_ns = state.measuring ? gt_now() : 0;

		/* Records of a context that ends are lost unless they are fetched before. */
		if (functions[id] & DESTROYS && state.depth == 0)
			gt_session_flush(session, FLUSH_LIMIT_NS);
		if (session->settings.api != GT_API_SETTING_NONE)
			enter(session, data, functions[id] & FUNCTION_MASK,
			      driver ? GT_RECORD_DRIVER_API : 0);
		if (began_ns)
			measure(session, began_ns);
	} else {
		leave(session, data);
	}
	errno = saved;
}

/* What a call is for decides whether it is recorded: the first prefix that fits, as the .def says. */
static bool is_wanted(const char *name)
{
	static const struct {
		const char *prefix;
		const char *kind;
	} calls[] = {
#define CALL(prefix, kind) {prefix, #kind},
#include "format/api_calls.def"
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)) == 0)
			return strcmp(calls[i].kind, "NONE") != 0;
	return false;
}

static bool ends_context(const char *name)
{
	static const char *const prefixes[] = {"cudaDeviceReset", "cuCtxDestroy",
	                                       "cuDevicePrimaryCtxRe"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return strcmp(name, "cuDevicePrimaryCtxRetain") != 0;
	return false;
}

/* Enables the callbacks of one domain; returns how many. */
static int enable_domain(struct gt_session *session, CUpti_CallbackDomain domain,
                         uint32_t *functions)
{
	const bool all = session->settings.api != GT_API_SETTING_NONE;
	int enabled = 0;

	for (uint32_t id = 1; id < MAX_CALLS; id++) {
		const char *name = NULL;

		if (session->cupti.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS ||
		    !name)
			continue;
		if (!is_wanted(name) || (!all && !ends_context(name)))
			continue;
		functions[id] =
			gt_session_intern(session, name) | (ends_context(name) ? DESTROYS : 0);
		if (session->cupti.cuptiEnableCallback(1, session->subscriber, domain, id) ==
		    CUPTI_SUCCESS)
			enabled++;
	}
	return enabled;
}

static int start(struct gt_session *session, char *why, size_t why_size)
{
	int enabled;

	if (pthread_key_create(&thread_end, end_thread) != 0) {
		snprintf(why, why_size,
		         "API calls are not recorded: the program uses up all thread keys");
		return -1;
	}
	enabled = enable_domain(session, CUPTI_CB_DOMAIN_RUNTIME_API, runtime_functions) +
	          enable_domain(session, CUPTI_CB_DOMAIN_DRIVER_API, driver_functions);
	if (enabled)
		return 0;
	snprintf(why, why_size, "API calls are not recorded: CUPTI enabled no callback");
	return -1;
}

const struct gt_source gt_source_api = {.name = "api", .start = start};
