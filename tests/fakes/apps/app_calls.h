/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_APPS_APP_CALLS_H
#define GT_TESTS_FAKES_APPS_APP_CALLS_H

/* The calls that a test program makes, counted by the names that a report must show for them. */

/* Notes one call; returns result. Any thread. */
int app_counted(const char *name, int result);

/* Ends the program with status 99 and one line. */
_Noreturn void app_fail(const char *what, int result);

/* "calls":{"cudaFree":2,...} on standard output. */
void app_print_calls(void);

/* A call that must succeed. */
#define MUST(function, ...)                                                                        \
	do {                                                                                       \
		const int result_ = app_counted(#function, (int)function(__VA_ARGS__));            \
		if (result_)                                                                       \
			app_fail(#function, result_);                                              \
	} while (0)

#endif
