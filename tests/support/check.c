/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { VALUES_BYTES = 2000, CONDITION_BYTES = 400 };

/* The two values that a condition compared last, in words; "": none. */
static _Thread_local char values[VALUES_BYTES];

_Noreturn void gt_check_end(void)
{
	criterion_abort_test();
}

void gt_check_begin(void)
{
	values[0] = '\0';
}

bool gt_check_saw_signed(int64_t first, int64_t second)
{
	(void)snprintf(values, sizeof(values), "%" PRId64 ", %" PRId64, first, second);
	return false;
}

bool gt_check_saw_unsigned(uint64_t first, uint64_t second)
{
	(void)snprintf(values, sizeof(values), "%" PRIu64 ", %" PRIu64, first, second);
	return false;
}

bool gt_check_saw_real(double first, double second)
{
	(void)snprintf(values, sizeof(values), "%.17g, %.17g", first, second);
	return false;
}

bool gt_check_saw_pointer(const volatile void *first, const volatile void *second)
{
	(void)snprintf(values, sizeof(values), "%#" PRIxPTR ", %#" PRIxPTR, (uintptr_t)first,
	               (uintptr_t)second);
	return false;
}

bool gt_check_saw_text(const char *first, const char *second)
{
	(void)snprintf(values, sizeof(values), "\n%s\n%s", first ? first : "(NULL)",
	               second ? second : "(NULL)");
	return false;
}

/* In the order of the values they stand for. */
static int64_t order_of(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

bool gt_check_is_close(double first, double second, int64_t ulps)
{
	int64_t apart;

	return !isnan(first) && !isnan(second) &&
	       !__builtin_sub_overflow(order_of(first), order_of(second), &apart) &&
	       apart <= ulps && apart >= -ulps;
}

/* The first of the macro's arguments. */
static void copy_condition(char *to, size_t size, const char *text)
{
	size_t count = 0;
	int depth = 0;
	bool quoted = false;

	for (; text[count] && count < size - 1; count++) {
		if (text[count] == '"' && (count == 0 || text[count - 1] != '\\'))
			quoted = !quoted;
		if (quoted)
			continue;
		depth += (text[count] == '(') - (text[count] == ')');
		if (text[count] == ',' && depth == 0)
			break;
	}
	memcpy(to, text, count);
	to[count] = '\0';
}

void gt_check_failed(const char *file, size_t line, const char *text, const char *format, ...)
{
	char condition[CONDITION_BYTES];
	struct cri_assert_node node;
	char *message = NULL;
	char *all = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&message, format, arguments) < 0)
		abort();
	va_end(arguments);
	copy_condition(condition, sizeof(condition), text);
	if (asprintf(&all, "%s%s%s%s%s", condition, *message ? ": " : "", message,
	             *values ? "\ncompared: " : "", values) < 0)
		abort();
	free(message);
	cri_assert_node_init(&node);
	node.message = all; /* Criterion's to free */
	cri_assert_node_send(file, line, &node);
	cri_assert_node_term(&node);
}
