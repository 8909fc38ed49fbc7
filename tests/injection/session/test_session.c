/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/session.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>

#include "base/error.h"
#include "base/path.h"
#include "fakes/cuda/state.h"
#include "format/file/series.h"
#include "format/recording.h"
#include "include/gputrace/gputrace.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"
#include "support/capture.h"
#include "support/check.h"

/* A whole session inside the test's process, on the fake libraries. */

#define LIMIT_NS 20000000000u

enum { CALLS_OF_A_BEGINNING = 2 }; /* cuCtxCreate and cuModuleLoadData */

static char folder[64];
static struct gt_session *session;
static CUcontext context;
static CUfunction kernel;

static int threads_left = 100; /* that can be made */
static atomic_int threads_running;

struct thread {
	void *(*run)(void *);
	void *context;
};

static void *run_counted(void *context)
{
	struct thread thread = *(struct thread *)context;
	void *result;

	free(context);
	result = thread.run(thread.context);
	atomic_fetch_sub(&threads_running, 1);
	return result;
}

/* In the place of libc's: a process may run out of threads. */
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct thread *thread = malloc(sizeof(*thread));

	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	*thread = (struct thread){run, arg};
	if (threads_left-- <= 0) {
		free(thread);
		return EAGAIN;
	}
	atomic_fetch_add(&threads_running, 1);
	return create(id, attributes, run_counted, thread);
}

static void make(void)
{
	snprintf(folder, sizeof(folder), "/tmp/gputrace-session-XXXXXX");
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	session = gt_session_get();
}

static void each_file(void (*use)(const char *path, void *context), void *argument)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	cr_assert(ne(ptr, dir, NULL));
	while ((entry = readdir(dir))) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			use(path, argument);
	}
	closedir(dir);
}

static void remove_file(const char *path, void *argument)
{
	(void)argument;
	unlink(path);
}

static void drop(void)
{
	each_file(remove_file, NULL);
	rmdir(folder);
}

TestSuite(session, .init = make, .fini = drop);

static void start_both(const char *setting, const char *other)
{
	static char output[128];
	char *environment[] = {output, (char *)(uintptr_t)("GPUTRACE_CUPTI=" FAKE_CUPTI_PATH),
	                       (char *)(uintptr_t)setting, (char *)(uintptr_t)other, NULL};

	snprintf(output, sizeof(output), "GPUTRACE_OUTPUT=%s", folder);
	gt_session_start(session, environment);
}

static void start(const char *setting)
{
	start_both(setting, NULL);
}

static void use_cuda(void)
{
	CUmodule module;

	cr_assert(eq(int, cuInit(0), CUDA_SUCCESS));
	cr_assert(eq(int, cuCtxCreate_v4(&context, NULL, 0, 0), CUDA_SUCCESS));
	cr_assert(eq(int, cuModuleLoadData(&module, "fake image"), CUDA_SUCCESS));
	cr_assert(eq(int, cuModuleGetFunction(&kernel, module, "work"), CUDA_SUCCESS));
}

static void launch_into(CUstream stream)
{
	cr_assert(eq(int, cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL),
	             CUDA_SUCCESS));
}

/* So many launches and one call that waits for them. */
static void launch(int count)
{
	for (int i = 0; i < count; i++)
		launch_into(NULL);
	cr_assert(eq(int, cuCtxSynchronize(), CUDA_SUCCESS));
}

static void map_capture(const char *path, void *content)
{
	struct gt_error err = {0};

	if (gt_has_suffix(path, GT_CAPTURE_SUFFIX))
		cr_assert(eq(int, gt_load_file(content, path, &err), 0), "%s", err.text);
	else
		cr_expect(gt_has_suffix(path, GT_ROLL_SUFFIX), "%s is left", path);
}

/* The records of a kind in the capture, for the caller to free; but for the roll nothing else is
 * left. */
static void *records(uint32_t kind, size_t *found)
{
	struct gt_content content = {0};
	void *rows = NULL;

	*found = 0;
	each_file(map_capture, &content);
	if (content.bytes)
		rows = read_records(content.bytes, content.size, kind, found);
	gt_unload(&content);
	return rows;
}

static size_t count(uint32_t kind)
{
	size_t found;

	free(records(kind, &found));
	return found;
}

