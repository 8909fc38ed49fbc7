/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/name_patterns.h"

#include <string.h>

#include "model/naming/kernel_names.h"
#include "support/check.h"

/* Whether a pattern alone fits a name. */
static bool fits(const char *pattern, const char *name)
{
	const struct gt_name_pattern patterns[] = {{pattern, 1}};

	return gt_name_match(patterns, 1, name, 0) == 1;
}

Test(name_patterns, fit_anywhere_in_whatever_case)
{
	cr_expect(fits("gemm", "ampere_SGEMM_128"));
	cr_expect(fits("gemm", "gem gemm"));
	cr_expect(fits("aab", "aaab"));
	cr_expect(not(fits("gemm", "gem")));
	cr_expect(not(fits("gemm", "")));
}

Test(name_patterns, know_the_beginning_the_end_numbers_and_what_is_between)
{
	cr_expect(fits("^fusion", "fusion_1"));
	cr_expect(not(fits("^fusion", "loop_fusion")));
	cr_expect(fits("^fusion_#$", "fusion_12"));
	cr_expect(not(fits("^fusion_#$", "fusion_")));
	cr_expect(not(fits("^fusion_#$", "fusion_12_kernel")));
	cr_expect(fits("^loop_*fusion", "loop_add_multiply_fusion_3"));
	cr_expect(fits("^loop_*fusion", "loop_fusion"));
	cr_expect(not(fits("^loop_*fusion", "loop_launch")));
	cr_expect(not(fits("^loop_*fusion", "fusion_loop_")));
	cr_expect(fits("^sm#_xmma_", "sm90_xmma_gemm"));
}

Test(name_patterns, are_tried_in_their_order)
{
	const struct gt_name_pattern patterns[] = {{"nontranspose", 1}, {"transpose", 2}};

	cr_expect(eq(u32, gt_name_match(patterns, 2, "nontranspose_kernel", 9), 1));
	cr_expect(eq(u32, gt_name_match(patterns, 2, "transpose_kernel", 9), 2));
	cr_expect(eq(u32, gt_name_match(patterns, 2, "kernel", 9), 9));
}

Test(name_patterns, look_at_the_beginning_of_a_long_name)
{
	char name[2 * GT_NAME_PATTERN_MOST];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memcpy(name + GT_NAME_PATTERN_MOST, "gemm", 4);
	cr_expect(not(fits("gemm", name)));
	memcpy(name, "gemm", 4);
	cr_expect(fits("gemm", name));
}

static void expect_origin(const char *full_name, const char *origin)
{
	cr_expect(eq(str, (char *)gt_origin_name(gt_origin_of(full_name)), (char *)origin), "%s",
	          full_name);
}

Test(origins, are_those_of_the_function_and_not_of_its_arguments)
{
	expect_origin("void at::native::f<cub::X>(int)", "PyTorch");
	expect_origin("void mine::f<at::native::X>(cutlass::half_t)", "own or other");
	expect_origin("std::enable_if<(a)>(b), int>::type cub::f<c10::Half>(int)", "CUB/Thrust");
	expect_origin("setup(curandStateXORWOW*)", "own or other");
}

Test(origins, are_not_known_where_anybody_may_give_the_name)
{
	expect_origin("matmul_kernel", "not known");
	expect_origin("triton_", "not known");
	expect_origin("fusion_kernel", "not known");
	expect_origin("", "not known");
	expect_origin("_Z9broken", "own or other");
	cr_expect(eq(str, (char *)gt_origin_name(GT_ORIGIN_COUNT), "not known"));
}
