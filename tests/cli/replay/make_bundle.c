/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bundle.h"

/*
 * make_bundle FOLDER [WORD...]: a bundle that the fake driver can run: a launch of saxpy, or with
 * the word
 *   sequence  what tests/support/bundle.h has for one
 *   graph     its work with a launch of a graph
 *   focus     whose last kernel was chosen when it was captured
 *   astray    its first kernel wrote something else in the program
 *   wrong     it wrote something else in the program
 *   spill     a kernel that writes behind its buffer
 *   vary      a kernel that writes something else each time
 *   brittle   a kernel that faults in blocks of more than 512 threads; of a sequence the second
 *   again     one that writes what is there already, in blocks of 128 threads at least
 *   tiles     one that takes its tiles from a counter, and leaves that where it ends
 *   reset     one that does so too, and sets it to 0 in the end
 *   look-back one that waits for a flag of each tile, and leaves them set
 *   settle    one that makes its state odd, and faults of such as it does not have
 *   tired     one that writes half of it from its second run on, whatever memory holds
 *   job       with the median of other launches in the program, which took 10 us
 *   slow      or 40 us
 *   pick      one that does so too, and faults of other inputs than these
 *   behind    whose inputs lie behind its outputs
 *   high      at an address that no process has
 *   reached   and its parameters lead there
 *   newer     for an architecture that the fake GPU has not
 *   textures  one of a kernel that reads two textures and writes a surface
 *   replay_X  of a kernel of (float *values, int n) that the fake driver knows
 */

#define HIGH  UINT64_C(0x7ffffffff000)
#define NEWER "//\n.version 8.7\n.target sm_100\n"

