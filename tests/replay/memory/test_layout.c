/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory/layout.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "model/bundle/bundle.h"
#include "support/check.h"

#define PAGE ((uint64_t)2 << 20)
#define MIB  ((uint64_t)1 << 20)
#define GIB  ((uint64_t)1 << 30)
#define BASE 0x7f1200000000ull

static struct gt_bundle bundle;
static struct gt_layout layout;

static void drop(void)
{
	gt_layout_release(&layout);
	gt_array_release(&bundle.memory);
}

TestSuite(layout, .fini = drop);

static void add(enum gt_bundle_memory_kind kind, uint64_t address, uint64_t size)
{
	*gt_array_push(&bundle.memory) = (struct gt_bundle_memory){
		.kind = kind, .address = address, .size = size, .module = GT_BUNDLE_NONE};
}

static struct gt_layout_options options(void)
{
	return (struct gt_layout_options){.granularity = PAGE, .host_granularity = 4096};
}

static void plan(struct gt_layout_options options)
{
	struct gt_error err = {0};

	cr_assert(eq(int, gt_layout_plan(&layout, &bundle, &options, &err), 0), "%s", err.text);
}

static const struct gt_layout_place *place(size_t index)
{
	return &layout.places.rows[index];
}

/* Every layout must be sound: its parts lie inside of what they are in, and apart. */
static void expect_sound(void)
{
	cr_assert(eq(sz, layout.places.count, bundle.memory.count));
	for (size_t i = 0; i < layout.ranges.count; i++) {
		const struct gt_layout_range *range = &layout.ranges.rows[i];
		const uint64_t page = range->host ? 4096 : PAGE;

		cr_expect(eq(u64, range->address % page, 0));
		cr_expect(eq(u64, range->size % page, 0));
	}
	for (size_t i = 0; i < layout.pieces.count; i++) {
		const struct gt_layout_piece *piece = &layout.pieces.rows[i];
		const struct gt_layout_range *range = &layout.ranges.rows[piece->range];
		const uint64_t page = range->host ? 4096 : PAGE;

		cr_expect(eq(u64, piece->address % page, 0));
		cr_expect(eq(u64, piece->size % page, 0));
		cr_expect(ge(u64, piece->address, range->address));
		cr_expect(le(u64, piece->address + piece->size, range->address + range->size));
		if (i > 0 && piece[-1].range == piece->range)
			cr_expect(gt(u64, piece->address, piece[-1].address + piece[-1].size));
	}
	for (size_t i = 0; i < layout.places.count; i++) {
		const uint64_t first = place(i)->address - place(i)->before;
		const uint64_t end =
			place(i)->address + bundle.memory.rows[i].size + place(i)->behind;
		bool mapped = place(i)->range == GT_BUNDLE_NONE;

		for (size_t j = 0; j < layout.pieces.count; j++) {
			const struct gt_layout_piece *piece = &layout.pieces.rows[j];

			mapped |= piece->range == place(i)->range && first >= piece->address &&
			          end <= piece->address + piece->size;
		}
		cr_expect(mapped, "memory %zu with its zones", i);
		for (size_t j = 0; j < i; j++)
			cr_expect(first >= place(j)->address + bundle.memory.rows[j].size +
			                                  place(j)->behind ||
			                  end <= place(j)->address - place(j)->before,
			          "memory %zu and %zu", j, i);
	}
}

Test(layout, reserves_a_range_in_steps_of_32_mib_around_what_is_near)
{
	add(GT_BUNDLE_MEMORY_device, BASE + 512, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 70 * MIB, 5 * MIB);
	plan(options());
	expect_sound();
	cr_assert(eq(sz, layout.ranges.count, 1));
	cr_expect(eq(u64, layout.ranges.rows[0].address, BASE));
	cr_expect(eq(u64, layout.ranges.rows[0].size, 96 * MIB));
	cr_assert(eq(sz, layout.pieces.count, 2));
	cr_expect(eq(u64, layout.pieces.rows[0].size, PAGE));
	cr_expect(eq(u64, layout.pieces.rows[1].address, BASE + 70 * MIB));
	cr_expect(eq(u64, layout.pieces.rows[1].size, 6 * MIB));
	cr_expect(eq(u64, layout.device_bytes, 8 * MIB));
	cr_expect(eq(u64, place(0)->address, BASE + 512));
	cr_expect(gt_layout_is_recorded(&layout, &bundle));
}

