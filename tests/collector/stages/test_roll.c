/* SPDX-License-Identifier: Apache-2.0 */
#include "format/roll.h"

#include <errno.h>
#include <stdio.h>

#include "collector/collect.h"
#include "model/ledger.h"

static struct recording recording;
static struct gt_roll *roll;

static void make(void)
{
	recording_init(&recording);
	roll = gt_roll_open(recording.path, "node", NULL);
	cr_assert(ne(ptr, roll, NULL));
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(roll, .init = make, .fini = drop);

static void add_process(const char *name, uint32_t pid)
{
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	recording_add_call(&recording, 2000, 1);
	recording_add_kernel(&recording, 3000, 1);
	recording_end(&recording, true);
}

static struct gt_roll_entry *enter(enum gt_roll_kind kind, const char *text)
{
	struct gt_roll_facts facts = {
		.pid = 8, .parent_pid = 7, .user = 65534, .time_ns = 2500, .program = "app"};
	struct gt_roll_entry *entry;

	snprintf(facts.text, sizeof(facts.text), "%s", text);
	entry = gt_roll_claim(roll, &facts);
	gt_roll_publish(entry, kind);
	return entry;
}

Test(roll, makes_a_process_of_one_that_could_not_be_recorded)
{
	struct gt_ledger_state state;
	struct gt_trace trace;

	add_process("node-7-1", 7);
	enter(GT_ROLL_REFUSED, "cannot make the arena: File too large");
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 2));
	cr_expect(eq(u32, trace.processes.rows[1].pid, 8));
	cr_expect(eq(u32, trace.processes.rows[1].parent_pid, 7));
	cr_expect(eq(u32, trace.processes.rows[1].ended, GT_END_UNRECORDED));
	cr_expect(eq(i64, trace.processes.rows[1].start_ns, 2500));
	cr_expect(has_note(&trace, 1,
	                   "app (process 8 of user 65534) is not recorded: cannot make the arena: "
	                   "File too large"));
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.unrecorded, 1));
	cr_expect(eq(u64, state.processes, 2));
	cr_expect(not(gt_ledger_is_clean(&state)));
	gt_trace_release(&trace);
}

Test(roll, is_a_recording_without_any_capture)
{
	struct gt_ledger_state state;
	struct gt_trace trace;

	enter(GT_ROLL_REFUSED, "why");
	trace = collect(&recording);
	state = gt_ledger_state(&trace);
	cr_expect(not(state.kept));
	cr_expect(eq(u64, state.unrecorded, 1));
	gt_trace_release(&trace);
}

Test(roll, is_none_when_nobody_entered)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	cr_expect(eq(int, gt_collect(recording.path, &trace, &err), -ENODATA));
	gt_trace_release(&trace);
}

static void count(struct gt_roll_entry *entry, int launches, int calls)
{
	for (int i = 0; i < launches + calls; i++)
		gt_roll_count(roll, entry, i < launches);
}

static uint64_t ledger_of_process(const struct gt_trace *trace, gt_id process, const char *name)
{
	gt_array_each(const struct gt_ledger, row, &trace->ledgers)
		if (row->process == process && strcmp(gt_trace_text(trace, row->name), name) == 0)
			return row->value;
	return UINT64_MAX;
}

Test(roll, gives_late_calls_to_the_process_that_made_them)
{
	struct gt_ledger_state state;
	struct gt_trace trace;

	add_process("node-7-1", 7);
	add_process("node-8-1", 8);
	count(enter(GT_ROLL_LATE, "node-8-1.capture"), 5, 2);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.processes.count, 2));
	cr_expect(eq(u64, ledger_of_process(&trace, 1, "launches_unrecorded"), 5));
	cr_expect(eq(u64, ledger_of_process(&trace, 1, "calls_unrecorded"), 2));
	cr_expect(eq(u64, ledger_of_process(&trace, 0, "launches_unrecorded"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of_process(&trace, 1, "launches"), 1),
	          "they are beside the others");
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.lost, 7));
	gt_trace_release(&trace);
}

Test(roll, counts_the_calls_of_a_fork_s_child_with_it)
{
	struct gt_trace trace;

	add_process("node-7-1", 7);
	count(enter(GT_ROLL_FORKED, ""), 4, 1);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.processes.count, 2));
	cr_expect(eq(u64, ledger_of_process(&trace, 1, "launches_unrecorded"), 4));
	cr_expect(eq(u64, ledger_of_process(&trace, 1, "processes_unrecorded"), 1));
	gt_trace_release(&trace);
}

Test(roll, adds_what_had_no_entry_of_its_own)
{
	struct gt_ledger_state state;
	struct gt_trace trace;

	add_process("node-7-1", 7);
	for (int i = 0; i < GT_ROLL_ENTRIES; i++)
		enter(GT_ROLL_REFUSED, "why");
	roll->more_processes = 3;
	count(NULL, 6, 0);
	trace = collect(&recording);
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.unrecorded, GT_ROLL_ENTRIES + 3));
	cr_expect(eq(u64, state.processes, GT_ROLL_ENTRIES + 4));
	cr_expect(eq(u64, ledger_of(&trace, "launches_unrecorded"), 6));
	gt_trace_release(&trace);
}

Test(roll, is_noted_when_it_cannot_be_read)
{
	struct gt_trace trace;

	add_process("node-7-1", 7);
	recording_add_file(&recording, "other.roll", "nonsense", 8);
	trace = collect(&recording);
	cr_expect(has_note(&trace, GT_NONE, "other.roll: it is too short for a roll"));
	gt_trace_release(&trace);
}

static void write_roll(const void *bytes, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/node" GT_ROLL_SUFFIX, recording.path);
	file = fopen(path, "w");
	cr_assert(file && (size == 0 || fwrite(bytes, size, 1, file) == 1));
	fclose(file);
}

/* Who is missing would be in it: nobody can say that nobody is. */
Test(roll, is_missed_where_it_cannot_be_read)
{
	struct gt_roll good;
	struct {
		const char *what;
		size_t size;
		struct gt_roll bytes;
	} bad[5];

	add_process("node-7-1", 7);
	memcpy(&good, roll, sizeof(good));
	for (size_t i = 0; i < 5; i++)
		memcpy(&bad[i].bytes, &good, sizeof(good));
	bad[0].what = "empty", bad[0].size = 0;
	bad[1].what = "cut", bad[1].size = 100;
	bad[2].what = "foreign", bad[2].size = sizeof(good);
	bad[2].bytes.magic = 12345;
	bad[3].what = "too many", bad[3].size = sizeof(good);
	bad[3].bytes.more_launches = UINT64_MAX;
	bad[4].what = "too many of one", bad[4].size = sizeof(good);
	bad[4].bytes.entries[3].kind = GT_ROLL_LATE;
	bad[4].bytes.entries[3].calls = (uint64_t)1 << 60;
	for (size_t i = 0; i < 5; i++) {
		struct gt_ledger_state state;
		struct gt_trace trace;

		write_roll(&bad[i].bytes, bad[i].size);
		trace = collect(&recording);
		state = gt_ledger_state(&trace);
		cr_expect(not(gt_ledger_is_clean(&state)), "%s", bad[i].what);
		cr_expect(eq(u64, ledger_of(&trace, "rolls_unread"), 1), "%s", bad[i].what);
		cr_expect(eq(u64, ledger_of(&trace, "launches_unrecorded"), UINT64_MAX), "%s",
		          bad[i].what);
		gt_trace_release(&trace);
	}
}
