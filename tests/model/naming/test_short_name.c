/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/short_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/demangle/demangle.h"
#include "base/strings.h"
#include "model/naming/kernel_names.h"
#include "model/naming/shape_names.h"
#include "support/check.h"

/* Real kernels: mangled name, short name, family, origin, with tabs between them. */
#define NAMES GT_TEST_DATA "/model/naming/kernel_names.tsv"

static void expect_short(const char *full, const char *expected)
{
	char text[GT_SHORT_NAME_MOST];

	cr_expect(eq(sz, gt_short_name(full, text, sizeof(text)), strlen(text)));
	expect_text(text, expected);
}

Test(short_name, leaves_of_a_function_what_tells_it_apart)
{
	expect_short("saxpy(int, float, float const*, float*)", "saxpy");
	expect_short("void app::(anonymous namespace)::scale<float, 4>(float*)", "scale<float, 4>");
	expect_short("std::enable_if<(a)>(b), int>::type app::f<c10::Half>(int)", "f<fp16>");
	expect_short("void f<(a::Order)3, -1, 7ul, true>()", "f<3, -1, 7, true>");
	expect_short("void f<float, float, float>()", "f<float>");
	expect_short("void f<half_pair, pair>()", "f<half_pair, pair>");
	expect_short("void f<pair, half_pair, pair>()", "f<pair, half_pair>");
	expect_short("a::operator()(int) const", "a");
	expect_short("void f<g(int)::{lambda()#1}::operator()() const::{lambda(double)#2}>(int)",
	             "f<g<double>>");
}

/* Its bytes are all that there are: the address sanitizer sees a read of one more. */
Test(short_name, reads_no_byte_behind_a_name)
{
	char *const full = strdup("f b");

	cr_expect(lt(int, gt_origin_of(full), GT_ORIGIN_COUNT));
	expect_short(full, "f b");
	free(full);
}

Test(short_name, is_the_name_itself_where_that_is_no_cpp)
{
	expect_short("triton_red_fused_add_0", "triton_red_fused_add_0");
	expect_short("loop_multiply_fusion", "loop_multiply_fusion");
	expect_short("", "");
}

static unsigned check_line(char *line, unsigned *wide)
{
	char text[GT_SHORT_NAME_MOST];
	char *rest = line;
	const char *mangled = strsep(&rest, "\t");
	const char *expected = strsep(&rest, "\t");
	const char *family = strsep(&rest, "\t");
	const char *origin = strsep(&rest, "\n");
	char *full = gt_demangle(mangled);

	cr_assert(origin != NULL);
	*wide += gt_short_name(full ? full : mangled, text, sizeof(text)) > GT_SHORT_NAME_WIDTH;
	cr_expect(eq(str, text, (char *)expected), "%s", mangled);
	cr_expect(eq(str, (char *)gt_family_name(gt_family_of(text)), (char *)family), "%s",
	          mangled);
	cr_expect(eq(str, (char *)gt_origin_name(gt_origin_of(full ? full : mangled)),
	             (char *)origin),
	          "%s", mangled);
	free(full);
	return 1;
}

Test(short_name, of_hundreds_of_real_kernels_is_as_expected_and_fits)
{
	FILE *file = fopen(NAMES, "r");
	char *line = NULL;
	size_t size = 0;
	unsigned count = 0;
	unsigned wide = 0;

	cr_assert(file != NULL);
	while (getline(&line, &size, file) > 0)
		count += check_line(line, &wide);
	free(line);
	fclose(file);
	cr_expect(ge(u32, count, 300));
	cr_expect(le(u32, wide * 20, count), "%u of %u are wide", wide, count);
}

/* Unbalanced, deep and long: whatever comes out is a text, soon. */
Test(short_name, bears_names_that_are_none, .timeout = 10)
{
	static const char *const pieces[] = {"f<", "(", "a::", "{lambda(",       ">",
	                                     ")",  ",", "<>",  "reduce_kernel<", "operator<",
	                                     "-",  " "};
	const size_t size = 1 << 20;
	char text[GT_SHORT_NAME_MOST];
	char *name = gt_allocate(size + 32);

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		for (size_t length = 1; length < size; length = length * 8 + 1) {
			size_t at = 0;

			while (at < length)
				at += (size_t)sprintf(name + at, "%s", pieces[i]);
			cr_expect(lt(sz, gt_short_name(name, text, sizeof(text)), sizeof(text)));
			cr_expect(lt(sz, gt_short_name(name, text, 4), 4));
		}
	free(name);
}

/* Each level asks for the one below twice, by its rule. */
Test(short_name, bears_rules_inside_of_rules, .timeout = 10)
{
	char name[8192] = "void reduce_kernel<1, 2, ";
	char text[GT_SHORT_NAME_MOST];

	for (unsigned i = 0; i < 200; i++)
		strcat(name, "BinaryFunctor<0, 1, 2, ");
	strcat(name, "float");
	for (unsigned i = 0; i < 200; i++)
		strcat(name, ">");
	strcat(name, ">(int)");
	cr_expect(gt(sz, gt_short_name(name, text, sizeof(text)), 0));
}

Test(short_name, of_a_shape_falls_back_to_the_next_longer_one)
{
	struct gt_trace trace;
	struct gt_launch_shape shape = {0};

	gt_trace_init(&trace);
	expect_text(gt_shape_text(&trace, &shape, GT_NAMES_SHORT), "");
	shape.name = gt_strings_add(trace.strings, "_Z1fv");
	expect_text(gt_shape_text(&trace, &shape, GT_NAMES_SHORT), "_Z1fv");
	shape.demangled = gt_strings_add(trace.strings, "f()");
	expect_text(gt_shape_text(&trace, &shape, GT_NAMES_SHORT), "f()");
	shape.short_name = gt_strings_add(trace.strings, "f");
	expect_text(gt_shape_text(&trace, &shape, GT_NAMES_SHORT), "f");
	expect_text(gt_shape_text(&trace, &shape, GT_NAMES_FULL), "f()");
	expect_text(gt_shape_text(&trace, &shape, GT_NAMES_MANGLED), "_Z1fv");
	expect_text(gt_shape_name(&trace, GT_NONE), "(name not known)");
	gt_trace_release(&trace);
}
