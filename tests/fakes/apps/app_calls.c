/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/apps/app_calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CALLS = 64 };

static struct {
	const char *name;
	atomic_ullong count;
} calls[MAX_CALLS];

int app_counted(const char *name, int result)
{
	size_t i = 0;

	for (; i < MAX_CALLS; i++) {
		const char *none = NULL;

		if (__atomic_compare_exchange_n(&calls[i].name, &none, name, 0, __ATOMIC_SEQ_CST,
		                                __ATOMIC_SEQ_CST) ||
		    strcmp(calls[i].name, name) == 0)
			break;
	}
	if (i == MAX_CALLS)
		app_fail("too many kinds of calls", MAX_CALLS);
	atomic_fetch_add(&calls[i].count, 1);
	return result;
}

void app_fail(const char *what, int result)
{
	(void)fprintf(stderr, "%s: %s: %d\n", program_invocation_short_name, what, result);
	exit(99);
}

void app_print_calls(void)
{
	printf("\"calls\":{");
	for (size_t i = 0; i < MAX_CALLS && calls[i].name; i++)
		printf("%s\"%s\":%llu", i ? "," : "", calls[i].name, atomic_load(&calls[i].count));
	printf("}");
}
