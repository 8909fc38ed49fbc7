/* SPDX-License-Identifier: Apache-2.0 */
#include "format/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"

#define PREFIX        "GPUTRACE_"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)

const char *const gt_api_words[] = {"none", "light", "outer", "all", NULL};
const char *const gt_graphs_words[] = {"node", "graph", "sampled", NULL};

/* clang-format off */
static const char *const names[] = {
#define SETTING(name, field, type, value, help) PREFIX #name,
#include "format/settings.def"
	NULL
};
/* clang-format on */

static bool read_text(const char *text, const char **value)
{
	*value = text;
	return true;
}

static bool read_size(const char *text, uint64_t *value)
{
	return gt_parse_size(text, value) == 0;
}

static bool read_count(const char *text, uint64_t *value)
{
	return gt_parse_count(text, value) == 0;
}

static bool read_duration(const char *text, uint64_t *value)
{
	return gt_parse_duration(text, value) == 0;
}

static bool read_interval(const char *text, uint64_t *value)
{
	if (strcmp(text, "off") != 0)
		return read_duration(text, value);
	*value = 0;
	return true;
}

static bool read_flag(const char *text, int *value)
{
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return false;
	*value = text[0] == '1';
	return true;
}

static bool read_word(const char *text, const char *const *words, int *value)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*value = i;
			return true;
		}
	}
	return false;
}

static bool read_api(const char *text, int *value)
{
	return read_word(text, gt_api_words, value);
}

static bool read_graphs(const char *text, int *value)
{
	return read_word(text, gt_graphs_words, value);
}

static const char *expects_size(void)
{
	return "a number of bytes such as 1M";
}
static const char *expects_count(void)
{
	return "a number";
}
static const char *expects_duration(void)
{
	return "a duration such as 100ms";
}
static const char *expects_interval(void)
{
	return "a duration such as 100ms, or off";
}
static const char *expects_flag(void)
{
	return "0 or 1";
}
static const char *expects_api(void)
{
	return "none, light, outer or all";
}
static const char *expects_graphs(void)
{
	return "node, graph or sampled";
}
static const char *expects_text(void)
{
	return "text";
}

