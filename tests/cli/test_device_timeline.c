/* SPDX-License-Identifier: Apache-2.0 */
/* The launch that report device-events draws, as people see it. */
#include <stdlib.h>

#include "analysis/check_report.h"
#include "base/array.h"
#include "cli/render/render.h"
#include "support/scene.h"

enum { BLOCKS = 48, SMS = 24, STEP = 6000, SLOW = 41 };

/* When a block begins: in two waves, one multiprocessor after the other. */
static gt_time begin_of(gt_count block)
{
	return (block < SMS ? 2000 : 28000) + block % SMS * 30;
}

static void add_phase(gt_count wave, const char *name, gt_time after_ns, gt_time lasts_ns)
{
	for (gt_count block = wave * SMS; block < (wave + 1) * SMS; block++) {
		const gt_time start_ns = begin_of(block) + after_ns;

		if (after_ns < 4 * STEP || block == SLOW)
			trace_device_event(&trace, 0, GT_DEVICE_RANGE, name, block, start_ns,
			                   start_ns + lasts_ns)
				->sm = block % SMS;
	}
}

/*
 * Blocks load, compute and store four times; one of the second wave five times. Added step by step,
 * since the table is in order of time.
 */
static void make_launch(void)
{
	scene_begin(1000000);
	trace_kernel(&trace, stream, shape, 1000, 61000);
	for (gt_count wave = 0; wave < BLOCKS / SMS; wave++)
		for (gt_time now_ns = 0; now_ns < 5 * STEP; now_ns += STEP) {
			add_phase(wave, "load", now_ns, 1600);
			add_phase(wave, "compute", now_ns + 1600, 3600);
			add_phase(wave, "store", now_ns + 5200, 700);
		}
}

static char *render(size_t width)
{
	const struct gt_rendering rendering = {
		.style = GT_STYLE_TEXT, .limit = GT_LIMIT_NONE, .width = width};
	struct gt_result result;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	run_report(&result, "device-events", &trace);
	cr_assert(eq(int,
	             gt_render(&rendering, &(struct gt_named_result){"device-events", &result}, 1,
	                       out, NULL),
	             0));
	fclose(out);
	gt_result_release(&result);
	return text;
}

/* No line is wider than the page, and all of it is ASCII. */
static void expect_fits(const char *text, size_t width)
{
	size_t columns = 0;

	for (; *text; text++) {
		const bool known = *text == '\n' || (*text >= ' ' && *text <= '~');

		cr_assert(known);
		columns = *text == '\n' ? 0 : columns + 1;
		cr_assert(columns <= width);
	}
}

Test(device_timeline, fits_a_terminal)
{
	char *at_80;
	char *at_60;

	make_launch();
	at_80 = render(80);
	at_60 = render(60);
	expect_fits(at_80, 80);
	expect_fits(at_60, 60);
	cr_expect(
		strstr(at_80,
	               "\nSM    until  timeline\n"
	               "0   50.9 us  llccccllcccsllcccslccccs.llcccslccccllcccslccccs........\n") !=
		NULL);
	cr_expect(strstr(at_80,
	                 "\n17  57.4 us  .llcccsllcccslcccsllcccs.llccccllcccslccccllcccsllcccs..\n"
	                 "18  51.4 us  ") != NULL);
	cr_expect(strstr(at_80, "SM 17 is the last: it ends 6.18 us (10.3% of the kernel) after") !=
	          NULL);
	free(at_60);
	free(at_80);
	gt_trace_release(&trace);
}
