/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/memory/layout.h"
#include "support/bundle.h"
#include "support/check.h"

static struct test_bundle made;
static struct gt_layout layout;
static struct gt_relocation relocation;

enum { SAXPY = 2, SCALE = 5 }; /* steps of the sequence */

static void prepare(void)
{
	static const struct gt_layout_options options = {.granularity = 2u << 20,
	                                                 .host_granularity = 4096};

	test_bundle_begin(&made);
	test_bundle_add_sequence(&made);
	cr_assert(eq(int, gt_layout_plan(&layout, &made.bundle, &options, NULL), 0));
	gt_relocation_init(&relocation, &made.bundle);
}

static void drop(void)
{
	gt_relocation_release(&relocation);
	gt_layout_release(&layout);
	test_bundle_release(&made);
}

TestSuite(relocation, .init = prepare, .fini = drop);

static int64_t apply(uint32_t memory, uint32_t step, uint64_t *words, size_t count,
                     struct gt_error *err)
{
	struct gt_relocated contents = {words, count * sizeof(*words)};

	return gt_relocation_apply(&relocation, &layout, memory, step, &contents, err);
}

Test(relocation, changes_nothing_where_nothing_moved)
{
	uint64_t table[] = {BUNDLE_Y_ADDRESS, BUNDLE_Z_ADDRESS};
	char text[256];

	cr_expect(eq(i64, apply(BUNDLE_TABLE, 0, table, 2, NULL), 0));
	cr_expect(eq(u64, table[0], BUNDLE_Y_ADDRESS));
	cr_expect(eq(int, gt_relocation_trust(&relocation, &layout, text, sizeof(text), NULL), 0));
	expect_text(text, "");
}

Test(relocation, rewrites_addresses_of_what_moved_in_parameters)
{
	uint64_t block[] = {0x4000000000000100, BUNDLE_X_ADDRESS, BUNDLE_Y_ADDRESS};

	gt_layout_put(&layout, BUNDLE_X, 0x500000);
	cr_expect(eq(i64, apply(GT_BUNDLE_NONE, SAXPY, block, 3, NULL), 1));
	cr_expect(eq(u64, block[0], 0x4000000000000100));
	cr_expect(eq(u64, block[1], 0x500000));
	cr_expect(eq(u64, block[2], BUNDLE_Y_ADDRESS));
}

Test(relocation, tells_the_parameters_of_steps_apart)
{
	uint64_t block[] = {BUNDLE_TABLE_ADDRESS, 256};

	gt_layout_move(&layout, layout.places.rows[BUNDLE_TABLE].range, 64ull << 30);
	cr_expect(eq(i64, apply(GT_BUNDLE_NONE, SCALE, block, 2, NULL), 1));
	cr_expect(eq(u64, block[0], layout.places.rows[BUNDLE_TABLE].address));
	cr_expect(eq(u64, block[1], 256));
}

Test(relocation, rewrites_addresses_in_memory_with_what_is_added_to_them)
{
	uint64_t table[] = {BUNDLE_Y_ADDRESS + 1024, BUNDLE_Z_ADDRESS + 12};

	gt_layout_put(&layout, BUNDLE_Y, 0x600000);
	gt_layout_put(&layout, BUNDLE_Z, 0x700000);
	cr_expect(eq(i64, apply(BUNDLE_TABLE, 0, table, 2, NULL), 2));
	cr_expect(eq(u64, table[0], 0x600000 + 1024), "the end of y");
	cr_expect(eq(u64, table[1], 0x700000 + 12));
}

Test(relocation, changes_nothing_when_an_address_leads_elsewhere)
{
	uint64_t table[] = {BUNDLE_Y_ADDRESS, BUNDLE_X_ADDRESS};
	struct gt_error err = {0};

	gt_layout_put(&layout, BUNDLE_Y, 0x600000);
	gt_layout_put(&layout, BUNDLE_Z, 0x700000);
	cr_expect(eq(i64, apply(BUNDLE_TABLE, 0, table, 2, &err), -EBADMSG));
	expect_text(err.text, "the address in memory 3, byte 8 does not lead to memory 2");
	cr_expect(eq(u64, table[0], BUNDLE_Y_ADDRESS));
	cr_expect(eq(i64, apply(BUNDLE_TABLE, 0, table, 1, &err), -EBADMSG));
	expect_text(err.text, "the address in memory 3, byte 8 is behind its 8 bytes");
}