static uint64_t ledger(enum gt_ledger_id id)
{
	return atomic_load(&session->arena.header->ledger[id]);
}

Test(session, records_from_its_start_to_its_end)
{
	start(NULL);
	cr_expect(gt_session_is(session, GT_SESSION_RECORDING));
	use_cuda();
	launch(5);
	gt_session_stop(session);
	cr_expect(gt_session_is(session, GT_SESSION_STOPPING));
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5));
	cr_expect(eq(sz, count(GT_RECORD_api_call), CALLS_OF_A_BEGINNING + 6));
	cr_expect(eq(sz, count(GT_RECORD_note), 0));
	cr_expect(eq(sz, count(GT_RECORD_thread), 1));
	cr_expect(ge(sz, count(GT_RECORD_clock), 2));
	cr_expect(eq(u64, ledger(GT_LEDGER_api_calls), CALLS_OF_A_BEGINNING + 6));
}

Test(session, records_only_while_it_is_armed)
{
	start(NULL);
	use_cuda();
	launch(5);
	cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	cr_expect(gt_session_is(session, GT_SESSION_READY));
	cr_expect(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS)); /* it is */
	launch(7);
	cr_assert(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	cr_expect(gt_session_is(session, GT_SESSION_RECORDING));
	launch(4);
	cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	launch(3);
	cr_assert(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	launch(1);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5 + 4 + 1));
	cr_expect(eq(sz, count(GT_RECORD_api_call), CALLS_OF_A_BEGINNING + 6 + 5 + 2));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
}

enum { SERIES_OF_COUNTERS = GT_SERIES_COUNTERS };

/* Samples of the first GPU's hardware counters. */
struct sampled {
	size_t samples;
	size_t gaps;
	uint64_t longest_ns; /* between the end of a sample and the next one */
};

static void add_samples(struct sampled *sampled, const struct gt_chunk *chunk, uint64_t *end_ns)
{
	struct gt_samples samples = {.count = chunk->header.count};

	cr_assert(eq(int, gt_series_peek(chunk->payload, chunk->header.raw, &samples), 0));
	if (samples.series != SERIES_OF_COUNTERS)
		return;
	samples.times_ns = calloc(samples.count, sizeof(*samples.times_ns));
	samples.values = calloc((size_t)samples.count * samples.columns, sizeof(double));
	cr_assert(eq(int, gt_series_decode(chunk->payload, chunk->header.raw, &samples), 0));
	cr_expect(eq(int, samples.clock, GT_SERIES_CUPTI));
	for (uint32_t i = 0; i < samples.count; i++) {
		const double *values = &samples.values[(size_t)i * samples.columns];

		if (*end_ns && samples.times_ns[i] - *end_ns > sampled->longest_ns)
			sampled->longest_ns = samples.times_ns[i] - *end_ns;
		*end_ns = samples.times_ns[i] + (uint64_t)values[0];
		sampled->samples++;
		sampled->gaps += isnan(values[1]);
	}
	free(samples.times_ns);
	free(samples.values);
}

static struct sampled read_sampled(void)
{
	struct gt_content content = {0};
	struct sampled sampled = {0};
	void *scratch = malloc(GT_CHUNK_MAX_RAW);
	struct gt_reader reader;
	struct gt_chunk chunk;
	uint64_t end_ns = 0;

	each_file(map_capture, &content);
	cr_assert(eq(int, capture_read(&reader, content.bytes, content.size, scratch), 0));
	while (gt_reader_next(&reader, &chunk) > 0)
		if (chunk.header.kind == GT_RECORD_SERIES)
			add_samples(&sampled, &chunk, &end_ns);
	gt_unload(&content);
	free(scratch);
	return sampled;
}

