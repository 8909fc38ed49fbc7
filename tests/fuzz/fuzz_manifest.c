/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/recording/manifest.h"
#include "format/recording.h"
#include "support/recording.h"

/* manifest.json, whatever is in it: what is read from it and saved again reads the same. */

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

static void compare(const struct gt_manifest *first, const struct gt_manifest *second)
{
	char *command = gt_manifest_command(first);
	char *again = gt_manifest_command(second);

	must(strcmp(command, again) == 0 && strcmp(first->host, second->host) == 0);
	must(strcmp(first->folder, second->folder) == 0 && first->ended == second->ended);
	must(strcmp(first->start.utc, second->start.utc) == 0);
	must(first->start.boottime_ns == second->start.boottime_ns);
	must(first->settings.count >= second->settings.count);
	free(command);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_manifest first;
	struct gt_manifest second;
	struct gt_error err = {0};

	if (!*recording.path) {
		recording_init(&recording);
		(void)atexit(remove_recording);
	}
	recording_add_file(&recording, GT_MANIFEST_NAME, data, size);
	if (gt_manifest_load(&first, recording.path, &err) < 0) {
		must(err.text[0] != '\0');
		gt_manifest_release(&first);
		return 0;
	}
	must(gt_manifest_save(&first, recording.path, &err) == 0);
	must(gt_manifest_load(&second, recording.path, &err) == 0);
	compare(&first, &second);
	gt_manifest_release(&first);
	gt_manifest_release(&second);
	return 0;
}
