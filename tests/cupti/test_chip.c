/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/chip.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cupti/library.h"
#include "cupti/profiler.h"
#include "support/check.h"

/* The fake libcupti's metrics are in tests/fakes/cupti/pm.c; the toolkit's own is asked where it
 * is. */

#define READ  "dram__bytes_read.sum"
#define WRITE "dram__bytes_write.sum"
#define WARPS "sm__warps_active.avg.pct_of_peak_sustained_elapsed"
#define HITS  "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct"

static struct gt_profiler profiler;

static struct gt_chip chip_of(const char *library, const char *name, enum gt_chip_way way)
{
	char path[PATH_MAX];
	struct gt_error err;
	void *handle = gt_cupti_library_open(0, library, path, &err);

	if (!handle || !gt_profiler_open(&profiler, handle))
		cr_skip("no libcupti of CUDA 12.6 or later");
	return (struct gt_chip){.profiler = &profiler, .name = name, .way = way};
}

static struct gt_chip fake_chip(const char *room)
{
	setenv("FAKE_CUPTI", room, 1);
	return chip_of("", "GH100", GT_CHIP_SAMPLES);
}

Test(chip, schedules_metrics_together)
{
	struct gt_chip chip = fake_chip("pm_room=2");
	const char *const metrics[] = {READ, WRITE, WARPS};

	cr_expect(eq(int, gt_chip_schedule(&chip, metrics, 2), 1));
	cr_expect(gt(sz, chip.config.size, 0));
	cr_expect(eq(int, gt_chip_schedule(&chip, metrics, 3), 2));
	gt_chip_release(&chip);
	gt_chip_release(&chip);
	cr_expect(eq(ptr, chip.host, NULL));
}

/* All that CUPTI was told, by the fake one. */
static void read_calls(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	cr_assert(file != NULL);
	text[fread(text, 1, size - 1, file)] = '\0';
	(void)fclose(file);
	(void)unlink(path);
}

/* A member that is not told, or that is told of something else, may go unnoticed for long. */
Test(chip, tells_cupti_all_that_it_knows)
{
	char path[] = "/tmp/gputrace-test-XXXXXX";
	const char *const metrics[] = {READ, WRITE};
	const uint8_t availability[16] = {1};
	struct gt_metric_property property;
	struct gt_chip chip;
	char text[4096];

	close(mkstemp(path));
	setenv("FAKE_CUPTI_CALLS", path, 1);
	chip = fake_chip("");
	chip.availability = availability;
	cr_expect(eq(int, gt_chip_schedule(&chip, metrics, 2), 1));
	cr_expect(gt_chip_property_of(&chip, WRITE, &property));
	cr_expect(eq(sz, gt_chip_metrics(&chip, GT_METRIC_RATIO).count, 3));
	cr_expect(eq(sz, gt_chip_forms(&chip, GT_METRIC_COUNTER, "dram__bytes_read").count, 1));
	gt_chip_release(&chip);
	read_calls(path, text, sizeof(text));
	expect_text(
		text,
		"cuptiProfilerHostInitialize structSize=48 pPriv=null profilerType=1 "
		"pChipName=GH100 pCounterAvailabilityImage=set pHostObject=null\n"
		"cuptiProfilerHostConfigAddMetrics structSize=40 pPriv=null pHostObject=set "
		"ppMetricNames=set numMetrics=2 " READ " " WRITE "\n"
		"cuptiProfilerHostGetConfigImageSize structSize=32 pPriv=null pHostObject=set "
		"configImageSize=0\n"
		"cuptiProfilerHostGetConfigImage structSize=40 pPriv=null pHostObject=set "
		"configImageSize=16 pConfigImage=set\n"
		"cuptiProfilerHostGetNumOfPasses structSize=40 pPriv=null configImageSize=16 "
		"pConfigImage=set numOfPasses=0\n"
		"cuptiProfilerHostGetMetricProperties structSize=60 pPriv=null pHostObject=set "
		"pMetricName=" WRITE " pDescription=null pHwUnit=null pDimUnit=null "
		"metricType=0\n"
		"cuptiProfilerHostGetBaseMetrics structSize=48 pPriv=null pHostObject=set "
		"metricType=1 ppMetricNames=null numMetrics=0\n"
		"cuptiProfilerHostGetSubMetrics structSize=56 pPriv=null pHostObject=set "
		"metricType=0 pMetricName=dram__bytes_read numOfSubmetrics=0 ppSubMetrics=null\n"
		"cuptiProfilerHostDeinitialize structSize=24 pPriv=null pHostObject=set\n");
}

Test(chip, knows_what_it_does_not_have)
{
	const char *const metrics[] = {READ, "weather__temperature.avg"};
	struct gt_chip chip = fake_chip("");

	cr_expect(eq(int, gt_chip_schedule(&chip, metrics, 2), 0));
	cr_expect(eq(int, gt_chip_schedule(&chip, metrics, 1), 1));
	chip.name = "GX999";
	cr_expect(eq(int, gt_chip_schedule(&chip, metrics, 1), -ENOTSUP));
	gt_chip_release(&chip);
}

enum { WANTED = 6, MOST = 4 };

/* Fits these into the chip's pass; what was taken, with commas between. */
static void fit(struct gt_chip *chip, struct gt_metric_wanted wanted[WANTED], const char *expected)
{
	const char *taken[MOST];
	char text[512] = "";
	size_t count = 0;

	cr_assert(eq(int, gt_chip_fit(chip, wanted, WANTED, taken, MOST, &count), 0));
	for (size_t i = 0; i < count; i++)
		strcat(strcat(text, i ? "," : ""), taken[i]);
	expect_text(text, expected);
}

