/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "analysis/result.h"
#include "cli/info/tables.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "support/check.h"
#include "support/scene.h"

static struct gt_result result;

static void begin(void)
{
	scene_begin(1000);
	gt_result_init(&result);
}

static void end(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(info_memory, .init = begin, .fini = end);

/* All that happened with memory of one kind. */
struct amounts {
	int64_t freed;
	int64_t kept;
	int64_t failed;
};

enum { CALL_NS = 100, KIND_BYTES = 8 };

static void add(gt_count kind, const struct amounts *amounts)
{
	const gt_id call = trace_call(&trace, thread, "cudaMalloc", CALL_NS, CALL_NS + 5);

	for (int64_t i = 0; i < amounts->freed; i++)
		trace_allocation(&trace, call, device, kind, KIND_BYTES, 500);
	for (int64_t i = 0; i < amounts->kept; i++)
		trace_allocation(&trace, call, device, kind, KIND_BYTES, 0);
	for (int64_t i = 0; i < amounts->failed; i++)
		trace_memory_call(&trace, call, kind, KIND_BYTES, 2);
	trace_memory_call(&trace, call, kind, KIND_BYTES, 0);
}

static const struct gt_cell *row_of(const struct gt_section *section, const char *kind)
{
	for (size_t i = 0; i < gt_section_row_count(section); i++)
		if (strcmp(gt_section_row(section, i)[0].text, kind) == 0)
			return gt_section_row(section, i);
	return NULL;
}

/* Kinds of which anything is to be said have a row, with each of its numbers. */
static void expect(gt_count kind, const struct amounts *amounts)
{
	const struct gt_cell *row =
		row_of(gt_result_find(&result, "memory"), gt_memory_call_name(kind));
	const int64_t made = amounts->freed + amounts->kept;

	cr_expect(eq(int, row != NULL, made + amounts->failed > 0), "kind %u", kind);
	if (!row)
		return;
	cr_expect(eq(i64, row[1].count, made), "kind %u", kind);
	cr_expect(eq(i64, row[2].count, made * KIND_BYTES), "kind %u", kind);
	cr_expect(eq(i64, row[3].count, amounts->kept), "kind %u", kind);
	cr_expect(eq(i64, row[4].count, amounts->kept * KIND_BYTES), "kind %u", kind);
	cr_expect(eq(i64, row[5].count, amounts->failed), "kind %u", kind);
}

/* Each of the kinds that make something, with none of all that may happen, or some. */
Test(info_memory, says_all_that_happened_with_each_kind)
{
	static const gt_count kinds[] = {
#define MAKES(number) (number),
#define ENDS(number)
#define TELLS(number)
#define MEMORY_KIND(name, number, does, space, words) does(number)
#include "format/kinds/memory.def"
	};

	for (size_t turn = 0; turn < 8; turn++) {
		struct amounts amounts[GT_COUNT_OF(kinds)];

		if (turn > 0) {
			end();
			begin();
		}
		for (size_t i = 0; i < GT_COUNT_OF(kinds); i++) {
			const size_t which = (i + turn) % 8;

			amounts[i] = (struct amounts){
				.freed = which & 1 ? (int64_t)i + 1 : 0,
				.kept = which & 2 ? (int64_t)i + 2 : 0,
				.failed = which & 4 ? (int64_t)i + 3 : 0,
			};
			add(kinds[i], &amounts[i]);
		}
		gt_info_add_memory(&result, &trace);
		for (size_t i = 0; i < GT_COUNT_OF(kinds); i++)
			expect(kinds[i], &amounts[i]);
	}
}
