/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest subscriber that can tell whether the fakes behave: it enables everything,
 * walks the buffers it gets back and writes one line of JSON to MINI_OUTPUT when the process
 * exits. MINI_FLUSH_MS makes it flush now and then; MINI_SHARED puts its buffers into that
 * file, so that what stands in them outlives the process.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fakes/fake.h"
#include "fakes/injection/mini_waits.h"

enum { BUFFER_BYTES = 16384, BUFFERS = 4096, KINDS = 64 };

int InitializeInjection(void);

#define FUNCTIONS                                                                                  \
	FUNCTION(cuptiSubscribe_v2)                                                                \
	FUNCTION(cuptiEnableDomain)                                                                \
	FUNCTION(cuptiActivityRegisterCallbacks)                                                   \
	FUNCTION(cuptiActivityEnable)                                                              \
	FUNCTION(cuptiActivityFlushAll)                                                            \
	FUNCTION(cuptiActivityGetNextRecord)                                                       \
	FUNCTION(cuptiActivityGetNumDroppedRecords)                                                \
	FUNCTION(cuptiActivitySetAttribute)                                                        \
	FUNCTION(cuptiGetVersion)

static struct {
#define FUNCTION(name) __typeof__(&name) name;
	FUNCTIONS
#undef FUNCTION
} cupti;

static struct {
	pthread_mutex_t lock;
	uint8_t *memory;
	size_t given;
	size_t returned;
	unsigned long records[KINDS];
	unsigned long bytes[KINDS]; /* of the copies and fills */
	unsigned long without_times;
	unsigned long disordered; /* kernels that come before an older one */
	unsigned long early;      /* kernels that begin before their launch was called */
	unsigned long entries[CUPTI_CB_DOMAIN_SIZE];
	unsigned long exits[CUPTI_CB_DOMAIN_SIZE];
	unsigned long nested; /* driver calls with the correlation id of the runtime call around */
	unsigned long errors;
	uint64_t launch_ns[1 << 16]; /* by correlation id: when the launch was called */
	uint32_t last_correlation;
	unsigned long first_flush_records; /* what the first flush brought */
	unsigned long flushes;
	int subscribed;
	uint32_t version;
	pid_t pid; /* of the process it was loaded into: a forked child has no flushing thread */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER; /* one flush at a time */
static _Thread_local uint32_t runtime_correlation;

static void on_requested(uint8_t **buffer, size_t *size, size_t *limit)
{
	(void)pthread_mutex_lock(&state.lock);
	*buffer = NULL;
	*size = 0;
	*limit = 0;
	if (state.given < BUFFERS) {
		*buffer = state.memory + state.given++ * BUFFER_BYTES;
		*size = BUFFER_BYTES;
	}
	(void)pthread_mutex_unlock(&state.lock);
}

static void count_kernel(const CUpti_ActivityKernel9 *kernel)
{
	if (!kernel->start || !kernel->end)
		state.without_times++;
	else if (kernel->start < state.launch_ns[kernel->correlationId & 0xffff])
		state.early++;
	if (kernel->correlationId < state.last_correlation)
		state.disordered++;
	state.last_correlation = kernel->correlationId;
	mini_waits_kernel(kernel);
}

static void count(const CUpti_Activity *record)
{
	state.records[record->kind % KINDS]++;
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		count_kernel((const CUpti_ActivityKernel9 *)(const void *)record);
	if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
		state.bytes[record->kind] +=
			((const CUpti_ActivityMemcpy5 *)(const void *)record)->bytes;
	if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
		state.bytes[record->kind] +=
			((const CUpti_ActivityMemset4 *)(const void *)record)->bytes;
}

static void on_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                         size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	(void)pthread_mutex_lock(&state.lock);
	state.returned++;
	while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		count(record);
	(void)pthread_mutex_unlock(&state.lock);
}

static void on_callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                        const void *cbdata)
{
	const CUpti_CallbackData *data = cbdata;
	const int api =
		domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
	const int exit = api && data->callbackSite == CUPTI_API_EXIT;

	(void)userdata;
	(void)pthread_mutex_lock(&state.lock);
	mini_waits_callback(domain, cbid, cbdata);
	if (exit)
		state.exits[domain]++;
	else
		state.entries[domain]++;
	if (exit && *(const int *)data->functionReturnValue)
		state.errors++;
	if (api && !exit && !state.launch_ns[data->correlationId & 0xffff])
		state.launch_ns[data->correlationId & 0xffff] = fake_realtime_ns();
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		runtime_correlation = exit ? 0 : data->correlationId;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && !exit && runtime_correlation)
		state.nested += data->correlationId == runtime_correlation;
	(void)pthread_mutex_unlock(&state.lock);
}

uint64_t fake_realtime_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static unsigned long all_records(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < KINDS; i++)
		sum += state.records[i];
	return sum;
}

