/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "format/recording.h"
#include "replay/tune/variant.h"
#include "support/check.h"

/* The cubin that ptxas made of fixed.ptx, and the PTX itself (tests/cubins). */

static struct gt_content load(const char *path)
{
	struct gt_content content = {0};

	cr_assert(eq(int, gt_load_file(&content, path, NULL), 0));
	return content;
}

static struct gt_variant_code code_in(const char *path, const char *function)
{
	struct gt_content content = load(path);
	struct gt_variant_code code;

	gt_variant_code_read(&code, content.bytes, content.size, function);
	gt_unload(&content);
	return code;
}

static void expect_block(const struct gt_variant_code *code, uint32_t x, uint32_t y, uint32_t z)
{
	cr_expect(eq(u32, code->block[0], x));
	cr_expect(eq(u32, code->block[1], y));
	cr_expect(eq(u32, code->block[2], z));
}

#define CUBIN GT_TEST_DATA "/cubins/fixed_80.cubin"
#define PTX   GT_TEST_DATA "/cubins/fixed.ptx"

Test(variant_code, of_a_cubin_has_the_block_it_was_compiled_for)
{
	struct gt_variant_code code = code_in(CUBIN, "fixed");

	expect_block(&code, 128, 2, 1);
	cr_expect(not(code.ptx));
	cr_expect(not(code.python));
	code = code_in(CUBIN, "free");
	expect_block(&code, 0, 0, 0);
}

Test(variant_code, of_ptx_has_the_block_it_was_compiled_for)
{
	struct gt_variant_code code = code_in(PTX, "fixed");

	expect_block(&code, 128, 2, 1);
	cr_expect(code.ptx);
	code = code_in(PTX, "free");
	expect_block(&code, 0, 0, 0);
	cr_expect(code.ptx);
}

Test(variant_code, of_a_function_that_is_not_there_is_not_known)
{
	const struct gt_variant_code code = code_in(PTX, "fixed_not");

	cr_expect(not(code.ptx), "it stands in a comment");
	expect_block(&code, 0, 0, 0);
}

static struct gt_variant_code code_of(const char *ptx, const char *function)
{
	struct gt_variant_code code;

	gt_variant_code_read(&code, ptx, strlen(ptx), function);
	return code;
}

Test(variant_code, takes_what_reqntid_leaves_out_for_one)
{
	struct gt_variant_code code = code_of(".entry f()\n.reqntid 64\n{ ret; }", "f");

	expect_block(&code, 64, 1, 1);
	code = code_of("/* */.entry f ( .param .u64 a ) .reqntid 8,4 .minnctapersm 2 {}", "f");
	expect_block(&code, 8, 4, 1);
	code = code_of(".entry g() {} .entry f() {} .entry h() .reqntid 32 {}", "f");
	expect_block(&code, 0, 0, 0);
	cr_expect(code.ptx);
}

Test(variant_code, is_tritons_where_python_was_compiled_to_a_c_name)
{
	const char *text = ".entry softmax() { .loc 1 2 3; ret; }\n.file 1 \"/tmp/softmax.py\"\n";
	const char *numba = ".entry _Z7softmax() { ret; }\n.file 1 \"/tmp/softmax.py\"\n";

	cr_expect(code_of(text, "softmax").python);
	cr_expect(not(code_of(numba, "_Z7softmax").python));
	cr_expect(not(code_of(text, "other").python));
}

Test(variant_code, of_what_is_cut_anywhere_says_no_more_than_stands_there)
{
	struct gt_content cubin = load(CUBIN);
	struct gt_content ptx = load(PTX);
	struct gt_variant_code code;

	for (size_t size = 0; size < cubin.size; size++)
		gt_variant_code_read(&code, cubin.bytes, size, "fixed");
	for (size_t size = 0; size < ptx.size; size++) {
		gt_variant_code_read(&code, ptx.bytes, size, "fixed");
		cr_assert(code.block[0] == 0 || code.block[0] == 128 || code.block[0] == 12 ||
		          code.block[0] == 1);
	}
	gt_unload(&cubin);
	gt_unload(&ptx);
}