Test(layout, has_another_range_for_what_is_far_away)
{
	add(GT_BUNDLE_MEMORY_device, BASE, 1024);
	add(GT_BUNDLE_MEMORY_pool, BASE + 4 * GIB, 1024);
	plan(options());
	expect_sound();
	cr_expect(eq(sz, layout.ranges.count, 2));
}

Test(layout, of_every_attempt_is_of_smaller_ranges_over_the_same_memory)
{
	struct gt_layout_options some = options();
	uint64_t reserved[GT_LAYOUT_ATTEMPTS] = {0};
	struct gt_error err = {0};

	add(GT_BUNDLE_MEMORY_device, BASE + 6 * MIB, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 80 * MIB, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 900 * MIB, 1024);
	for (some.attempt = 0; some.attempt < GT_LAYOUT_ATTEMPTS; some.attempt++) {
		plan(some);
		expect_sound();
		cr_expect(eq(u64, layout.device_bytes, 3 * PAGE));
		gt_array_each(const struct gt_layout_range, range, &layout.ranges)
			reserved[some.attempt] += range->size;
		gt_layout_release(&layout);
	}
	cr_expect(eq(u64, reserved[0], 928 * MIB));
	cr_expect(eq(u64, reserved[1], (96 + 32) * MIB));
	cr_expect(eq(u64, reserved[2], 3 * 32 * MIB));
	cr_expect(eq(u64, reserved[3], 3 * 16 * MIB));
	cr_expect(eq(u64, reserved[4], 3 * PAGE));
	cr_expect(eq(int, gt_layout_plan(&layout, &bundle, &some, &err), -EADDRINUSE));
	expect_text(err.text, "addresses of the bundle's memory are taken in this process, in each "
	                      "of 5 layouts");
}

Test(layout, shares_what_is_between_neighbours_among_their_red_zones)
{
	struct gt_layout_options some = options();

	add(GT_BUNDLE_MEMORY_device, BASE + 4096, 1000);
	add(GT_BUNDLE_MEMORY_device, BASE + 4096 + 1024, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 4096 + 2048, 1024);
	some.zone_bytes = 256;
	plan(some);
	expect_sound();
	cr_expect(eq(u64, place(0)->before, 256));
	cr_expect(eq(u64, place(0)->behind, 12));
	cr_expect(eq(u64, place(1)->before, 12));
	cr_expect(eq(u64, place(1)->behind, 0), "the next begins where it ends");
	cr_expect(eq(u64, place(2)->before, 0));
	cr_expect(eq(u64, place(2)->behind, 256));
}

Test(layout, gives_the_odd_byte_between_neighbours_to_the_one_before)
{
	struct gt_layout_options some = options();

	add(GT_BUNDLE_MEMORY_device, BASE, 1023);
	add(GT_BUNDLE_MEMORY_device, BASE + 1024, 1024);
	some.zone_bytes = 4096;
	plan(some);
	expect_sound();
	cr_expect(eq(u64, place(0)->behind, 1));
	cr_expect(eq(u64, place(1)->before, 0));
}

Test(layout, maps_pages_for_zones_when_there_are_to_be_no_guards)
{
	struct gt_layout_options some = options();

	add(GT_BUNDLE_MEMORY_device, BASE + 4 * MIB, 4 * MIB);
	some.zone_bytes = 512;
	plan(some);
	expect_sound();
	cr_expect(eq(u64, place(0)->before, 512));
	cr_expect(eq(u64, place(0)->behind, 512));
	cr_expect(eq(u64, layout.device_bytes, 8 * MIB));
}