/* Covers SOURCE(counters). Time that was not to be recorded is no gap: nobody wanted it. */
Test(session, samples_counters_only_while_it_is_armed)
{
	struct sampled sampled;

	start("GPUTRACE_COUNTERS=memory");
	use_cuda();
	launch(1);
	usleep(200000);
	cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	usleep(200000);
	cr_assert(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	usleep(200000);
	gt_session_stop(session);
	sampled = read_sampled();
	/* 0.4 s, every 100 us, but for the beginning and what a busy machine takes */
	cr_expect(ge(sz, sampled.samples, 1000));
	cr_expect(le(sz, sampled.samples, 8000));
	cr_expect(eq(sz, sampled.gaps, 0));
	cr_expect(ge(u64, sampled.longest_ns, 190000000));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
}

Test(session, ends_well_while_counters_are_not_sampled)
{
	start("GPUTRACE_COUNTERS=memory");
	use_cuda();
	usleep(100000);
	cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	gt_session_stop(session);
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
}

Test(session, ends_well_while_it_is_not_armed)
{
	start(NULL);
	use_cuda();
	launch(5);
	cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	launch(7);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5));
	cr_expect(not(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS)));
	cr_expect(not(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS)));
}

Test(session, says_once_what_cannot_be_recorded)
{
	setenv("FAKE_CUPTI", "enable_fail=memset", 1);
	start(NULL);
	use_cuda();
	cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	cr_assert(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_note), 1));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 1));
}

/* Covers SOURCE(context_end). The flusher would come in an hour; what is not fetched when a context
 * ends is lost. */
Test(session, fetches_what_a_context_did_before_it_ends)
{
	const uint64_t until = gt_now() + LIMIT_NS;

	/* Nor would it come because of a wait. */
	start_both("GPUTRACE_FLUSH_INTERVAL=1h", "GPUTRACE_WAIT_FLUSH=off");
	use_cuda();
	launch(5);
	cr_expect(eq(u64, ledger(GT_LEDGER_activity_records), 0));
	cr_assert(eq(int, cuCtxDestroy(context), CUDA_SUCCESS));
	while (ledger(GT_LEDGER_activity_records) < 5 && gt_now() < until)
		usleep(1000);
	cr_expect(ge(u64, ledger(GT_LEDGER_activity_records), 5));
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5));
}

static void expect_nothing_recorded(void)
{
	start(NULL);
	cr_expect(gt_session_is(session, GT_SESSION_OFF));
	cr_expect(eq(int, atomic_load(&threads_running), 0));
	threads_left = 100;
	use_cuda();
	launch(5);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 0));
	cr_expect(eq(sz, count(GT_RECORD_api_call), 0));
	cr_expect(eq(sz, count(GT_RECORD_note), 1));
}

Test(session, leaves_the_program_alone_when_there_is_no_thread)
{
	threads_left = 0;
	expect_nothing_recorded();
}

/* NVTX would be recorded: the writer runs, and has a thread for files. */
Test(session, records_nothing_of_cuda_when_there_are_two_threads)
{
	threads_left = 2;
	start(NULL);
	cr_expect(gt_session_is(session, GT_SESSION_RECORDING));
	cr_expect(eq(int, atomic_load(&threads_running), 2));
	threads_left = 100;
	use_cuda();
	launch(5);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 0));
	cr_expect(eq(sz, count(GT_RECORD_api_call), 0));
	cr_expect(eq(sz, count(GT_RECORD_note), 1));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 1));
}

static void *launch_in_thread(void *argument)
{
	cr_assert(eq(int, cuCtxSetCurrent(context), CUDA_SUCCESS));
	launch(3);
	return argument;
}

static void *launch_as_ours(void *argument)
{
	gt_thread_enter(GT_THREAD_SOURCE);
	launch_in_thread(NULL);
	gt_emit_hand_over(session);
	return argument;
}

/* The collector needs this to tell them from the program's: tests/collector/stages/test_own.c. */
Test(session, counts_its_own_launches_apart)
{
	pthread_t thread;

	start(NULL);
	use_cuda();
	launch(5);
	cr_assert(eq(int, pthread_create(&thread, NULL, launch_as_ours, NULL), 0));
	pthread_join(thread, NULL);
	gt_session_stop(session);
	cr_expect(eq(u64, ledger(GT_LEDGER_own_launches), 3));
	cr_expect(eq(u64, ledger(GT_LEDGER_api_calls), CALLS_OF_A_BEGINNING + 6));
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5 + 3));
	cr_expect(eq(sz, count(GT_RECORD_own_call), 3 + 1));
	cr_expect(eq(sz, count(GT_RECORD_thread), 1), "no thread of the program made them");
}