static void flush(uint32_t flag)
{
	(void)pthread_mutex_lock(&flush_lock);
	(void)cupti.cuptiActivityFlushAll(flag);
	(void)pthread_mutex_unlock(&flush_lock);
}

static void *flush_now_and_then(void *interval)
{
	for (;;) {
		(void)usleep((useconds_t)(uintptr_t)interval * 1000);
		flush(0);
		state.flushes++;
		if (state.flushes == 1)
			state.first_flush_records = all_records();
	}
	return NULL;
}

static void print_counts(FILE *file, const char *name, const unsigned long *counts, size_t size)
{
	const char *comma = "";

	(void)fprintf(file, "\"%s\":{", name);
	for (size_t i = 0; i < size; i++)
		if (counts[i]) {
			(void)fprintf(file, "%s\"%zu\":%lu", comma, i, counts[i]);
			comma = ",";
		}
	(void)fprintf(file, "},");
}

static void at_exit(void)
{
	FILE *file = NULL;
	size_t dropped = 0;

	if (getpid() != state.pid)
		return;
	file = fopen(getenv("MINI_OUTPUT"), "w");
	if (getenv("MINI_FLUSH_MS") == NULL)
		flush(0);
	flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	(void)cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	if (!file)
		return;
	(void)fprintf(file, "{");
	print_counts(file, "records", state.records, KINDS);
	print_counts(file, "bytes", state.bytes, KINDS);
	print_counts(file, "entries", state.entries, CUPTI_CB_DOMAIN_SIZE);
	print_counts(file, "exits", state.exits, CUPTI_CB_DOMAIN_SIZE);
	mini_waits_print(file);
	(void)fprintf(file,
	              "\"version\":%u,\"subscribed\":%d,\"without_times\":%lu,\"disordered\":%lu,"
	              "\"early\":%lu,\"nested\":%lu,\"errors\":%lu,\"dropped\":%zu,"
	              "\"buffers_given\":%zu,\"buffers_returned\":%zu,\"flushes\":%lu,"
	              "\"first_flush_records\":%lu}\n",
	              state.version, state.subscribed, state.without_times, state.disordered,
	              state.early, state.nested, state.errors, dropped, state.given, state.returned,
	              state.flushes, state.first_flush_records);
	(void)fclose(file);
}

static int map_memory(void)
{
	const char *path = getenv("MINI_SHARED");
	const size_t size = (size_t)BUFFERS * BUFFER_BYTES;
	const int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

	if (fd >= 0 && ftruncate(fd, (off_t)size))
		return -1;
	state.memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (fd >= 0)
		(void)close(fd);
	return state.memory == MAP_FAILED ? -1 : 0;
}

static void enable_all(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_MEMCPY,
		CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_RUNTIME,
		CUPTI_ACTIVITY_KIND_DRIVER,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		CUPTI_ACTIVITY_KIND_OVERHEAD,
		CUPTI_ACTIVITY_KIND_DEVICE,
		CUPTI_ACTIVITY_KIND_CONTEXT,
		CUPTI_ACTIVITY_KIND_STREAM,
	};
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);

	(void)cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size,
	                                      &zeroed);
	(void)cupti.cuptiActivityRegisterCallbacks(on_requested, on_completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		(void)cupti.cuptiActivityEnable(kinds[i]);
}

static void find_functions(void *library)
{
#define FUNCTION(name) *(void **)&cupti.name = dlsym(library, #name);
	FUNCTIONS
#undef FUNCTION
}

int InitializeInjection(void)
{
	const char *name = getenv("MINI_CUPTI");
	const char *interval = getenv("MINI_FLUSH_MS");
	void *library = dlopen(name ? name : "libcupti.so.13", RTLD_NOW);
	CUpti_SubscriberHandle subscriber = NULL;
	CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE};
	pthread_t flusher;

	if (!library || map_memory())
		return 0;
	find_functions(library);
	state.pid = getpid();
	(void)cupti.cuptiGetVersion(&state.version);
	state.subscribed = (int)cupti.cuptiSubscribe_v2(&subscriber, on_callback, NULL, &params);
	if (getenv("MINI_OUTPUT"))
		(void)atexit(at_exit);
	if (state.subscribed != CUPTI_SUCCESS)
		return 1;
	for (int i = CUPTI_CB_DOMAIN_DRIVER_API; i <= CUPTI_CB_DOMAIN_SYNCHRONIZE; i++)
		(void)cupti.cuptiEnableDomain(1, subscriber, (CUpti_CallbackDomain)i);
	enable_all();
	if (interval)
		(void)pthread_create(&flusher, NULL, flush_now_and_then,
		                     (void *)(uintptr_t)strtoul(interval, NULL, 10));
	return 1;
}