/* Takes one variable; true when its name is a setting's. */
static bool take(struct gt_settings *settings, const char *name, size_t length, const char *value,
                 const char **expected)
{
	const char *const word = name + PREFIX_LENGTH;
	const size_t size = length - PREFIX_LENGTH;

	*expected = NULL;
#define SETTING(NAME, field, type, initial, help)                                                  \
	if (size == sizeof(#NAME) - 1 && memcmp(word, #NAME, size) == 0) {                         \
		if (!read_##type(value, &settings->field))                                         \
			*expected = expects_##type();                                              \
		return true;                                                                       \
	}
#include "format/settings.def"
	return false;
}

static bool is_ours(const char *variable, size_t *length)
{
	const char *equals = strchr(variable, '=');

	if (strncmp(variable, PREFIX, PREFIX_LENGTH) != 0 || !equals)
		return false;
	*length = (size_t)(equals - variable);
	return true;
}

static void limit(uint64_t *value, uint64_t least, uint64_t most, const char *sentence,
                  void (*complain)(void *, const char *), void *context)
{
	if (*value >= least && *value <= most)
		return;
	*value = *value < least ? least : most;
	complain(context, sentence);
}

static void limit_all(struct gt_settings *settings, void (*complain)(void *, const char *),
                      void *context)
{
	limit(&settings->buffer_bytes, 64u << 10, 64u << 20,
	      "GPUTRACE_BUFFER_SIZE must be 64K to 64M; the nearest is used", complain, context);
	limit(&settings->buffer_count, 4, 256,
	      "GPUTRACE_BUFFERS must be 4 to 256; the nearest is used", complain, context);
	limit(&settings->graph_sample, 1, 1000000,
	      "GPUTRACE_GRAPH_SAMPLE must be 1 to 1000000; the nearest is used", complain, context);
	limit(&settings->flush_interval_ns, 1000000, 3600ull * 1000000000,
	      "GPUTRACE_FLUSH_INTERVAL must be 1ms to 1h; the nearest is used", complain, context);
	if (settings->wait_flush_ns)
		limit(&settings->wait_flush_ns, 1000000, 3600ull * 1000000000,
		      "GPUTRACE_WAIT_FLUSH must be 1ms to 1h, or off; the nearest is used",
		      complain, context);
	limit(&settings->allocator_interval_ns, 10000000, 3600ull * 1000000000,
	      "GPUTRACE_ALLOCATOR_INTERVAL must be 10ms to 1h; the nearest is used", complain,
	      context);
	if (settings->telemetry_interval_ns)
		limit(&settings->telemetry_interval_ns, 10000000, 3600ull * 1000000000,
		      "GPUTRACE_TELEMETRY must be 10ms to 1h, or off; the nearest is used",
		      complain, context);
	limit(&settings->capture_bytes, 1u << 20, (uint64_t)1 << 40,
	      "GPUTRACE_CAPTURE_BYTES must be 1M to 1T; the nearest is used", complain, context);
	limit(&settings->launches_patience_ns, 10000000, 30ull * 1000000000,
	      "GPUTRACE_LAUNCHES_PATIENCE must be 10ms to 30s; the nearest is used", complain,
	      context);
	limit(&settings->counter_interval_ns, 20000, 10000000,
	      "GPUTRACE_COUNTER_INTERVAL must be 20us to 10ms; the nearest is used", complain,
	      context);
	if (settings->device_events_bytes)
		limit(&settings->device_events_bytes, 1u << 20, 4ull << 30,
		      "GPUTRACE_DEVICE_EVENTS must be 1M to 4G, or 0; the nearest is used",
		      complain, context);
	limit(&settings->device_events_interval_ns, 1000000, 10ull * 1000000000,
	      "GPUTRACE_DEVICE_EVENTS_INTERVAL must be 1ms to 10s; the nearest is used", complain,
	      context);
	if (settings->keep_last_ns)
		limit(&settings->keep_last_ns, 1000000000, 30ull * 86400 * 1000000000,
		      "GPUTRACE_KEEP_LAST must be 1s to 30 days, or off; the nearest is used",
		      complain, context);
	if (settings->keep_bytes)
		limit(&settings->keep_bytes, 8u << 20, (uint64_t)1 << 40,
		      "GPUTRACE_KEEP_BYTES must be 8M to 1T, or 0; the nearest is used", complain,
		      context);
	settings->buffer_bytes = (settings->buffer_bytes + 4095) & ~(uint64_t)4095;
}

void gt_settings_read(struct gt_settings *settings, char *const *environment,
                      void (*complain)(void *context, const char *sentence), void *context)
{
	char sentence[256];
	size_t length;

#define SETTING(name, field, type, value, help) settings->field = (gt_setting_##type)value;
#include "format/settings.def"

	for (; *environment; environment++) {
		const char *expected;
		char name[64];

		if (!is_ours(*environment, &length))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)length, *environment);
		if (!take(settings, *environment, length, *environment + length + 1, &expected)) {
			const char *near = gt_nearest(name, names);

			snprintf(sentence, sizeof(sentence), "%s is not a setting of gputrace%s%s",
			         name, near ? "; did you mean " : "", near ? near : "");
			complain(context, sentence);
		} else if (expected) {
			snprintf(sentence, sizeof(sentence),
			         "%s expects %s, not '%.64s'; the default is used", name, expected,
			         *environment + length + 1);
			complain(context, sentence);
		}
	}
	limit_all(settings, complain, context);
}

size_t gt_settings_text(char *const *environment, char *text, size_t size)
{
	size_t used = 0;
	size_t length;

	for (; *environment; environment++) {
		if (!is_ours(*environment, &length))
			continue;

		const size_t line = strlen(*environment);

		if (line + 1 > size - used)
			break;
		memcpy(text + used, *environment, line);
		text[used + line] = '\n';
		used += line + 1;
	}
	return used;
}
