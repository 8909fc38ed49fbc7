/* SPDX-License-Identifier: Apache-2.0 */
/* Covers STAGE(ceilings). */
#include "model/gpu/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collector/recorded.h"
#include "support/check.h"
#include "support/recording.h"

static void prepare(void)
{
	make();
	finish();
}

TestSuite(ceilings, .init = prepare, .fini = drop);

/* Leaves a file beside the capture and reads all of it again. */
static void leave(const char *text)
{
	recording_add_file(&recording, "node-1-7.calibration", text, strlen(text));
	gt_trace_release(&trace);
	trace = collect(&recording);
}

static size_t count_of(enum gt_ceiling_source source)
{
	size_t count = 0;

	gt_array_each(const struct gt_ceiling, row, &trace.ceilings)
		count += row->source == source;
	return count;
}

#define HEAD                                                                                       \
	"{\"version\":1,\"calibrations\":[{\"uuid\":\"%s\",\"driver\":\"580.1\","                  \
	"\"date\":\"2026-01-02T03:04:05Z\",\"ceilings\":["

static void leave_of(const char *uuid, const char *ceilings)
{
	char text[1024];

	snprintf(text, sizeof(text), HEAD "%s]}]}", uuid, ceilings);
	leave(text);
}

static const char *uuid(void)
{
	return gt_trace_text(&trace, trace.devices.rows[0].uuid);
}

Test(ceilings, are_those_that_were_measured_of_this_gpu)
{
	struct gt_ceiling_pair pair;

	leave_of(uuid(),
	         "{\"name\":\"dram_read\",\"value\":4e12,\"spread\":0.01,\"how\":\"kernel\"}");
	pair = gt_ceilings_of(&trace, 0, GT_CEILING_dram_read);
	cr_assert(pair.measured != NULL);
	cr_expect(eq(dbl, pair.measured->value, 4e12));
	cr_expect(eq(dbl, pair.measured->spread, 0.01));
	cr_expect(eq(u32, pair.measured->source, GT_CEILING_HERE));
	expect_text(gt_trace_text(&trace, pair.measured->unit), "bytes/s");
	expect_text(gt_trace_text(&trace, pair.measured->measured),
	            "kernel; 2026-01-02, driver 580.1");
}

Test(ceilings, of_another_gpu_are_not_this_ones)
{
	leave_of("GPU-another", "{\"name\":\"dram_read\",\"value\":4e12}");
	cr_expect(eq(sz, count_of(GT_CEILING_HERE), 0));
}

Test(ceilings, that_were_not_measured_have_no_row)
{
	leave_of(uuid(), "{\"name\":\"tensor_fp8\",\"how\":\"it cannot\"},"
	                 "{\"name\":\"peer_copy\",\"peer\":\"GPU-elsewhere\",\"value\":1e11}");
	cr_expect(eq(sz, count_of(GT_CEILING_HERE), 0));
}

Test(ceilings, of_a_link_name_both_gpus)
{
	char ceilings[256];

	snprintf(ceilings, sizeof(ceilings),
	         "{\"name\":\"peer_copy\",\"peer\":\"%s\",\"value\":1e11}", uuid());
	leave_of(uuid(), ceilings);
	cr_assert(eq(sz, count_of(GT_CEILING_HERE), 1));
	gt_array_each(const struct gt_ceiling, row, &trace.ceilings)
		if (row->source == GT_CEILING_HERE)
			cr_expect(eq(u32, row->peer, 0));
}

Test(ceilings, that_cannot_be_read_are_noted)
{
	leave("{");
	cr_expect(eq(sz, count_of(GT_CEILING_HERE), 0));
	cr_expect(gt(sz, trace.notes.count, 0));
	cr_expect(strstr(gt_trace_text(&trace, trace.notes.rows[0].text),
	                 "node-1-7.calibration is damaged") != NULL);
}

/* A device of which the driver said clocks and widths. */
static void add_device(uint32_t bus_bits)
{
	recording_begin(&recording, "node-2-2");
	recording_add_basics(&recording, 2);
	recording_add_string(&recording, STRING_NEXT, "GPU-sheet");
	recording_add(&recording, device, .ordinal = 1, .uuid = STRING_NEXT, .cc_major = 9,
	              .sm_count = 100, .sm_clock_khz = 1000000, .memory_clock_khz = 1000000,
	              .memory_bus_bits = bus_bits);
	recording_end(&recording, true);
	gt_trace_release(&trace);
	trace = collect(&recording);
}

static gt_id device_of(const char *wanted)
{
	for (gt_id row = 0; row < trace.devices.count; row++)
		if (strcmp(gt_trace_text(&trace, trace.devices.rows[row].uuid), wanted) == 0)
			return row;
	return GT_NONE;
}

Test(ceilings, follow_from_clocks_and_widths)
{
	struct gt_ceiling_pair pair;

	add_device(4096);
	pair = gt_ceilings_of(&trace, device_of("GPU-sheet"), GT_CEILING_dram_copy);
	cr_assert(pair.theoretical != NULL);
	cr_expect(eq(dbl, pair.theoretical->value, 1e9 * 2 * 512));
	cr_expect(isnan(pair.theoretical->spread));
	expect_text(gt_trace_text(&trace, pair.theoretical->measured), "");
	cr_expect(pair.measured == NULL);
}

Test(ceilings, that_the_driver_did_not_say_are_not_there)
{
	struct gt_ceiling_pair pair;

	add_device(0);
	pair = gt_ceilings_of(&trace, device_of("GPU-sheet"), GT_CEILING_dram_copy);
	cr_expect(pair.theoretical == NULL);
	pair = gt_ceilings_of(&trace, device_of("GPU-sheet"), GT_CEILING_fp32);
	cr_expect(pair.theoretical != NULL);
}