Test(layout, leaves_pages_beside_memory_unmapped_where_it_ends_with_its_page)
{
	struct gt_layout_options some = options();

	add(GT_BUNDLE_MEMORY_device, BASE + 4 * MIB, 4 * MIB);
	add(GT_BUNDLE_MEMORY_device, BASE + 12 * MIB + 512, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 12 * MIB + 2048, 1024);
	some.zone_bytes = 512;
	some.guards = true;
	plan(some);
	expect_sound();
	cr_expect(eq(u64, layout.device_bytes, 4 * MIB + PAGE));
	cr_expect(eq(u64, place(0)->before + place(0)->behind, 0));
	cr_expect(eq(u64, place(0)->guard_before, 0));
	cr_expect(eq(u64, place(0)->guard_behind, 0));
	cr_expect(eq(u64, place(1)->before, 512));
	cr_expect(eq(u64, place(1)->guard_before, 512));
	cr_expect(eq(u64, place(1)->guard_behind, GT_LAYOUT_NOT_NEAR));
	cr_expect(eq(u64, place(2)->guard_before, GT_LAYOUT_NOT_NEAR));
	cr_expect(eq(u64, place(2)->behind, 512));
	cr_expect(eq(u64, place(2)->guard_behind, PAGE - 3072));
}

Test(layout, reserves_the_pages_that_guard_the_ends_of_a_range)
{
	struct gt_layout_options some = options();

	add(GT_BUNDLE_MEMORY_device, BASE, 32 * MIB);
	plan(some);
	cr_expect(eq(u64, layout.ranges.rows[0].size, 32 * MIB));
	cr_expect(eq(u64, place(0)->guard_behind, GT_LAYOUT_NOT_NEAR), "who knows what is there");
	gt_layout_release(&layout);
	some.guards = true;
	plan(some);
	cr_expect(eq(u64, layout.ranges.rows[0].address, BASE - 32 * MIB));
	cr_expect(eq(u64, layout.ranges.rows[0].size, 96 * MIB));
	cr_expect(eq(u64, place(0)->guard_before, 0));
	cr_expect(eq(u64, place(0)->guard_behind, 0));
}

Test(layout, keeps_memory_of_the_host_apart_in_pages_of_the_host)
{
	add(GT_BUNDLE_MEMORY_device, BASE, 1024);
	add(GT_BUNDLE_MEMORY_host, BASE + GIB + 100, 4096);
	add(GT_BUNDLE_MEMORY_host, BASE + GIB + MIB, 4096);
	plan(options());
	expect_sound();
	cr_assert(eq(sz, layout.ranges.count, 3));
	cr_expect(not(layout.ranges.rows[0].host));
	cr_expect(layout.ranges.rows[1].host);
	cr_expect(eq(u64, layout.ranges.rows[1].address, BASE + GIB));
	cr_expect(eq(u64, layout.ranges.rows[1].size, 8192));
	cr_expect(eq(u64, layout.ranges.rows[2].size, 4096));
	cr_expect(eq(u64, layout.device_bytes, PAGE));
	cr_expect(eq(u64, layout.host_bytes, 3 * 4096));
}

Test(layout, maps_nothing_for_variables)
{
	add(GT_BUNDLE_MEMORY_variable, BASE, 1024);
	plan(options());
	expect_sound();
	cr_expect(eq(sz, layout.ranges.count, 0));
	cr_expect(gt_layout_is_recorded(&layout, &bundle));
	gt_layout_put(&layout, 0, BASE + 4096);
	cr_expect(not(gt_layout_is_recorded(&layout, &bundle)));
	cr_expect(eq(u64, gt_layout_translate(&layout, &bundle, BASE + 8), BASE + 4104));
}

