/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/layout.h"

#include "format/activity.h"
#include "injection/cupti/cupti.h"
#include "support/check.h"

/* Who finds the arena of a dead process refuses one whose records are shorter than their fields. */
Test(layout, of_every_version_has_its_fields_inside_its_records)
{
	static const uint32_t versions[] = {
		0, GT_CUPTI_12_4, GT_CUPTI_12_8, GT_CUPTI_12_9, GT_CUPTI_13_0, UINT32_MAX};

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct gt_activity_layout layout = {0};

		gt_layout_fill(&layout, versions[i]);
		cr_expect(eq(int, gt_activity_layout_check(&layout), 0), "version %u", versions[i]);
	}
}

Test(layout, leaves_out_what_a_shorter_record_does_not_have)
{
	struct gt_activity_layout layout = {0};

	gt_layout_fill(&layout, GT_CUPTI_12_4);
	cr_expect(eq(u16, layout.places[GT_RAW_unified_processors].width, 0));
	cr_expect(eq(u16, layout.places[GT_RAW_unified_detail].width, 4));
	gt_layout_fill(&layout, GT_CUPTI_13_0);
	cr_expect(eq(u16, layout.places[GT_RAW_unified_processors].width, 8));
}
