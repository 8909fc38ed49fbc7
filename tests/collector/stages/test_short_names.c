/* SPDX-License-Identifier: Apache-2.0 */
/* Covers STAGE(short_names). */
#include "base/array.h"
#include "collector/collect.h"
#include "model/naming/kernel_names.h"

Test(short_names, tell_apart_the_kernels_of_all_captures_and_say_what_they_are_for)
{
	static const char *const mangled[] = {"_Z1kI7ReduceAIfEEvT_",   "_Z1kI7ReduceAIdEEvT_",
	                                      "_Z12reduce_thingPf",     "_Z1kILi4EEvv",
	                                      "ampere_sgemm_128x64_nn", "plain"};
	static const char *const brief[] = {"k<ReduceA<float>>",
	                                    "k<ReduceA<double>>",
	                                    "reduce_thing",
	                                    "k<4>",
	                                    "gemm 128x64 nn fp32 (ampere)",
	                                    "plain"};
	static const enum gt_family families[] = {GT_FAMILY_reduction, GT_FAMILY_reduction,
	                                          GT_FAMILY_reduction, GT_FAMILY_other,
	                                          GT_FAMILY_gemm,      GT_FAMILY_other};
	static const enum gt_kernel_origin origins[] = {GT_ORIGIN_other,  GT_ORIGIN_other,
	                                                GT_ORIGIN_other,  GT_ORIGIN_other,
	                                                GT_ORIGIN_cublas, GT_ORIGIN_unknown};
	struct recording recording;
	struct gt_trace trace;

	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	for (uint32_t i = 0; i < 6; i++) {
		recording_add_string(&recording, STRING_NEXT + i, mangled[i]);
		recording_add(&recording, shape, .id = SHAPE + 1 + i, .name = STRING_NEXT + i);
		recording_add(&recording, kernel, .start_ns = 2000 + i, .end_ns = 2010 + i,
		              .shape = SHAPE + 1 + i, .context = CONTEXT, .stream = STREAM);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	for (uint32_t i = 0; i < 6; i++) {
		const struct gt_launch_shape *shape =
			&trace.launch_shapes.rows[trace.kernels.rows[i].shape];

		expect_text(gt_trace_text(&trace, shape->short_name), brief[i]);
		cr_expect(eq(u32, shape->family, families[i]));
		cr_expect(eq(u32, shape->origin, origins[i]));
		expect_text(gt_trace_text(&trace, shape->tile), i == 4 ? "128x64" : "");
	}
	gt_trace_release(&trace);
	recording_release(&recording);
}