Test(layout, says_when_there_is_too_little_memory)
{
	struct gt_layout_options some = options();
	struct gt_error err = {0};

	add(GT_BUNDLE_MEMORY_device, BASE, 5 * MIB);
	some.most_bytes = 4 * MIB;
	cr_expect(eq(int, gt_layout_plan(&layout, &bundle, &some, &err), -ENOMEM));
	expect_text(err.text,
	            "the launches need 6 MiB of the GPU's memory, of which 4 MiB are free");
	cr_expect(eq(sz, layout.places.count, 0));
	cr_expect(eq(int, gt_layout_plan_anywhere(&layout, &bundle, &some, &err), -ENOMEM));
}

Test(layout, counts_arrays_among_what_is_needed)
{
	struct gt_layout_options some = options();
	struct gt_error err = {0};

	add(GT_BUNDLE_MEMORY_device, BASE, 2 * MIB);
	add(GT_BUNDLE_MEMORY_array, UINT64_C(1) << 57, 3 * MIB);
	some.most_bytes = 4 * MIB;
	cr_expect(eq(int, gt_layout_plan(&layout, &bundle, &some, &err), -ENOMEM));
	expect_text(err.text,
	            "the launches need 5 MiB of the GPU's memory, of which 4 MiB are free");
	some.most_bytes = 5 * MIB;
	cr_expect(eq(int, gt_layout_plan(&layout, &bundle, &some, &err), 0), "%s", err.text);
}

Test(layout, refuses_addresses_that_mean_something_else)
{
	struct gt_layout_options some = options();
	struct gt_error err = {0};

	add(GT_BUNDLE_MEMORY_device, 4096, 1024);
	cr_expect(eq(int, gt_layout_plan(&layout, &bundle, &some, &err), -EADDRINUSE));
	expect_text(err.text, "no process can have memory at 0x1000");
}

Test(layout, anywhere_puts_each_memory_between_unmapped_pages)
{
	struct gt_layout_options some = options();
	struct gt_error err = {0};

	add(GT_BUNDLE_MEMORY_device, BASE + 512, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 1536 + 256, 700);
	add(GT_BUNDLE_MEMORY_device, BASE + 4 * MIB, 3 * MIB);
	add(GT_BUNDLE_MEMORY_host, BASE + GIB, 100);
	some.zone_bytes = 64;
	some.guards = true;
	cr_assert(eq(int, gt_layout_plan_anywhere(&layout, &bundle, &some, &err), 0));
	cr_assert(eq(sz, layout.ranges.count, 2));
	gt_layout_move(&layout, 0, BASE + 64 * GIB);
	gt_layout_move(&layout, 1, BASE + 128 * GIB);
	expect_sound();
	cr_assert(eq(sz, layout.pieces.count, 4));
	for (size_t i = 0; i < 4; i++) {
		const uint64_t shift = place(i)->address - bundle.memory.rows[i].address;

		cr_expect(eq(u64, shift % 512, 0), "alignment stays");
		cr_expect(ne(u64, place(i)->guard_before, GT_LAYOUT_NOT_NEAR));
		cr_expect(ne(u64, place(i)->guard_behind, GT_LAYOUT_NOT_NEAR));
	}
	cr_expect(eq(u64, place(0)->guard_behind, 0), "it ends with its page");
	cr_expect(eq(u64, place(0)->behind, 0));
	cr_expect(eq(u64, place(0)->before, 64));
	cr_expect(lt(u64, place(1)->guard_behind, 512));
	cr_expect(eq(u64, place(2)->address % PAGE, 0), "as in the program");
	cr_expect(eq(u64, place(2)->guard_before, 0));
	cr_expect(eq(u64, place(2)->guard_behind, MIB));
	cr_expect(eq(u64, place(2)->behind, 64));
	cr_expect(not(gt_layout_is_recorded(&layout, &bundle)));
}

