/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bundle.h"

/*
 * make_bundle FOLDER [WORD...]: a bundle that the fake driver can run: a launch of saxpy, or with
 * the word
 *   sequence  what tests/support/bundle.h has for one
 *   wrong     it wrote something else in the program
 *   spill     a kernel that writes behind its buffer
 *   vary      a kernel that writes something else each time
 *   high      at an address that no process has
 *   reached   and its parameters lead there
 *   newer     for an architecture that the fake GPU has not
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
	else
		test_bundle_add_launch(&made);
	test_bundle_set_fakes(&made);
	if (has(argv, "wrong"))
		set_after(&made, 7);
	if (has(argv, "spill")) {
		test_bundle_set_kernel(&made, "replay_spill");
		bundle->steps.rows[0].grid[0] = 3;
		set_after(&made, 1.5F);
	}
	if (has(argv, "vary"))
		test_bundle_set_kernel(&made, "replay_vary");
	if (has(argv, "high"))
		bundle->memory.rows[BUNDLE_Y].address = HIGH;
	if (has(argv, "reached"))
		pass_high(&made);
	if (has(argv, "newer"))
		bundle->modules.rows[0].image = test_bundle_blob(&made, NEWER, sizeof(NEWER) - 1);
	test_bundle_end(&made);
	return 0;
}
