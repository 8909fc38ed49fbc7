/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/settings.h"

/* An environment, one variable a line: whatever is in it, every setting is in its range. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_VARIABLES = 64 };

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void complain(void *context, const char *sentence)
{
	const size_t length = strlen(sentence);

	must(length > 0 && length < 256);
	++*(unsigned *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const lines = malloc(size + 1);
	char *environment[MAX_VARIABLES + 1] = {lines};
	struct gt_settings settings;
	unsigned complaints = 0;
	size_t count = 1;
	char *text = malloc(size / 2 + 1);

	memcpy(lines, data, size);
	lines[size] = '\0';
	for (size_t i = 0; i < size && count < MAX_VARIABLES; i++) {
		if (lines[i] != '\n')
			continue;
		lines[i] = '\0';
		environment[count++] = lines + i + 1;
	}
	gt_settings_read(&settings, environment, complain, &complaints);
	must(settings.buffer_bytes >= 64 << 10 && settings.buffer_bytes <= 64 << 20 &&
	     settings.buffer_bytes % 4096 == 0);
	must(settings.buffer_count >= 4 && settings.buffer_count <= 1024);
	must(settings.flush_interval_ns >= 1000000 && settings.flush_interval_ns <= 3600000000000);
	must(settings.telemetry_interval_ns == 0 ||
	     (settings.telemetry_interval_ns >= 10000000 &&
	      settings.telemetry_interval_ns <= 3600000000000));
	must(settings.counter_interval_ns >= 20000 && settings.counter_interval_ns <= 10000000);
	must(settings.api >= GT_API_SETTING_NONE && settings.api <= GT_API_SETTING_ALL);
	must(settings.output && settings.cupti && settings.injection);
	must((settings.verbose | settings.disable | 1) == 1);
	must(complaints <= count + 6);
	must(gt_settings_text(environment, text, size / 2) <= size / 2);
	free(text);
	free(lines);
	return 0;
}