static bool has(char **words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static void set_after(struct test_bundle *made, float value)
{
	float after[BUNDLE_ELEMENTS];

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = value;
	made->bundle.memory.rows[BUNDLE_Y].after = test_bundle_blob(made, after, sizeof(after));
}

static void set_same(struct test_bundle *made, size_t memory, const void *values, size_t size)
{
	struct gt_bundle_memory *row = &made->bundle.memory.rows[memory];

	row->before = row->after = test_bundle_blob(made, values, size);
	row->same = true;
}

static void set_again(struct test_bundle *made)
{
	float values[BUNDLE_ELEMENTS];

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		values[i] = i % 2 == 0 ? 2.5F : 1;
	test_bundle_set_kernel(made, "replay_lazy");
	set_same(made, BUNDLE_Y, values, sizeof(values));
}

/* values[i] = 2 * indices[i], of which none may be 255. */
static void set_pick(struct test_bundle *made, bool behind)
{
	static const struct gt_bundle_parameter parameters[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
	const struct {
		uint64_t indices;
		uint64_t values;
		int32_t count;
		int32_t end;
	} block = {behind ? BUNDLE_Y_ADDRESS : BUNDLE_X_ADDRESS,
	           behind ? BUNDLE_X_ADDRESS : BUNDLE_Y_ADDRESS, BUNDLE_ELEMENTS, 255};
	uint32_t indices[BUNDLE_ELEMENTS];
	float values[BUNDLE_ELEMENTS];
	struct gt_bundle *bundle = &made->bundle;

	for (uint32_t i = 0; i < BUNDLE_ELEMENTS; i++) {
		indices[i] = i % 255;
		values[i] = 2 * (float)indices[i];
	}
	bundle->functions.rows[0].name = "replay_pick";
	memcpy(bundle->functions.rows[0].parameters.rows, parameters, sizeof(parameters));
	bundle->steps.rows[0].parameters = test_bundle_blob(made, &block, sizeof(block));
	bundle->pointers.rows[0].offset = behind ? 8 : 0;
	bundle->pointers.rows[1].offset = behind ? 0 : 8;
	set_same(made, behind ? BUNDLE_Y : BUNDLE_X, indices, sizeof(indices));
	set_same(made, behind ? BUNDLE_X : BUNDLE_Y, values, sizeof(values));
}

/* The second kernel of the sequence becomes another one, of (float *values, int n), on z. */
static void set_second_kernel(struct test_bundle *made, const char *name, float value)
{
	const struct {
		uint64_t values;
		int32_t n;
		int32_t padding;
	} block = {BUNDLE_Z_ADDRESS, BUNDLE_ELEMENTS, 0};
	struct gt_bundle *bundle = &made->bundle;
	float after[BUNDLE_ELEMENTS];

	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = value;
	bundle->functions.rows[1].name = (char *)(uintptr_t)name;
	bundle->steps.rows[5].parameters = test_bundle_blob(made, &block, sizeof(block));
	gt_array_each(struct gt_bundle_pointer, pointer, &bundle->pointers)
		if (pointer->memory == GT_BUNDLE_NONE && pointer->step == 5)
			pointer->target = BUNDLE_Z;
	bundle->memory.rows[BUNDLE_Z].after = test_bundle_blob(made, after, sizeof(after));
}

/* The launch's parameters lead to where its memory was put. */
static void pass_high(struct test_bundle *made)
{
	const struct {
		int32_t n;
		float a;
		uint64_t x;
		uint64_t y;
	} block = {BUNDLE_ELEMENTS, 2, BUNDLE_X_ADDRESS, HIGH};

	made->bundle.steps.rows[0].parameters = test_bundle_blob(made, &block, sizeof(block));
}

int main(int argc, char **argv)
{
	struct test_bundle made = {0};
	struct gt_bundle *bundle = &made.bundle;

	if (argc < 2)
		return 2;
	test_bundle_begin_at(&made, argv[1]);
	if (has(argv, "sequence"))
		test_bundle_add_sequence(&made);
	else if (has(argv, "graph"))
		test_bundle_add_graph(&made);
	else if (has(argv, "textures"))
		test_bundle_add_textures(&made);
	else
		test_bundle_add_launch(&made);
	if (!has(argv, "textures"))
		test_bundle_set_fakes(&made);
	for (char **word = argv; *word; word++)
		if (strncmp(*word, "replay_", strlen("replay_")) == 0)
			test_bundle_set_kernel(&made, *word);
	if (has(argv, "focus"))
		bundle->focus = BUNDLE_GRAPH_SCALE;
	if (has(argv, "astray") || has(argv, "wrong"))
		set_after(&made, 7);
	if (has(argv, "spill")) {
		test_bundle_set_kernel(&made, "replay_spill");
		bundle->steps.rows[0].grid[0] = 3;
		set_after(&made, 1.5F);
	}
	if (has(argv, "vary"))
		test_bundle_set_kernel(&made, "replay_vary");
	if (has(argv, "brittle") && has(argv, "sequence")) {
		set_second_kernel(&made, "replay_brittle", 2.5F);
	} else if (has(argv, "brittle")) {
		test_bundle_set_kernel(&made, "replay_brittle");
		set_after(&made, 2.5F);
	}
	if (has(argv, "again"))
		set_again(&made);
	if (has(argv, "tiles"))
		test_bundle_set_state(&made, "replay_tiles", false);
	if (has(argv, "reset"))
		test_bundle_set_state(&made, "replay_reset_tiles", true);
	if (has(argv, "look-back"))
		test_bundle_set_state(&made, "replay_look_back", false);
	if (has(argv, "settle"))
		test_bundle_set_state(&made, "replay_settle", false);
	if (has(argv, "tired")) {
		test_bundle_set_kernel(&made, "replay_tired");
		set_after(&made, 2.5F);
	}
	if (has(argv, "job") || has(argv, "slow")) {
		bundle->origin.job_ns = has(argv, "slow") ? 40000 : 10000;
		bundle->origin.job_launches = 7;
	}
	if (has(argv, "pick"))
		set_pick(&made, has(argv, "behind"));
	if (has(argv, "high"))
		bundle->memory.rows[BUNDLE_Y].address = HIGH;
	if (has(argv, "reached"))
		pass_high(&made);
	if (has(argv, "newer"))
		bundle->modules.rows[0].image = test_bundle_blob(&made, NEWER, sizeof(NEWER) - 1);
	test_bundle_end(&made);
	return 0;
}
