/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: the least CUPTI takes for kernels, copies and fills. A library for
 * CUDA_INJECTION64_PATH that subscribes, enables those kinds of activity and no callback, and
 * does nothing with what comes: buffers come from a ring and go back to it unread. A tool's
 * costs above this are what else it asks CUPTI for, and its own work.
 *
 * To price one thing more by itself, the environment says what else is on; lists are separated by
 * commas:
 *   GPUTRACE_FLOOR_KINDS       kinds of activity, by name or number, instead of the floor's; none
 *   GPUTRACE_FLOOR_CALLS       callbacks with an empty handler on API calls: all, those that
 *                              gputrace has callbacks for by default; outer, those of --api outer;
 *                              queries; kinds of format/kinds/api_calls.def; every, all that CUPTI
 * knows GPUTRACE_FLOOR_DOMAINS     whole domains of callbacks: RESOURCE, SYNCHRONIZE, STATE
 *   GPUTRACE_FLOOR_ATTRIBUTES  NAME=VALUE or NUMBER=VALUE, set before the buffers are registered
 *
 * bench/toggle switches callbacks on and off while the program runs, with floor_toggle.
 *
 * When the program ends, it writes what passed through it and what was refused to
 * GPUTRACE_FLOOR_REPORT, so that a floor which recorded nothing cannot pass for one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <cupti.h>

#define BUFFER_SIZE   ((size_t)1 << 20) /* gputrace's default */
#define FIRST_BUFFERS 48

/* Without these there is no timeline; MEMCPY2 is a copy between two GPUs. */
#define FLOOR_KINDS "CONCURRENT_KERNEL,MEMCPY,MEMCPY2,MEMSET"

/* Functions of CUPTI that are called, by name: SYMBOL(field, function). */
#define SYMBOLS                                                                                    \
	SYMBOL(subscribe, cuptiSubscribe)                                                          \
	SYMBOL(get_callback_name, cuptiGetCallbackName)                                            \
	SYMBOL(enable_callback, cuptiEnableCallback)                                               \
	SYMBOL(enable_domain, cuptiEnableDomain)                                                   \
	SYMBOL(set_attribute, cuptiActivitySetAttribute)                                           \
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

enum reads { READS_NOTHING, READS_CLOCK, READS_COUNTER };

/* CUPTI hands its callbacks no pointer of ours, hence the one object at file scope. */
static struct floor {
	struct cupti cupti;
	CUpti_SubscriberHandle subscriber;
	const char *report;   /* file name, "": none is wanted */
	_Atomic int reads;    /* enum reads: what the handler of calls does */
	uint64_t unread;      /* where it puts what it has read */
	bool zeroed;          /* CUPTI was told that buffers are zero when it gets them */
	char refused[512];    /* what CUPTI did not take, or nobody knows; "": nothing */
	pthread_mutex_t lock; /* guards all below */
	struct buffer *free;
	uint64_t buffers_made;
	uint64_t buffers_completed;
	uint64_t bytes;
	uint64_t callbacks_enabled;
	uint64_t kinds_enabled;
} state = {.report = "", .lock = PTHREAD_MUTEX_INITIALIZER};

/* A word of a setting and CUPTI's number for it. */
struct word {
	const char *name;
	long number;
};

#define KIND(name)                                                                                 \
	{                                                                                          \
#name, CUPTI_ACTIVITY_KIND_##name                                                  \
	}
static const struct word kinds[] = {
	KIND(CONCURRENT_KERNEL),
	KIND(KERNEL),
	KIND(MEMCPY),
	KIND(MEMCPY2),
	KIND(MEMSET),
	KIND(SYNCHRONIZATION),
	KIND(OVERHEAD),
	KIND(DEVICE),
	KIND(CONTEXT),
	KIND(STREAM),
	KIND(RUNTIME),
	KIND(DRIVER),
	KIND(CUDA_EVENT),
	KIND(MEMORY2),
	KIND(MEMORY_POOL),
	KIND(NAME),
	KIND(MARKER),
	KIND(EXTERNAL_CORRELATION),
	KIND(GRAPH_TRACE),
	KIND(UNIFIED_MEMORY_COUNTER),
	KIND(JIT),
	KIND(MEM_DECOMPRESS),
	{NULL, 0},
};
#undef KIND

#define DOMAIN(name)                                                                               \
	{                                                                                          \
#name, CUPTI_CB_DOMAIN_##name                                                      \
	}
static const struct word domains[] = {
	DOMAIN(RESOURCE),
	DOMAIN(SYNCHRONIZE),
	DOMAIN(STATE),
	{NULL, 0},
};
#undef DOMAIN

#define ATTRIBUTE(name)                                                                            \
	{                                                                                          \
#name, CUPTI_ACTIVITY_ATTR_##name                                                  \
	}
