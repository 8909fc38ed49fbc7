/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: the least that a tool with gputrace's data can cost. A library for
 * CUDA_INJECTION64_PATH that subscribes to the same callbacks and enables the same activity
 * kinds as gputrace, and does nothing with either: the handler is empty, buffers come from a
 * ring and go back to it unread. What gputrace costs above this is gputrace's own doing.
 *
 * After the measured loop, when the program ends, it writes what passed through it to
 * GPUTRACE_FLOOR_REPORT, so that a floor which recorded nothing cannot pass for one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti.h>

#define BUFFER_SIZE   ((size_t)1 << 20) /* gputrace's default */
#define FIRST_BUFFERS 48                /* also its default */

/* What is called of CUPTI, by name: SYMBOL(field, function). */
#define SYMBOLS                                                                                    \
	SYMBOL(subscribe, cuptiSubscribe)                                                          \
	SYMBOL(get_callback_name, cuptiGetCallbackName)                                            \
	SYMBOL(enable_callback, cuptiEnableCallback)                                               \
	SYMBOL(register_buffers, cuptiActivityRegisterCallbacks)                                   \
	SYMBOL(enable_activity, cuptiActivityEnable)                                               \
	SYMBOL(flush_all, cuptiActivityFlushAll)                                                   \
	SYMBOL(get_version, cuptiGetVersion)

struct cupti {
#define SYMBOL(field, function) __typeof__(function) *field;
	SYMBOLS
#undef SYMBOL
	char path[512];
};

/* A free buffer's first bytes: nobody reads what CUPTI wrote there. */
struct buffer {
	struct buffer *next;
};

/* CUPTI hands its callbacks no pointer of ours, hence the one object at file scope. */
static struct floor {
	struct cupti cupti;
	const char *report;   /* file name, "": none is wanted */
	pthread_mutex_t lock; /* guards all below */
	struct buffer *free;
	uint64_t buffers_made;
	uint64_t buffers_completed;
	uint64_t bytes;
	uint64_t callbacks_enabled;
	uint64_t kinds_enabled;
} state = {.report = "", .lock = PTHREAD_MUTEX_INITIALIZER};

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_DEVICE,
	CUPTI_ACTIVITY_KIND_CONTEXT,
	CUPTI_ACTIVITY_KIND_STREAM,
};

/* The same calls as the product records: a call belongs to the first prefix its name begins with. */
static const struct call {
	const char *prefix;
	const char *kind;
} calls[] = {
#define CALL(prefix, kind) {prefix, #kind},
#include "format/api_calls.def"
};

static int is_recorded(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)) == 0)
			return strcmp(calls[i].kind, "NONE") != 0;
	return 0;
}

static void *open_cupti(void)
{
	/* First the copy the program has mapped already, as PyTorch does. */
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	const char *const places[] = {
		"libcupti.so.13",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
		"/usr/local/cuda/lib64/libcupti.so.13",
		"/usr/local/cuda/lib/libcupti.so.13",
		"libcupti.so.12",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
		"/usr/local/cuda/lib64/libcupti.so.12",
	};

	if (!library)
		library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
	for (size_t i = 0; !library && i < sizeof(places) / sizeof(places[0]); i++)
		library = dlopen(places[i], RTLD_NOW);
	return library;
}

static int load_cupti(struct cupti *cupti)
{
	void *library = open_cupti();
	Dl_info where;

	if (!library)
		return -1;
#define SYMBOL(field, function)                                                                    \
	*(void **)&cupti->field = dlsym(library, #function);                                       \
	if (!cupti->field)                                                                         \
		return -1;
	SYMBOLS
#undef SYMBOL
	if (dladdr(*(void **)&cupti->subscribe, &where) && where.dli_fname)
		snprintf(cupti->path, sizeof(cupti->path), "%s", where.dli_fname);
	return 0;
}

static void give_back(void *bytes)
{
	struct buffer *buffer = bytes;

	buffer->next = state.free;
	state.free = buffer;
}

/* NULL when there is no memory left: CUPTI then drops records, and the report shows too few. */
static void *make_buffer(void)
{
	state.buffers_made++;
	return aligned_alloc(4096, BUFFER_SIZE);
}

static void CUPTIAPI on_buffer_requested(uint8_t **bytes, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&state.lock);
	*bytes = (uint8_t *)state.free;
	if (state.free)
		state.free = state.free->next;
	else
		*bytes = make_buffer();
	pthread_mutex_unlock(&state.lock);
	*size = *bytes ? BUFFER_SIZE : 0;
	*max_records = 0;
}

static void CUPTIAPI on_buffer_completed(CUcontext context, uint32_t stream, uint8_t *bytes,
                                         size_t size, size_t valid_size)
{
	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&state.lock);
	state.buffers_completed++;
	state.bytes += valid_size;
	give_back(bytes);
	pthread_mutex_unlock(&state.lock);
}

/* Called at entry and exit of every subscribed call; doing nothing is the point. */
static void CUPTIAPI on_call(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *data)
{
	(void)context;
	(void)domain;
	(void)id;
	(void)data;
}

/* An older library knows fewer calls than the headers: it has no name for the others. */
static void enable_calls(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                         CUpti_CallbackId count)
{
	for (CUpti_CallbackId id = 1; id < count; id++) {
		const char *name = NULL;

		if (state.cupti.get_callback_name(domain, id, &name) != CUPTI_SUCCESS || !name)
			continue;
		if (is_recorded(name) &&
		    state.cupti.enable_callback(1, subscriber, domain, id) == CUPTI_SUCCESS)
			state.callbacks_enabled++;
	}
}

static void write_report(void)
{
	FILE *out = fopen(state.report, "w");
	uint32_t version = 0;

	if (!out)
		return;
	state.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	state.cupti.get_version(&version);
	pthread_mutex_lock(&state.lock);
	fprintf(out,
	        "{\"cupti\": \"%s\", \"cupti_version\": %u, \"kinds_enabled\": %llu, "
	        "\"callbacks_enabled\": %llu, \"buffers_made\": %llu, "
	        "\"buffers_completed\": %llu, \"bytes\": %llu}\n",
	        state.cupti.path, version, (unsigned long long)state.kinds_enabled,
	        (unsigned long long)state.callbacks_enabled, (unsigned long long)state.buffers_made,
	        (unsigned long long)state.buffers_completed, (unsigned long long)state.bytes);
	pthread_mutex_unlock(&state.lock);
	fclose(out);
}

/* NOLINTBEGIN(readability-identifier-naming): the driver looks for this very name. */
__attribute__((visibility("default"))) int InitializeInjection(void);

/* The driver calls it once, inside cuInit. 1 says that it worked, as CUPTI's samples do. */
int InitializeInjection(void)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the driver holds the program in cuInit. */
	const char *report = getenv("GPUTRACE_FLOOR_REPORT");
	CUpti_SubscriberHandle subscriber;

	if (report)
		state.report = report;
	if (load_cupti(&state.cupti) < 0)
		return 0;
	for (size_t i = 0; i < FIRST_BUFFERS; i++) {
		void *buffer = make_buffer();

		if (buffer)
			give_back(buffer);
	}
	if (state.cupti.subscribe(&subscriber, on_call, NULL) != CUPTI_SUCCESS)
		return 0;
	state.cupti.register_buffers(on_buffer_requested, on_buffer_completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		state.kinds_enabled += state.cupti.enable_activity(kinds[i]) == CUPTI_SUCCESS;
	enable_calls(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE);
	enable_calls(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE);
	atexit(write_report);
	return 1;
}
/* NOLINTEND(readability-identifier-naming) */
