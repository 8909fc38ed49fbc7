/* SPDX-License-Identifier: Apache-2.0 */
#include "format/roll.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "support/check.h"

static char folder[64];
static char path[80];

static void make(void)
{
	snprintf(folder, sizeof(folder), "/tmp/gputrace-roll-XXXXXX");
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	snprintf(path, sizeof(path), "%s/node.roll", folder);
}

static void drop(void)
{
	unlink(path);
	rmdir(folder);
}

TestSuite(roll, .init = make, .fini = drop);

static struct gt_roll *open_roll(void)
{
	struct gt_error err = {0};
	struct gt_roll *roll = gt_roll_open(folder, "node", &err);

	cr_assert(ne(ptr, roll, NULL), "%s", err.text);
	return roll;
}

static struct gt_roll_lines read_roll(void)
{
	struct gt_error err = {0};
	struct gt_roll_lines lines;

	cr_assert(eq(int, gt_roll_read(&lines, path, &err), 0), "%s", err.text);
	return lines;
}

static struct gt_roll_facts facts_of(uint32_t pid)
{
	return (struct gt_roll_facts){
		.pid = pid, .parent_pid = 2, .user = 3, .program = "app", .text = "why"};
}

Test(roll, says_nothing_as_long_as_nobody_enters)
{
	(void)open_roll();
	cr_expect(eq(u32, read_roll().count, 0));
}

Test(roll, tells_who_could_not_be_recorded)
{
	const struct gt_roll_facts facts = facts_of(7);
	struct gt_roll_lines lines;

	gt_roll_refuse(open_roll(), &facts);
	lines = read_roll();
	cr_assert(eq(u32, lines.count, 1));
	cr_expect(eq(int, (int)lines.lines[0].kind, GT_ROLL_REFUSED));
	cr_expect(eq(u32, lines.lines[0].facts.pid, 7));
	cr_expect(eq(u32, lines.lines[0].facts.user, 3));
	expect_text(lines.lines[0].facts.program, "app");
	expect_text(lines.lines[0].facts.text, "why");
}

/* Also of processes that die in the middle of it. */
Test(roll, is_one_for_all_processes_and_outlives_them)
{
	struct gt_roll *roll = open_roll();
	struct gt_roll_lines lines;

	for (uint32_t i = 0; i < 3; i++) {
		const pid_t child = fork();

		if (child == 0) {
			const struct gt_roll_facts facts = facts_of(i);
			struct gt_roll *own = i ? gt_roll_open(folder, "node", NULL) : roll;
			struct gt_roll_entry *entry = gt_roll_claim(own, &facts);

			gt_roll_publish(entry, GT_ROLL_LATE);
			for (uint32_t call = 0; call < 100 * (i + 1); call++)
				gt_roll_count(own, entry, call % 2);
			kill(getpid(), SIGKILL);
		}
		(void)waitpid(child, NULL, 0);
	}
	lines = read_roll();
	cr_assert(eq(u32, lines.count, 3));
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect(eq(u64, lines.lines[i].launches, 50 * (i + 1)));
		cr_expect(eq(u64, lines.lines[i].calls, 50 * (i + 1)));
	}
}

Test(roll, still_counts_when_every_entry_is_taken)
{
	struct gt_roll *roll = open_roll();
	const struct gt_roll_facts facts = facts_of(7);
	struct gt_roll_lines lines;

	for (int i = 0; i < GT_ROLL_ENTRIES + 4; i++)
		gt_roll_refuse(roll, &facts);
	cr_expect(eq(ptr, gt_roll_claim(roll, &facts), NULL));
	gt_roll_count(roll, NULL, 1);
	gt_roll_count(roll, NULL, 0);
	gt_roll_count(roll, NULL, 0);
	lines = read_roll();
	cr_expect(eq(u32, lines.count, GT_ROLL_ENTRIES));
	cr_expect(eq(u64, lines.more_processes, 4));
	cr_expect(eq(u64, lines.more_launches, 1));
	cr_expect(eq(u64, lines.more_calls, 2));
}

Test(roll, forgets_an_entry_that_was_given_back)
{
	struct gt_roll *roll = open_roll();
	const struct gt_roll_facts facts = facts_of(7);
	struct gt_roll_entry *entry = gt_roll_claim(roll, &facts);

	gt_roll_free(entry);
	cr_expect(eq(ptr, gt_roll_claim(roll, &facts), entry));
	cr_expect(eq(u32, read_roll().count, 0), "nobody has said of what kind it is");
}

Test(roll, takes_nothing_of_a_file_on_trust)
{
	struct gt_roll *roll = open_roll();
	struct gt_roll_facts facts = facts_of(7);
	struct gt_roll_lines lines;
	struct gt_error err = {0};
	char wild[GT_ROLL_BYTES];

	memset(facts.program, '\033', sizeof(facts.program));
	memset(facts.text, 'x', sizeof(facts.text));
	gt_roll_refuse(roll, &facts);
	roll->entries[1].kind = 77;
	lines = read_roll();
	cr_assert(eq(u32, lines.count, 1));
	cr_expect(eq(sz, strlen(lines.lines[0].facts.text), sizeof(facts.text) - 1));
	cr_expect(eq(sz, strspn(lines.lines[0].facts.program, "?"), sizeof(facts.program) - 1));
	memset(wild, 0xff, sizeof(wild));
	cr_expect(eq(int, gt_roll_parse(&lines, wild, sizeof(wild), &err), -EBADMSG));
	for (size_t size = 0; size < sizeof(struct gt_roll); size += 64)
		cr_expect(eq(int, gt_roll_parse(&lines, roll, size, &err), -EBADMSG));
}

/* A FIFO would keep a reader and a writer waiting for ever. */
Test(roll, is_a_regular_file, .timeout = 10)
{
	struct gt_roll_lines lines;
	struct gt_error err = {0};

	cr_assert(eq(int, mkfifo(path, 0600), 0));
	cr_expect(lt(int, gt_roll_read(&lines, path, &err), 0));
	cr_expect(eq(ptr, gt_roll_open(folder, "node", &err), NULL));
}
