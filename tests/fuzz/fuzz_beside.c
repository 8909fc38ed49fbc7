/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/recording.h"
#include "format/roll.h"
#include "hostile/everything.h"
#include "support/recording.h"

/*
 * The files that stand beside a capture, which others than its process write, and what processes
 * that cannot reach a folder say to gputrace run. The first byte of an input is which of them it
 * is; the capture is always the same. All of gputrace reads the recording then.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct recording recording;

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void remove_recording(void)
{
	recording_release(&recording);
}

static void make_recording(void)
{
	recording_init(&recording);
	(void)atexit(remove_recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_add_call(&recording, 2000, 1);
	recording_add_kernel(&recording, 2100, 1);
	recording_end(&recording, 1);
}

static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size && text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return memchr(text, '\0', size) != NULL;
}

static void check_facts(const struct gt_roll_facts *facts)
{
	must(is_text(facts->program, sizeof(facts->program)));
	must(is_text(facts->text, sizeof(facts->text)));
}

/* A listener takes the facts of any process, and so does a roll from any file. */
static void hear(const uint8_t *data, size_t size)
{
	struct gt_roll_lines lines;
	struct gt_roll_facts facts = {0};
	struct gt_error err = {0};

	memcpy(&facts, data, size < sizeof(facts) ? size : sizeof(facts));
	gt_roll_clean(&facts);
	check_facts(&facts);
	if (gt_roll_parse(&lines, data, size, &err) < 0)
		must(err.text[0] != '\0');
	must(lines.count <= GT_ROLL_ENTRIES);
	for (uint32_t i = 0; i < lines.count; i++)
		check_facts(&lines.lines[i].facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {
		"node" GT_ROLL_SUFFIX,
		"node-1" GT_NOTES_SUFFIX,
		"node-1" GT_CALIBRATION_SUFFIX,
		"node" GT_TOPOLOGY_SUFFIX,
		GT_MANIFEST_NAME,
		"manifest.2.json",
		"node" GT_KERNEL_LOG_SUFFIX,
	};
	const char *name;

	if (!*recording.path)
		make_recording();
	if (size == 0)
		return 0;
	name = names[data[0] % (sizeof(names) / sizeof(names[0]))];
	hear(data + 1, size - 1);
	recording_add_file(&recording, name, data + 1, size - 1);
	(void)read_everything(recording.path);
	recording_add_file(&recording, name, "", 0);
	return 0;
}
