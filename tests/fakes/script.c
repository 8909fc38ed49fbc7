/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fakes/fake.h"

struct word {
	const char *name; /* NULL ends a list of words */
	unsigned bit;
};

static const struct word kinds[] = {
	{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
	{"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
	{"memset", CUPTI_ACTIVITY_KIND_MEMSET},
	{"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
	{"driver", CUPTI_ACTIVITY_KIND_DRIVER},
	{"device", CUPTI_ACTIVITY_KIND_DEVICE},
	{"context", CUPTI_ACTIVITY_KIND_CONTEXT},
	{"stream", CUPTI_ACTIVITY_KIND_STREAM},
	{"synchronization", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
	{"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
	{"jit", CUPTI_ACTIVITY_KIND_JIT},
	{"unified", CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER},
	{"graph_trace", CUPTI_ACTIVITY_KIND_GRAPH_TRACE},
	{NULL, 0},
};

static const struct word failures[] = {
#define FAILURE(name) {#name, FAKE_NVML_##name},
	SCRIPT_NVML_FAILURES
#undef FAILURE
	{NULL, 0},
};

static const struct word cuda_failures[] = {
#define FAILURE(name) {#name, FAKE_CUDA_##name},
	SCRIPT_CUDA_FAILURES
#undef FAILURE
	{NULL, 0},
};

void fake_die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)fputs("fakes: ", stderr);
	(void)vfprintf(stderr, fmt, args);
	(void)fputc('\n', stderr);
	va_end(args);
	abort();
}

uint64_t fake_realtime_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t bits_of(char *names, const struct word *words)
{
	uint64_t bits = 0;
	char *rest = NULL;

	for (char *name = strtok_r(names, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
		const struct word *word = words;

		while (word->name && strcmp(word->name, name) != 0)
			word++;
		if (!word->name)
			fake_die("FAKE_CUPTI: '%s' is none of the words it stands among", name);
		bits |= UINT64_C(1) << word->bit;
	}
	return bits;
}

static uint64_t number(const char *name, const char *text)
{
	char *end = NULL;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		fake_die("FAKE_CUPTI: %s wants a number, not '%s'", name, text);
	return value;
}

static void read_word(struct fake_script *script, const char *name, char *value)
{
#define NUMBER(field, initial, help)                                                               \
	if (strcmp(name, #field) == 0) {                                                           \
		script->field = number(name, value);                                               \
		return;                                                                            \
	}
	SCRIPT_NUMBERS
#undef NUMBER
	if (strcmp(name, "enable_fail") == 0)
		script->enable_fail = bits_of(value, kinds);
	else if (strcmp(name, "nvml_fail") == 0)
		script->nvml_fail = bits_of(value, failures);
	else if (strcmp(name, "cuda_fail") == 0)
		script->cuda_fail = bits_of(value, cuda_failures);
	else if (strcmp(name, "subscriber") == 0 && strcmp(value, "busy") == 0)
		script->subscriber_busy = 1;
	else
		fake_die("FAKE_CUPTI: '%s=%s' is not understood", name, value);
}

void fake_script_read(struct fake_script *script)
{
	const char *text = getenv("FAKE_CUPTI");
	char *copy = strdup(text ? text : "");
	char *rest = NULL;

	*script = (struct fake_script){
#define NUMBER(field, initial, help) .field = (initial),
		SCRIPT_NUMBERS
#undef NUMBER
	};
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(word, '=');

		if (!value)
			fake_die("FAKE_CUPTI: '%s' has no value", word);
		*value++ = '\0';
		read_word(script, word, value);
	}
	if (script->devices > 8)
		fake_die("FAKE_CUPTI: devices=%llu is more than 8",
		         (unsigned long long)script->devices);
	free(copy);
}