Test(relocation, refuses_addresses_that_overlap)
{
	uint64_t table[] = {BUNDLE_Y_ADDRESS, BUNDLE_Z_ADDRESS};
	struct gt_error err = {0};

	made.bundle.pointers.rows[0].offset = 4;
	gt_relocation_release(&relocation);
	gt_relocation_init(&relocation, &made.bundle);
	gt_array_each(struct gt_bundle_pointer, pointer, &made.bundle.pointers)
		if (pointer->memory == BUNDLE_TABLE)
			pointer->offset = 4;
	gt_layout_put(&layout, BUNDLE_Y, 0x600000);
	gt_layout_put(&layout, BUNDLE_Z, 0x700000);
	table[0] = BUNDLE_Y_ADDRESS << 32;
	table[1] = BUNDLE_Y_ADDRESS >> 32;
	cr_expect(eq(i64, apply(BUNDLE_TABLE, 0, table, 2, &err), -EBADMSG));
	expect_text(err.text, "the address in memory 3, byte 4 overlaps the one before");
}

Test(relocation, rewrites_what_addresses_became_in_contents_afterwards)
{
	/* Changed places, as double buffers do; then one that is no address any more. */
	uint64_t swapped[] = {BUNDLE_Z_ADDRESS, BUNDLE_Y_ADDRESS + 4};
	uint64_t other[] = {17, BUNDLE_X_ADDRESS + 8};
	struct gt_relocated contents = {swapped, sizeof(swapped)};

	gt_layout_put(&layout, BUNDLE_Y, 0x600000);
	gt_layout_put(&layout, BUNDLE_Z, 0x700000);
	cr_expect(eq(u64, gt_relocation_apply_after(&relocation, &layout, BUNDLE_TABLE, &contents),
	             2));
	cr_expect(eq(u64, swapped[0], 0x700000));
	cr_expect(eq(u64, swapped[1], 0x600004));
	contents.bytes = other;
	cr_expect(eq(u64, gt_relocation_apply_after(&relocation, &layout, BUNDLE_TABLE, &contents),
	             0),
	          "x did not move");
	cr_expect(eq(u64, other[0], 17));
	contents.size = 4;
	cr_expect(eq(u64, gt_relocation_apply_after(&relocation, &layout, BUNDLE_TABLE, &contents),
	             0));
	contents.size = sizeof(swapped);
	cr_expect(eq(u64, gt_relocation_apply_after(&relocation, &layout, BUNDLE_X, &contents), 0),
	          "no address was known there");
}

Test(relocation, gives_addresses_of_here_as_the_programs)
{
	/* The end of what was known to be led to; another one; none any more. */
	uint64_t table[] = {0x600000 + 1024, 0x500010};
	uint64_t other[] = {17, BUNDLE_Z_ADDRESS};
	struct gt_relocated contents = {table, sizeof(table)};

	gt_layout_put(&layout, BUNDLE_X, 0x500000);
	gt_layout_put(&layout, BUNDLE_Y, 0x600000);
	cr_expect(eq(u64, gt_relocation_undo(&relocation, &layout, BUNDLE_TABLE, &contents), 2));
	cr_expect(eq(u64, table[0], BUNDLE_Y_ADDRESS + 1024));
	cr_expect(eq(u64, table[1], BUNDLE_X_ADDRESS + 0x10));
	contents.bytes = other;
	cr_expect(eq(u64, gt_relocation_undo(&relocation, &layout, BUNDLE_TABLE, &contents), 0));
	cr_expect(eq(u64, other[0], 17));
	cr_expect(eq(u64, other[1], BUNDLE_Z_ADDRESS), "z did not move");
	contents.size = 4;
	cr_expect(eq(u64, gt_relocation_undo(&relocation, &layout, BUNDLE_TABLE, &contents), 0));
}

Test(relocation, says_which_addresses_are_guessed)
{
	char text[256];

	gt_layout_put(&layout, BUNDLE_X, 0x500000);
	cr_expect(eq(int, gt_relocation_trust(&relocation, &layout, text, sizeof(text), NULL), 0));
	expect_text(text, "");
	gt_layout_put(&layout, BUNDLE_Y, 0x600000);
	cr_expect(eq(int, gt_relocation_trust(&relocation, &layout, text, sizeof(text), NULL), 1));
	expect_text(text,
	            "1 of 3 addresses of memory that was moved are guessed, the first in memory 3, "
	            "byte 0: numbers that look like addresses were changed as well");
}

Test(relocation, refuses_to_move_memory_with_addresses_that_were_not_noted)
{
	struct gt_error err = {0};
	char text[256];

	made.bundle.memory.rows[BUNDLE_X].pointers = true;
	gt_layout_put(&layout, BUNDLE_FACTOR, 0x400000);
	cr_expect(eq(int, gt_relocation_trust(&relocation, &layout, text, sizeof(text), NULL), 0),
	          "a module's variables are elsewhere in every process");
	gt_layout_put(&layout, BUNDLE_Z, 0x700000);
	cr_expect(eq(int, gt_relocation_trust(&relocation, &layout, text, sizeof(text), &err),
	             -ENOTSUP));
	expect_text(err.text, "memory 0 holds addresses, and where is not known: the memory cannot "
	                      "be moved");
}
