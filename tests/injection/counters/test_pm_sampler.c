/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/pm_sampler.h"

#include <stddef.h>

#include "injection/cupti/cupti.h"
#include "support/check.h"

#if __has_include(<cupti_pmsampling.h>) /* from CUDA 12.6 on */
#include <cupti_pmsampling.h>

/* CUPTI's structs are declared once more in pm_structs.def: they must be those of its headers. */

static void check(const char *member, size_t ours, size_t theirs)
{
	cr_expect(eq(sz, ours, theirs), "%s", member);
}

Test(pm_sampler, has_the_structs_of_the_headers){
#define STRUCT(name, theirs)                                                                       \
	{                                                                                          \
		typedef theirs wanted;                                                             \
		check(#theirs, sizeof(struct gt_pm_##name), sizeof(wanted));
#define MEMBER(name, type, member, theirs)                                                         \
	check(#theirs, offsetof(struct gt_pm_##name, member), offsetof(wanted, theirs));           \
	check(#theirs, sizeof(((struct gt_pm_##name *)0)->member), sizeof(((wanted *)0)->theirs));
#define END(name, last) }
#include "injection/counters/pm_structs.def"
}
#endif

Test(pm_sampler, needs_each_of_its_functions)
{
	struct gt_cupti cupti = {.handle = NULL};
	struct gt_pm pm;

	/* Nobody has linked the test to libcupti: nothing is found. */
	cr_expect(not(gt_pm_open(&pm, &cupti)));
	cr_expect(eq(ptr, (void *)(uintptr_t)pm.cuptiPmSamplingEnable, NULL));
}

/* ---- decoding ---- */

/* Behaviour of the next decoding. */
static struct {
	CUptiResult result;
	int stopped;
	uint8_t overflow;
	size_t completed; /* samples in the image afterwards */
	uint64_t late_ns; /* that the third and later ones begin later */
	unsigned times;
	unsigned initialised; /* images that were emptied */
} decoding;

enum { END_OF_DATA = 2 }; /* of CUPTI's reasons to stop: 1 is a full image */

static CUptiResult decode(struct gt_pm_pm_decode *params)
{
	decoding.times++;
	params->stopped = decoding.stopped;
	params->overflow = decoding.overflow;
	return decoding.result;
}

static CUptiResult info(struct gt_pm_pm_data_info *params)
{
	params->populated = params->completed = decoding.completed;
	return CUPTI_SUCCESS;
}

static CUptiResult empty(struct gt_pm_pm_data_initialize *params)
{
	(void)params;
	decoding.initialised++;
	return CUPTI_SUCCESS;
}

/* Samples of 100 ns from 1000 on, if none is late. */
static CUptiResult sample_info(struct gt_pm_pm_sample_info *params)
{
	params->start_ns =
		1000 + 100 * params->sample + (params->sample < 2 ? 0 : decoding.late_ns);
	params->end_ns = params->start_ns + 100;
	return CUPTI_SUCCESS;
}

static int evaluate(struct gt_profiler_host_evaluate *params)
{
	(void)params;
	return 0;
}

static struct gt_pm pm = {
	.profiler.cuptiProfilerHostEvaluateToGpuValues = evaluate,
	.cuptiPmSamplingDecodeData = decode,
	.cuptiPmSamplingGetCounterDataInfo = info,
	.cuptiPmSamplingCounterDataImageInitialize = empty,
	.cuptiPmSamplingCounterDataGetSampleInfo = sample_info,
};

static struct gt_pm_sample gap; /* the last one that was told */

static void count(void *context, const struct gt_pm_sample *sample)
{
	if (!sample->values)
		gap = *sample;
	++*(unsigned *)context;
}

/* Decodes once; so many samples were told. The first of all is left out. */
static int decode_with(struct gt_pm_sampler *sampler, unsigned *told)
{
	static uint8_t bytes[2][32];

	*told = 0;
	*sampler = (struct gt_pm_sampler){
		.pm = &pm,
		.interval_ns = 100,
		.data = {.bytes = bytes[0], .size = sizeof(bytes[0])},
		.empty = {.bytes = bytes[1], .size = sizeof(bytes[1])},
		.room = 1024,
	};
	return gt_pm_decode(sampler, count, told);
}

Test(pm_sampler, tells_what_was_decoded)
{
	struct gt_pm_sampler sampler;
	unsigned told;

	decoding.stopped = END_OF_DATA;
	decoding.completed = 5;
	cr_expect(eq(int, decode_with(&sampler, &told), 0));
	cr_expect(eq(uint, told, 4));
	cr_expect(eq(uint, decoding.times, 1));
	cr_expect(not(sampler.was_full));
}

Test(pm_sampler, tells_when_a_single_sample_was_lost)
{
	struct gt_pm_sampler sampler;
	unsigned told;

	decoding.stopped = END_OF_DATA;
	decoding.completed = 5;
	decoding.late_ns = 100;
	cr_expect(eq(int, decode_with(&sampler, &told), 0));
	cr_expect(eq(uint, told, 4 + 1));
	cr_expect(eq(u64, gap.start_ns, 1200));
	cr_expect(eq(u64, gap.end_ns, 1300));

	decoding.late_ns = 40; /* no clock is exact */
	cr_expect(eq(int, decode_with(&sampler, &told), 0));
	cr_expect(eq(uint, told, 4));
}

/* CUPTI says so by a flag, or by a result. */
Test(pm_sampler, knows_that_the_buffer_of_the_hardware_was_full)
{
	struct gt_pm_sampler sampler;
	unsigned told;

	decoding.stopped = END_OF_DATA;
	decoding.completed = 5;
	decoding.overflow = 1;
	cr_expect(eq(int, decode_with(&sampler, &told), 1));
	cr_expect(sampler.was_full, "it has to be begun anew");

	decoding.overflow = 0;
	decoding.result = CUPTI_ERROR_OUT_OF_MEMORY;
	cr_expect(eq(int, decode_with(&sampler, &told), 1));
	cr_expect(sampler.was_full);
	cr_expect(eq(uint, told, 4), "what there is is told all the same");
}

Test(pm_sampler, goes_on_where_the_image_was_full)
{
	struct gt_pm_sampler sampler;
	unsigned told;

	decoding.stopped = 1;
	cr_expect(eq(int, decode_with(&sampler, &told), 0));
	cr_expect(gt(uint, decoding.times, 1));
	cr_expect(not(sampler.was_full), "the hardware's was not");
}

Test(pm_sampler, says_where_cupti_cannot_decode)
{
	struct gt_pm_sampler sampler;
	unsigned told;

	decoding.result = CUPTI_ERROR_UNKNOWN;
	cr_expect(lt(int, decode_with(&sampler, &told), 0));
	cr_expect(not(sampler.was_full));
}

/* ---- many decodings ---- */

enum { ROOM = 600, MOST_TOLD = 8192 };

/* The image: how many samples are in it, and the number of the first. */
struct decoded {
	size_t first;
	size_t count;
};

/* The hardware: samples that it has taken, and those that were decoded. */
static struct {
	size_t taken;
	size_t decoded;
} hardware;

static struct decoded *decoded_of(uint8_t *image)
{
	return (struct decoded *)(void *)image;
}

static CUptiResult decode_some(struct gt_pm_pm_decode *params)
{
	struct decoded *image = decoded_of(params->image);

	if (image->count == 0)
		image->first = hardware.decoded;
	while (hardware.decoded < hardware.taken && image->count < ROOM) {
		image->count++;
		hardware.decoded++;
	}
	params->stopped = hardware.decoded < hardware.taken ? 1 : END_OF_DATA;
	return CUPTI_SUCCESS;
}

static CUptiResult info_of_image(struct gt_pm_pm_data_info *params)
{
	params->populated = params->completed =
		decoded_of((uint8_t *)(uintptr_t)params->image)->count;
	return CUPTI_SUCCESS;
}

static CUptiResult sample_of_image(struct gt_pm_pm_sample_info *params)
{
	const struct decoded *image = decoded_of((uint8_t *)(uintptr_t)params->image);

	params->start_ns = 1000 + 100 * (image->first + params->sample);
	params->end_ns = params->start_ns + 100;
	return CUPTI_SUCCESS;
}

static struct gt_pm pm_with_images = {
	.profiler.cuptiProfilerHostEvaluateToGpuValues = evaluate,
	.cuptiPmSamplingDecodeData = decode_some,
	.cuptiPmSamplingGetCounterDataInfo = info_of_image,
	.cuptiPmSamplingCounterDataImageInitialize = empty,
	.cuptiPmSamplingCounterDataGetSampleInfo = sample_of_image,
};

static unsigned told_of[MOST_TOLD]; /* how often each sample was told */

static void note(void *context, const struct gt_pm_sample *sample)
{
	const size_t number = (sample->start_ns - 1000) / 100;

	(void)context;
	cr_assert(sample->values != NULL, "a gap before %zu", number);
	cr_assert(lt(sz, number, MOST_TOLD));
	told_of[number]++;
}

/* So many at a time: each is told once, but the first of all. */
static void expect_each_is_told(size_t at_a_time)
{
	struct decoded images[2] = {{0}};
	struct gt_pm_sampler sampler = {
		.pm = &pm_with_images,
		.interval_ns = 100,
		.data = {.bytes = (uint8_t *)&images[0], .size = sizeof(images[0])},
		.empty = {.bytes = (uint8_t *)&images[1], .size = sizeof(images[1])},
		.room = ROOM,
	};

	memset(told_of, 0, sizeof(told_of));
	hardware.taken = hardware.decoded = 0;
	while (hardware.taken + at_a_time < MOST_TOLD) {
		hardware.taken += at_a_time;
		cr_assert(eq(int, gt_pm_decode(&sampler, note, NULL), 0));
	}
	for (size_t i = 0; i < hardware.taken; i++)
		cr_expect(eq(uint, told_of[i], i > 0), "sample %zu, %zu at a time", i, at_a_time);
}

Test(pm_sampler, tells_each_sample_once_however_many_come_at_a_time)
{
	static const size_t counts[] = {1,   7,   50,  100, 171, 172,  173, 250,
	                                344, 345, 599, 600, 601, 1300, 4000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		expect_each_is_told(counts[i]);
}

/* Images are as large as there is room for samples: what samples no more keeps none. */
Test(pm_sampler, gives_all_its_memory_back)
{
	struct gt_pm_sampler sampler = {.pm = &pm, .count = 3};

	cr_assert(gt_image_take(&sampler.availability, 4096));
	cr_assert(gt_image_take(&sampler.data, 4096));
	cr_assert(gt_image_take(&sampler.empty, 4096));
	gt_pm_release(&sampler);
	cr_expect(eq(ptr, sampler.availability.bytes, NULL));
	cr_expect(eq(ptr, sampler.data.bytes, NULL));
	cr_expect(eq(ptr, sampler.empty.bytes, NULL));
	cr_expect(eq(sz, sampler.count, 0));
	gt_pm_release(&sampler);
}
