/* SPDX-License-Identifier: Apache-2.0 */
#include "format/activity.h"

#include <errno.h>

#include "support/check.h"

/* The smallest layout that is good: no record has any field but its kind. */
static void make_bare(struct gt_activity_layout *layout)
{
	*layout = (struct gt_activity_layout){0};
	for (int i = 0; i < GT_ACTIVITY_COUNT; i++)
		layout->sizes[i] = 8;
}

Test(activity, knows_the_kinds_it_reads_and_no_others)
{
	static const struct {
		uint32_t kind;
		enum gt_cupti_activity activity;
	} kinds[] = {
#define ACTIVITY(name, number, kind, type, record, how) {number, GT_ACTIVITY_##name},
#define RAW(name, field, member)
#include "format/activity.def"
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cr_expect(eq(int, gt_activity_of_kind(kinds[i].kind), kinds[i].activity));
	cr_expect(eq(int, gt_activity_of_kind(3), GT_ACTIVITY_kernel));
	cr_expect(eq(int, gt_activity_of_kind(0), GT_ACTIVITY_COUNT));
	cr_expect(eq(int, gt_activity_of_kind(UINT32_MAX), GT_ACTIVITY_COUNT));
	cr_expect(eq(int, gt_activity_of_kind(10 | GT_RAW_KIND_OPEN), GT_ACTIVITY_COUNT));
}

Test(activity, reads_fields_of_every_width)
{
	static const uint8_t record[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	static const struct {
		uint16_t width;
		uint64_t value;
	} cases[] = {{0, 0}, {1, 0x01},       {2, 0x0201},
	             {3, 0}, {4, 0x04030201}, {8, 0x0807060504030201}};
	struct gt_activity_layout layout;

	make_bare(&layout);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		layout.places[GT_RAW_kernel_start_ns] = (struct gt_raw_place){1, cases[i].width};
		cr_expect(eq(u64, gt_raw_get(&layout, record, GT_RAW_kernel_start_ns),
		             cases[i].value),
		          "width %u", cases[i].width);
	}
}

Test(activity, layout_must_lie_inside_its_records)
{
	struct gt_activity_layout layout;

	make_bare(&layout);
	cr_expect(eq(int, gt_activity_layout_check(&layout), 0));
	for (int field = 0; field < GT_RAW_COUNT; field++) {
		make_bare(&layout);
		layout.places[field] = (struct gt_raw_place){4, 4};
		cr_expect(eq(int, gt_activity_layout_check(&layout), 0), "field %d", field);
		layout.places[field] = (struct gt_raw_place){5, 4};
		cr_expect(eq(int, gt_activity_layout_check(&layout), -EBADMSG), "field %d", field);
		layout.places[field] = (struct gt_raw_place){UINT16_MAX, UINT16_MAX};
		cr_expect(eq(int, gt_activity_layout_check(&layout), -EBADMSG), "field %d", field);
	}
}

Test(activity, sizes_must_be_sensible)
{
	static const uint32_t bad[] = {0, 7, 4097, UINT32_MAX};
	struct gt_activity_layout layout;

	for (int activity = 0; activity < GT_ACTIVITY_COUNT; activity++) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			make_bare(&layout);
			layout.sizes[activity] = bad[i];
			cr_expect(eq(int, gt_activity_layout_check(&layout), -EBADMSG));
		}
		layout.sizes[activity] = 4096;
		cr_expect(eq(int, gt_activity_layout_check(&layout), 0));
	}
}