Test(layout, anywhere_has_zones_of_full_size_where_they_are_wanted_instead_of_guards)
{
	struct gt_layout_options some = options();

	add(GT_BUNDLE_MEMORY_device, BASE, PAGE);
	add(GT_BUNDLE_MEMORY_device, BASE + PAGE, PAGE);
	some.zone_bytes = 4096;
	cr_assert(eq(int, gt_layout_plan_anywhere(&layout, &bundle, &some, NULL), 0));
	expect_sound();
	for (size_t i = 0; i < 2; i++) {
		cr_expect(eq(u64, place(i)->before, 4096));
		cr_expect(eq(u64, place(i)->behind, 4096));
	}
	cr_expect(eq(u64, layout.device_bytes, 6 * PAGE));
}

Test(layout, anywhere_keeps_memory_together_when_there_is_not_enough_of_it)
{
	struct gt_layout_options some = options();

	for (uint64_t i = 0; i < 100; i++)
		add(GT_BUNDLE_MEMORY_device, BASE + 1024 * i, 1024);
	add(GT_BUNDLE_MEMORY_device, BASE + 10 * GIB + 512, 512);
	some.most_bytes = 50 * PAGE;
	cr_assert(eq(int, gt_layout_plan_anywhere(&layout, &bundle, &some, NULL), 0));
	cr_assert(eq(sz, layout.ranges.count, 1));
	gt_layout_move(&layout, 0, 64 * GIB);
	expect_sound();
	cr_expect(eq(u64, layout.device_bytes, 2 * PAGE));
	cr_expect(eq(u64, layout.ranges.rows[0].size, 64 * MIB));
	cr_expect(eq(u64, place(99)->address - place(0)->address, 99 * 1024));
	cr_expect(eq(u64, place(100)->address, 64 * GIB + 32 * MIB + 512));
	cr_expect(eq(u64, gt_layout_translate(&layout, &bundle, BASE + 1024 + 3),
	             64 * GIB + 1024 + 3));
	cr_expect(eq(u64, gt_layout_translate(&layout, &bundle, BASE + GIB), 0));
	cr_expect(eq(u64, gt_layout_translate(&layout, &bundle, 0), 0));
}

/* Many bundles by a rule: whatever they are, what must hold of layouts holds. */
Test(layout, of_any_memory_is_sound)
{
	static const uint64_t sizes[] = {1, 512, 4096, 100000, 2 * MIB, 5 * MIB, 32 * MIB};
	static const uint64_t gaps[] = {0, 1, 512, 511, PAGE, 40 * MIB, 3 * GIB};
	uint32_t state = 1;

	for (int round = 0; round < 200; round++) {
		struct gt_layout_options some = options();
		uint64_t at = BASE + 512 * (uint64_t)round;

		bundle.memory.count = 0;
		for (int i = 0; i < 12; i++) {
			bool host;

			state = state * 1103515245 + 12345;
			host = state >> 30 == 0;
			at += gaps[(state >> 16) % 7];
			/* A page is of one kind of memory, with its zones. */
			at = host ? (at + 3 * PAGE) / PAGE * PAGE : at;
			add(host ? GT_BUNDLE_MEMORY_host : GT_BUNDLE_MEMORY_device, at,
			    sizes[(state >> 20) % 7]);
			at += sizes[(state >> 20) % 7];
			at = host ? (at + 3 * PAGE) / PAGE * PAGE : at;
		}
		some.zone_bytes = round % 3 ? 1000 : 0;
		some.guards = round % 2;
		some.attempt = (unsigned)round % GT_LAYOUT_ATTEMPTS;
		plan(some);
		expect_sound();
		cr_expect(gt_layout_is_recorded(&layout, &bundle));
		gt_layout_release(&layout);
		some.most_bytes = round % 5 ? 0 : layout.device_bytes;
		cr_assert(eq(int, gt_layout_plan_anywhere(&layout, &bundle, &some, NULL), 0));
		for (uint32_t i = 0; i < layout.ranges.count; i++)
			gt_layout_move(&layout, i, (i + 1) * 1024 * GIB);
		expect_sound();
		gt_layout_release(&layout);
	}
}