Test(session, has_the_calls_of_a_thread_that_ended_in_the_capture)
{
	const uint64_t until = gt_now() + LIMIT_NS;
	pthread_t thread;

	start(NULL);
	use_cuda();
	cr_assert(eq(int, pthread_create(&thread, NULL, launch_in_thread, NULL), 0));
	pthread_join(thread, NULL);
	/* While the session goes on: the thread handed them over when it ended. */
	while (ledger(GT_LEDGER_api_calls) < 4 && gt_now() < until)
		usleep(1000);
	cr_expect(eq(u64, ledger(GT_LEDGER_api_calls), 4));
	gt_session_stop(session);
	cr_expect(eq(u64, ledger(GT_LEDGER_api_calls), CALLS_OF_A_BEGINNING + 4));
}

Test(session, leaves_the_thread_that_starts_and_ends_it_as_it_was)
{
	sigset_t before;
	sigset_t after;
	int cancel;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	start(NULL);
	cr_expect(eq(int, pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel), 0));
	cr_expect(eq(int, cancel, PTHREAD_CANCEL_ENABLE));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	cr_expect(sigismember(&after, SIGUSR2));
	cr_expect(not(sigismember(&after, SIGTERM)));
	cr_expect(not(sigismember(&after, SIGXFSZ)));
	use_cuda();
	launch(1);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	gt_session_stop(session);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	cr_expect(eq(int, cancel, PTHREAD_CANCEL_DISABLE));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	cr_expect(not(sigismember(&after, SIGTERM)));
}

/* A string of the capture, which the arena still holds; "" for none. */
static const char *string(uint32_t id)
{
	static char copy[512];
	const char *text = "";
	uint32_t offset = 0;
	uint32_t size = 0;

	for (uint32_t i = 0; i < id; i++)
		cr_assert(gt_arena_next_string(&session->arena, &offset, &text, &size));
	snprintf(copy, sizeof(copy), "%.*s", (int)size, text);
	return copy;
}

#define MILLIWATT       "mW"
#define MILLIJOULE      "mJ"
#define MEGAHERTZ       "MHz"
#define CELSIUS         "C"
#define PERCENT         "%"
#define BYTE            "bytes"
#define BYTE_PER_SECOND "bytes/s"
#define COUNT           ""
#define BITS            ""

/* Covers SOURCE(telemetry). */
Test(session, says_of_each_counter_what_it_counts_and_in_what)
{
	static const char *const expected[][3] = {
#define COUNTER(name, unit, kind, help) {#name, unit, help},
#include "injection/nvml/counters.def"
	};
	struct gt_content content = {0};
	struct gt_record_counter *counters;
	size_t found = 0;

	start("GPUTRACE_TELEMETRY=10ms");
	use_cuda();
	launch(1);
	usleep(100000);
	gt_session_stop(session);
	each_file(map_capture, &content);
	counters = read_records(content.bytes, content.size, GT_RECORD_counter, &found);
	cr_assert(eq(sz, found, sizeof(expected) / sizeof(expected[0])));
	for (size_t i = 0; i < found; i++) {
		cr_expect(eq(u32, counters[i].place, (uint32_t)i));
		cr_expect(eq(u32, counters[i].device, 1));
		expect_text(string(counters[i].name), expected[i][0]);
		expect_text(string(counters[i].help), expected[i][2]);
		expect_text(string(counters[i].unit), expected[i][1]);
	}
	free(counters);
	gt_unload(&content);
}

gputrace_get_api_function gputrace_get_api;

static sem_t asked;
static _Atomic uint32_t answered;

static void answer(uint64_t pool, struct gputrace_pool_stats *stats, void *user)
{
	(void)pool;
	sem_post(&asked);
	usleep(100000);
	stats->bytes_in_use = *(const uint64_t *)user;
	answered++;
}