static const struct word attributes[] = {
	ATTRIBUTE(DEVICE_BUFFER_SIZE),
	ATTRIBUTE(DEVICE_BUFFER_POOL_LIMIT),
	ATTRIBUTE(PROFILING_SEMAPHORE_POOL_SIZE),
	ATTRIBUTE(PROFILING_SEMAPHORE_POOL_LIMIT),
	ATTRIBUTE(ZEROED_OUT_ACTIVITY_BUFFER),
	ATTRIBUTE(DEVICE_BUFFER_PRE_ALLOCATE_VALUE),
	ATTRIBUTE(PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE),
	ATTRIBUTE(MEM_ALLOCATION_TYPE_HOST_PINNED),
	ATTRIBUTE(PER_THREAD_ACTIVITY_BUFFER),
	{NULL, 0},
};
#undef ATTRIBUTE

/* The same calls as the product records: a call belongs to the first prefix its name begins with. */
static const struct call {
	const char *prefix;
	const char *kind;
	bool in_driver;
} calls[] = {
#define CALL(prefix, kind)           {prefix, #kind, false},
#define CALL_IN_DRIVER(prefix, kind) {prefix, #kind, true},
#include "format/kinds/api_calls.def"
};

/* NULL: the product does not record that call. */
static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)) == 0)
			return strcmp(calls[i].kind, "NONE") ? &calls[i] : NULL;
	return NULL;
}

/* The product counts them; they are no calls that it records. */
static bool is_query(const char *name)
{
	return strstr(name, "EventQuery") || strstr(name, "StreamQuery");
}

/* The number of a word, or the number it is itself; -1: neither. */
static long number_of(const struct word *words, const char *text)
{
	char *end;
	const long number = strtol(text, &end, 10);

	for (; words->name; words++)
		if (strcasecmp(words->name, text) == 0)
			return words->number;
	return end != text && !*end ? number : -1;
}

static void refuse(const char *what)
{
	const size_t used = strlen(state.refused);

	snprintf(state.refused + used, sizeof(state.refused) - used, "%s%s", used ? ", " : "",
	         what);
}

/* NOLINTBEGIN(concurrency-mt-unsafe): the driver holds the program in cuInit. */
static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}
/* NOLINTEND(concurrency-mt-unsafe) */

/* Calls use() with each word of a list, and notes the words it does not take. */
static void for_each_word(const char *list, bool (*use)(const char *word))
{
	char text[1024];
	char *rest;

	snprintf(text, sizeof(text), "%s", list);
	for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (strcmp(word, "none") != 0 && !use(word))
			refuse(word);
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

/* used: how much of it CUPTI has written to. */
static void give_back(void *bytes, size_t used)
{
	struct buffer *buffer = bytes;

	if (state.zeroed)
		memset(bytes, 0, used);
	buffer->next = state.free;
	state.free = buffer;
}

/* NULL when there is no memory left: CUPTI then drops records, and the report shows too few. */
static void *make_buffer(void)
{
	void *bytes = aligned_alloc(4096, BUFFER_SIZE);

	state.buffers_made++;
	if (bytes && state.zeroed)
		memset(bytes, 0, BUFFER_SIZE);
	return bytes;
}

static void CUPTIAPI on_buffer_requested(uint8_t **bytes, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&state.lock);
	*bytes = (uint8_t *)state.free;
	if (state.free) {
		state.free = state.free->next;
		memset(*bytes, 0, sizeof(struct buffer));
	} else {
		*bytes = make_buffer();
	}
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
	give_back(bytes, valid_size);
	pthread_mutex_unlock(&state.lock);
}

static uint64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec;
}

static uint64_t read_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return read_clock();
#endif
}

/* Called at entry and exit of every subscribed call; doing nothing is the point. */
static void CUPTIAPI on_call(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *data)
{
	const int reads = atomic_load_explicit(&state.reads, memory_order_relaxed);

	(void)context;
	(void)domain;
	(void)id;
	(void)data;
	if (reads == READS_CLOCK)
		state.unread = read_clock();
	else if (reads == READS_COUNTER)
		state.unread = read_counter();
}

/* Whether a call is among those that a word of GPUTRACE_FLOOR_CALLS names. */
static bool is_wanted(const char *wanted, const char *name)
{
	const struct call *call = find_call(name);

	if (strcasecmp(wanted, "every") == 0)
		return true;
	if (strcasecmp(wanted, "queries") == 0)
		return is_query(name);
	if (strcasecmp(wanted, "all") == 0)
		return is_query(name) || (call && !call->in_driver);
	if (strcasecmp(wanted, "outer") == 0)
		return is_query(name) || call;
	return call && strcasecmp(wanted, call->kind) == 0;
}

/* An older library knows fewer calls than the headers: it has no name for the others. */
static uint64_t enable_domain_calls(const char *wanted, CUpti_CallbackDomain domain, uint32_t yes)
{
	const CUpti_CallbackId count = domain == CUPTI_CB_DOMAIN_RUNTIME_API
	                                       ? (CUpti_CallbackId)CUPTI_RUNTIME_TRACE_CBID_SIZE
	                                       : (CUpti_CallbackId)CUPTI_DRIVER_TRACE_CBID_SIZE;
	uint64_t enabled = 0;

	for (CUpti_CallbackId id = 1; id < count; id++) {
		const char *name = NULL;

		if (state.cupti.get_callback_name(domain, id, &name) != CUPTI_SUCCESS || !name)
			continue;
		if (is_wanted(wanted, name))
			enabled += state.cupti.enable_callback(yes, state.subscriber, domain, id) ==
			           CUPTI_SUCCESS;
	}
	return enabled;
}