Test(chip, fits_what_has_room_and_what_stands_in_for_it)
{
	struct gt_metric_wanted wanted[WANTED] = {
		{.metric = READ},
		{.metric = "lts__average_t_sector_hit_rate_realtime.pct"},
		{.metric = HITS, .instead = true},
		{.metric = WRITE, .instead = true},
		{.metric = "weather__temperature.avg"},
		{.metric = WARPS},
	};
	struct gt_chip chip = fake_chip("pm_room=2");

	fit(&chip, wanted, READ "," HITS);
	cr_expect(eq(int, wanted[0].outcome, GT_METRIC_TAKEN));
	cr_expect(eq(int, wanted[1].outcome, GT_METRIC_UNKNOWN));
	cr_expect(eq(int, wanted[2].outcome, GT_METRIC_TAKEN));
	cr_expect(eq(int, wanted[3].outcome, GT_METRIC_UNUSED));
	cr_expect(eq(int, wanted[4].outcome, GT_METRIC_UNKNOWN));
	cr_expect(eq(int, wanted[5].outcome, GT_METRIC_NO_ROOM));
	cr_expect(eq(int, gt_metric_outcome_of(wanted, WANTED, 1), GT_METRIC_TAKEN));
	cr_expect(eq(int, gt_metric_outcome_of(wanted, WANTED, 4), GT_METRIC_UNKNOWN));
	gt_chip_release(&chip);
}

/* Whatever was tried last and refused: what is sampled with is of those that were taken. */
Test(chip, is_left_with_the_configuration_of_what_fits)
{
	struct gt_metric_wanted wanted[WANTED] = {
		{.metric = READ},  {.metric = WRITE},
		{.metric = WARPS}, {.metric = "weather__temperature.avg"},
		{.metric = HITS},  {.metric = "pcie__read_bytes.sum"},
	};
	const char *const taken[] = {READ, WRITE};
	struct gt_chip chip = fake_chip("pm_room=2");
	uint8_t config[256];
	size_t size;

	fit(&chip, wanted, READ "," WRITE);
	size = chip.config.size;
	cr_assert(le(sz, size, sizeof(config)));
	memcpy(config, chip.config.bytes, size);
	cr_assert(eq(int, gt_chip_schedule(&chip, taken, 2), 1));
	cr_assert(eq(sz, chip.config.size, size));
	cr_expect(eq(int, memcmp(config, chip.config.bytes, size), 0));
	gt_chip_release(&chip);
}

Test(chip, fits_no_more_than_there_is_a_place_for)
{
	struct gt_metric_wanted wanted[WANTED] = {
		{.metric = READ},
		{.metric = WRITE},
		{.metric = WARPS},
		{.metric = HITS},
		{.metric = "pcie__read_bytes.sum"},
		{.metric = "pcie__write_bytes.sum"},
	};
	struct gt_chip chip = fake_chip("");

	fit(&chip, wanted, READ "," WRITE "," WARPS "," HITS);
	cr_expect(eq(int, wanted[4].outcome, GT_METRIC_NO_ROOM));
	cr_expect(eq(int, wanted[5].outcome, GT_METRIC_NO_ROOM));
	gt_chip_release(&chip);
}

Test(chip, tells_what_each_metric_is)
{
	struct gt_chip chip = fake_chip("");
	struct gt_metric_property property;
	struct gt_metric_names names;

	cr_assert(gt_chip_begin(&chip));
	cr_assert(gt_chip_property_of(&chip, READ, &property));
	expect_text(property.unit, "bytes");
	expect_text(property.help, "# of bytes read from DRAM");
	expect_text(property.hardware, "fake");
	cr_expect(not(gt_chip_property_of(&chip, "weather__temperature.avg", &property)));
	names = gt_chip_metrics(&chip, GT_METRIC_RATIO);
	cr_assert(ge(sz, names.count, 1));
	expect_text(names.names[0], "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime");
	names = gt_chip_forms(&chip, GT_METRIC_RATIO, names.names[0]);
	cr_assert(eq(sz, names.count, 1));
	expect_text(names.names[0], ".pct");
	gt_chip_release(&chip);
}

#ifdef GT_TEST_CUPTI
static const struct gt_metric_wanted of_default[] = {
#define COUNTER(name, unit, kind, set, group, text, help) {.metric = text},
#define INSTEAD(name, text)                               {.metric = text, .instead = true},
#include "format/kinds/pm_counters.def"
};

enum { DEFAULT = sizeof(of_default) / sizeof(of_default[0]) };

/* By the toolkit's own libcupti, which needs no GPU for it: all of the set fits into a pass. */
Test(chip, of_the_h200_samples_the_whole_default_set)
{
	struct gt_chip chip = chip_of(GT_TEST_CUPTI, "GH100", GT_CHIP_SAMPLES);
	struct gt_metric_wanted wanted[DEFAULT];
	const char *taken[DEFAULT];
	size_t count = 0;

	memcpy(wanted, of_default, sizeof(wanted));
	cr_assert(eq(int, gt_chip_fit(&chip, wanted, DEFAULT, taken, DEFAULT, &count), 0));
	for (size_t i = 0; i < DEFAULT; i++)
		if (!wanted[i].instead)
			cr_expect(eq(int, gt_metric_outcome_of(wanted, DEFAULT, i),
			             GT_METRIC_TAKEN),
			          "%s", wanted[i].metric);
	cr_expect(eq(int, gt_chip_schedule(&chip, taken, count), 1));
	gt_chip_release(&chip);
}
#endif