/* The program may take back what its function needs as soon as that call comes back. */
Test(session, lets_no_pool_go_while_it_is_asked)
{
	const struct gputrace_pool what = {
		.struct_size = sizeof(what), .device = -1, .name = "cache"};
	const struct gputrace_api *api;
	uint64_t in_use = 5;
	uint64_t pool;
	uint32_t before;

	sem_init(&asked, 0, 0);
	/* It begins the session of the process: to start it here would begin it twice. */
	setenv("GPUTRACE_OUTPUT", folder, 1);
	setenv("GPUTRACE_POOLS", "1", 1);
	api = gputrace_get_api(GPUTRACE_API_VERSION);
	cr_assert(ne(ptr, (void *)(uintptr_t)api, NULL));
	pool = api->pool_create(&what);
	api->pool_pull(pool, answer, &in_use, 1000000);
	cr_assert(eq(int, sem_wait(&asked), 0));
	before = answered;
	api->pool_destroy(pool);
	cr_expect(eq(u32, answered, before + 1));
	while (sem_trywait(&asked) == 0)
		;
	usleep(20000);
	cr_expect(ne(int, sem_trywait(&asked), 0), "it is asked no more");
	gt_session_stop(session);
}

static void end_own(uint64_t pool, struct gputrace_pool_stats *stats, void *api)
{
	(void)stats;
	((const struct gputrace_api *)api)->pool_destroy(pool);
	answered++;
	sem_post(&asked);
}

/* It does not wait for itself, which would be for ever. */
Test(session, lets_a_pool_end_itself_when_it_is_asked, .timeout = 30)
{
	const struct gputrace_pool what = {
		.struct_size = sizeof(what), .device = -1, .name = "cache"};
	const struct gputrace_api *api;

	sem_init(&asked, 0, 0);
	setenv("GPUTRACE_OUTPUT", folder, 1);
	setenv("GPUTRACE_POOLS", "1", 1);
	api = gputrace_get_api(GPUTRACE_API_VERSION);
	cr_assert(ne(ptr, (void *)(uintptr_t)api, NULL));
	api->pool_pull(api->pool_create(&what), end_own, (void *)(uintptr_t)api, 1000000);
	cr_assert(eq(int, sem_wait(&asked), 0));
	gt_session_stop(session);
	cr_expect(eq(u32, answered, 1), "it is asked no more");
	cr_expect(eq(sz, count(GT_RECORD_pool_end), 1));
}

/* Covers SOURCE(kernel_counters). */
Test(session, reads_counters_of_the_launches_that_are_chosen)
{
	setenv("FAKE_CUPTI", "pm_room=8", 1);
	start("GPUTRACE_KERNEL_COUNTERS=memory");
	use_cuda();
	launch(5);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5));
	cr_expect(eq(sz, count(GT_RECORD_profiled_launch), 5));
	cr_expect(eq(sz, count(GT_RECORD_profiled_metric), 15));
	cr_expect(eq(sz, count(GT_RECORD_profiled_value), 5 * 15));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
	cr_expect(eq(sz, count(GT_RECORD_note), 1)); /* what it cost */
}

/* One launch that is captured, one meanwhile, one afterwards, and two of the graph. */
static void capture_and_launch(const char *setting, size_t profiled)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;

	start(setting);
	use_cuda();
	cr_assert(eq(int, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS));
	cr_assert(eq(int, cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	             CUDA_SUCCESS));
	launch_into(stream);
	launch_into(NULL); /* while something is captured nothing is profiled */
	cr_assert(eq(int, cuStreamEndCapture(stream, &graph), CUDA_SUCCESS));
	launch_into(NULL);
	cr_assert(eq(int, cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS));
	cr_assert(eq(int, cuGraphLaunch(exec, stream), CUDA_SUCCESS));
	cr_assert(eq(int, cuGraphLaunch(exec, stream), CUDA_SUCCESS));
	cr_assert(eq(int, cuCtxSynchronize(), CUDA_SUCCESS));
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_profiled_launch), profiled));
	cr_expect(eq(sz, count(GT_RECORD_profiled_value), profiled));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
}

Test(session, reads_no_counters_of_what_is_captured)
{
	capture_and_launch("GPUTRACE_KERNEL_COUNTERS=duration_ns", 1);
}

/* CUPTI leaves graphs out while kernels are replayed, and crashes where both are counted. */
Test(session, reads_counters_of_graphs_where_these_are_asked_for)
{
	capture_and_launch("GPUTRACE_KERNEL_COUNTERS=graphs,duration_ns", 2);
}

/* Who may not read them, and who finds that another profiler has them. */
static void expect_no_kernel_counters(const char *script)
{
	setenv("FAKE_CUPTI", script, 1);
	start("GPUTRACE_KERNEL_COUNTERS=default");
	use_cuda();
	launch(5);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 5));
	cr_expect(eq(sz, count(GT_RECORD_profiled_launch), 0));
	cr_expect(eq(sz, count(GT_RECORD_note), 2)); /* why, and that no launch was profiled */
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 1));
}

