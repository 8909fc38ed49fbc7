/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "fakes/cupti/calls.h"

/* Calls whose parameters are one struct: the lists of gputrace's say which members these have. */

/* On the heap: stacks may be small. */
struct line {
	char text[1 << 14];
	size_t length;
	const char *const *names; /* how many these are comes with the next number */
};

static __attribute__((format(printf, 2, 3))) void put(struct line *line, const char *fmt, ...)
{
	const size_t left = sizeof(line->text) - line->length;
	va_list args;
	int count;

	va_start(args, fmt);
	count = vsnprintf(line->text + line->length, left, fmt, args);
	va_end(args);
	if (count > 0)
		line->length += (size_t)count < left ? (size_t)count : left - 1;
}

static void put_text(struct line *line, const char *member, const char *value)
{
	put(line, " %s=%s", member, value ? value : "null");
}

static void put_pointer(struct line *line, const char *member, const void *value)
{
	put_text(line, member, FAKE_THERE(value));
}

static void put_list(struct line *line, const char *member, const void *value)
{
	put_pointer(line, member, value);
	line->names = value;
}

/* Places of samples and ranges count on. */
static void put_number(struct line *line, const char *member, uint64_t value)
{
	if (strcmp(member, "sampleIndex") != 0 && strcmp(member, "rangeIndex") != 0)
		put(line, " %s=%llu", member, (unsigned long long)value);
	if (strcmp(member, "numMetrics") != 0)
		return;
	for (uint64_t i = 0; line->names && i < value; i++)
		put(line, " %s", line->names[i]);
	line->names = NULL;
}

/* clang-format off */
#define PUT(value)                                                                                 \
	_Generic((value),                                                                          \
		char *: put_text, const char *: put_text,                                          \
		const char **: put_list, const char *const *: put_list,                            \
		int: put_number, unsigned: put_number, unsigned long: put_number,                  \
		unsigned short: put_number, unsigned char: put_number, default: put_pointer)
#define FAKE_STRUCT(name, theirs)                                                                  \
	void fake_tell_##theirs(const char *call, const void *params)                              \
	{                                                                                          \
		const theirs *of = params;                                                         \
		struct line *line = calloc(1, sizeof(*line));
#define FAKE_MEMBER(name, type, member, theirs) PUT(of->theirs)(line, #theirs, of->theirs);
#define FAKE_END(name, last)                                                                       \
		fake_cupti_tell(call, "%s", line->text + 1);                                       \
		free(line);                                                                        \
	}
#include "fakes/cupti/structs.inc"
