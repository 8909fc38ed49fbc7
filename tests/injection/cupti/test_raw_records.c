/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/raw_records.h"

#include "injection/cupti/cupti.h"
#include "injection/cupti/layout.h"
#include "injection/recorder.h"

/* A buffer of records as CUPTI walks through it, each so many bytes after the one before. */

enum { MOST_RECORDS = 8 };

static struct recorder recorder;
static struct gt_cupti cupti;
static uint8_t buffer[4 * 8192];
static uint32_t offsets[MOST_RECORDS];
static uint32_t count;
static CUptiResult last;
static uint32_t seen;

static CUptiResult next_record(uint8_t *bytes, size_t size, CUpti_Activity **record)
{
	(void)size;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *at = bytes + offsets[i];

		if (i == 0 ? *record == NULL : (uint8_t *)*record == bytes + offsets[i - 1]) {
			*record = (CUpti_Activity *)at;
			return CUPTI_SUCCESS;
		}
	}
	return last;
}

static void make(void)
{
	recorder_init(&recorder);
	cupti.cuptiActivityGetNextRecord = next_record;
	last = CUPTI_ERROR_MAX_LIMIT_REACHED;
}

TestSuite(raw_records, .init = make);

static void add(uint32_t offset)
{
	const uint32_t kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

	memcpy(buffer + offset, &kind, sizeof(kind));
	offsets[count++] = offset;
}

static void see(void *context, const uint8_t *record)
{
	(void)context;
	cr_expect(eq(ptr, (void *)(uintptr_t)record, buffer + offsets[seen]));
	seen++;
}

static uint32_t *size_of_kernels(void)
{
	return &recorder.arena->header->layout.sizes[GT_ACTIVITY_kernel];
}

static void walk(void)
{
	gt_each_raw_record(&cupti, recorder.arena, buffer, sizeof(buffer), see, NULL);
	cr_expect(eq(u32, seen, count));
}

Test(raw_records, tell_how_large_they_are_by_their_distance)
{
	const uint32_t known = *size_of_kernels();

	recorder.arena->slots[0].scanned = 77;
	add(0);
	add(known + 64);
	walk();
	cr_expect(eq(u32, *size_of_kernels(), known + 64));
	cr_expect(eq(u32, recorder.arena->slots[0].scanned, 0), "names lie elsewhere now");
}

Test(raw_records, are_never_smaller_than_known_nor_larger_than_can_be)
{
	const uint32_t known = *size_of_kernels();

	add(0);
	add(known - 8);
	add(known - 8 + 5000);
	walk();
	cr_expect(eq(u32, *size_of_kernels(), known));
}

Test(raw_records, after_one_that_CUPTI_cannot_read_are_counted_as_lost_once)
{
	add(0);
	walk();
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_unknown_records), 0));
	seen = 0;
	last = CUPTI_ERROR_INVALID_KIND;
	walk();
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_unknown_records), 1));
}

/* An arena with fields outside of its records is taken for damaged, and nobody salvages it. */
Test(raw_records, lie_inside_their_sizes_in_every_cupti)
{
	static const uint32_t versions[] = {
		0, 18, GT_CUPTI_12_4, GT_CUPTI_12_8, GT_CUPTI_12_9, GT_CUPTI_13_0, UINT32_MAX};
	struct gt_activity_layout layout;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		gt_layout_fill(&layout, versions[i]);
		cr_expect(eq(int, gt_activity_layout_check(&layout), 0), "version %u", versions[i]);
	}
}