/* runtime:WORD and driver:WORD are of one interface alone. */
static uint64_t switch_calls(const char *word, uint32_t yes)
{
	const char *colon = strchr(word, ':');
	const char *wanted = colon ? colon + 1 : word;
	uint64_t switched = 0;

	if (strncmp(word, "driver:", 7) != 0)
		switched += enable_domain_calls(wanted, CUPTI_CB_DOMAIN_RUNTIME_API, yes);
	if (strncmp(word, "runtime:", 8) != 0)
		switched += enable_domain_calls(wanted, CUPTI_CB_DOMAIN_DRIVER_API, yes);
	return switched;
}

static bool enable_calls(const char *word)
{
	const uint64_t enabled = switch_calls(word, 1);

	state.callbacks_enabled += enabled;
	return enabled > 0;
}

static bool enable_domain(const char *word)
{
	const long domain = number_of(domains, word);

	if (domain < 0 || state.cupti.enable_domain(1, state.subscriber,
	                                            (CUpti_CallbackDomain)domain) != CUPTI_SUCCESS)
		return false;
	state.callbacks_enabled++;
	return true;
}

static bool enable_kind(const char *word)
{
	const long kind = number_of(kinds, word);

	if (kind < 0 || state.cupti.enable_activity((CUpti_ActivityKind)kind) != CUPTI_SUCCESS)
		return false;
	state.kinds_enabled++;
	return true;
}

/* Whether the value of an attribute is one byte; the others are a size_t. */
static bool is_switch(long attribute)
{
	return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
	       attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
	       attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER;
}

static bool set_attribute(const char *word)
{
	const char *equals = strchr(word, '=');
	char name[64];
	long attribute;
	size_t value;
	uint8_t byte;
	size_t size;

	if (!equals)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
	attribute = number_of(attributes, name);
	value = strtoull(equals + 1, NULL, 10);
	byte = (uint8_t)value;
	size = is_switch(attribute) ? sizeof(byte) : sizeof(value);
	if (attribute < 0 ||
	    state.cupti.set_attribute((CUpti_ActivityAttribute)attribute, &size,
	                              is_switch(attribute) ? (void *)&byte : (void *)&value) !=
	            CUPTI_SUCCESS)
		return false;
	if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)
		state.zeroed = byte;
	return true;
}

static void make_buffers(void)
{
	for (size_t i = 0; i < FIRST_BUFFERS; i++) {
		void *buffer = make_buffer();

		if (buffer)
			give_back(buffer, sizeof(struct buffer));
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
	        "\"buffers_completed\": %llu, \"bytes\": %llu, \"refused\": \"%s\"}\n",
	        state.cupti.path, version, (unsigned long long)state.kinds_enabled,
	        (unsigned long long)state.callbacks_enabled, (unsigned long long)state.buffers_made,
	        (unsigned long long)state.buffers_completed, (unsigned long long)state.bytes,
	        state.refused);
	pthread_mutex_unlock(&state.lock);
	fclose(out);
}

__attribute__((visibility("default"))) int floor_toggle(const char *word, int yes, int reads);

/*
 * For bench/toggle, on one thread of the program that runs: callbacks of a word of
 * GPUTRACE_FLOOR_CALLS on or off, and what is read in them. How many there are, -1: none.
 */
int floor_toggle(const char *word, int yes, int reads)
{
	const uint64_t switched = switch_calls(word, yes != 0);

	atomic_store_explicit(&state.reads, reads, memory_order_relaxed);
	return switched ? (int)switched : -1;
}

/* NOLINTBEGIN(readability-identifier-naming): the driver looks for this very name. */
__attribute__((visibility("default"))) int InitializeInjection(void);

/* The driver calls it once, inside cuInit. 1 says that it worked, as CUPTI's samples do. */
int InitializeInjection(void)
{
	state.report = setting("GPUTRACE_FLOOR_REPORT", "");
	if (load_cupti(&state.cupti) < 0)
		return 0;
	if (state.cupti.subscribe(&state.subscriber, on_call, NULL) != CUPTI_SUCCESS)
		return 0;
	for_each_word(setting("GPUTRACE_FLOOR_ATTRIBUTES", "none"), set_attribute);
	make_buffers();
	state.cupti.register_buffers(on_buffer_requested, on_buffer_completed);
	for_each_word(setting("GPUTRACE_FLOOR_KINDS", FLOOR_KINDS), enable_kind);
	for_each_word(setting("GPUTRACE_FLOOR_CALLS", "none"), enable_calls);
	for_each_word(setting("GPUTRACE_FLOOR_DOMAINS", "none"), enable_domain);
	atexit(write_report);
	return 1;
}
/* NOLINTEND(readability-identifier-naming) */