Test(session, records_all_else_where_kernel_counters_may_not_be_read)
{
	expect_no_kernel_counters("pm_error=35");
}

Test(session, records_all_else_where_another_profiler_has_the_kernel_counters)
{
	expect_no_kernel_counters("range_fail=1");
}

Test(session, refuses_kernel_counters_beside_sampling)
{
	start_both("GPUTRACE_COUNTERS=memory", "GPUTRACE_KERNEL_COUNTERS=memory");
	use_cuda();
	launch(2);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_profiled_launch), 0));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 1));
}

static void *launch_many(void *argument)
{
	(void)argument;
	cr_assert(eq(int, cuCtxSetCurrent(context), CUDA_SUCCESS));
	for (int i = 0; i < 200; i++)
		launch_into(NULL);
	return NULL;
}

/* CUPTI would count them with the others. */
Test(session, profiles_one_launch_at_a_time)
{
	pthread_t threads[4];

	start_both("GPUTRACE_KERNEL_COUNTERS=duration_ns", "GPUTRACE_LAUNCHES_COUNT=600");
	use_cuda();
	for (size_t i = 0; i < 4; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, launch_many, NULL), 0));
	for (size_t i = 0; i < 4; i++)
		cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
	cr_assert(eq(int, cuCtxSynchronize(), CUDA_SUCCESS));
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 800));
	cr_expect(eq(sz, count(GT_RECORD_profiled_launch), 600));
	cr_expect(eq(sz, count(GT_RECORD_profiled_value), 600));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
}

/* The driver gives handles again. */
Test(session, profiles_in_a_context_with_the_handle_of_one_that_ended)
{
	start("GPUTRACE_KERNEL_COUNTERS=memory");
	use_cuda();
	launch(2);
	/* The fake driver gives none again: what follows is as of another context. */
	fake_tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, NULL, NULL);
	launch(3);
	gt_session_stop(session);
	cr_expect(eq(sz, count(GT_RECORD_kernel), 2 + 3));
	cr_expect(eq(sz, count(GT_RECORD_profiled_launch), 2 + 3));
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
}

static void *launch_slowly(void *running)
{
	cr_assert(eq(int, cuCtxSetCurrent(context), CUDA_SUCCESS));
	while (atomic_load((_Atomic bool *)running))
		launch(1);
	return NULL;
}

/* The return of a launch that has the turn would not be heard: nobody would have it any more. */
Test(session, profiles_on_after_it_was_disarmed_in_the_middle_of_launches)
{
	static _Atomic bool running = true;
	struct gt_record_profiled_launch *profiled;
	size_t profiled_count;
	struct gt_record_kernel *kernels;
	size_t kernel_count;
	pthread_t threads[2];

	setenv("FAKE_CUPTI", "kernel_ns=2000000", 1);
	start_both("GPUTRACE_KERNEL_COUNTERS=duration_ns", "GPUTRACE_LAUNCHES_COUNT=100000");
	use_cuda();
	for (size_t i = 0; i < 2; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, launch_slowly, &running), 0));
	for (int i = 0; i < 5; i++) {
		cr_assert(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
		cr_assert(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	}
	atomic_store(&running, false);
	for (size_t i = 0; i < 2; i++)
		cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
	launch(3);
	gt_session_stop(session);
	profiled = records(GT_RECORD_profiled_launch, &profiled_count);
	kernels = records(GT_RECORD_kernel, &kernel_count);
	cr_assert(ge(sz, profiled_count, 3));
	cr_assert(ge(sz, kernel_count, 3));
	/* Each thread has a buffer of its own for its kernels: they may stand anywhere. */
	for (size_t i = 1; i <= 3; i++) {
		size_t found = 0;

		for (size_t j = 0; j < kernel_count; j++)
			found += kernels[j].correlation == profiled[profiled_count - i].correlation;
		cr_expect(eq(sz, found, 1));
	}
	cr_expect(eq(u64, ledger(GT_LEDGER_sources_failed), 0));
	free(profiled);
	free(kernels);
}
