/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_ANALYSIS_CHECK_ADVICE_H
#define GT_TESTS_ANALYSIS_CHECK_ADVICE_H

#include "analysis/check_report.h"
#include "support/scene.h"

/* Asks what report advice says of the scene of support/scene.h. For one file of tests. */

static struct gt_result advice;

static inline void ask(void)
{
	run_report(&advice, "advice", &trace);
}

/* The first row of a rule; -1: it says nothing. */
static inline int row_of(const char *rule)
{
	for (size_t i = 0; i < row_count(&advice, "advice"); i++)
		if (strcmp(cell(&advice, "advice", i, "rule")->text, rule) == 0)
			return (int)i;
	return -1;
}

static inline bool says(const char *rule)
{
	return row_of(rule) >= 0;
}

/* Why a rule had nothing to go by; "" when it had. */
static inline const char *not_asked(const char *rule)
{
	for (size_t i = 0; i < row_count(&advice, "rules"); i++)
		if (strcmp(cell(&advice, "rules", i, "rule")->text, rule) == 0) {
			const struct gt_cell *why = cell(&advice, "rules", i, "not_asked");

			return why->unknown ? "" : why->text;
		}
	cr_fatal("there is no rule %s", rule);
	return "";
}

static inline void done(void)
{
	gt_result_release(&advice);
	gt_trace_release(&trace);
}

/* Asks once more, after the scene was changed. */
static inline void ask_again(void)
{
	gt_result_release(&advice);
	ask();
}

#define expect_rule(rule, expected_kind, expected_text)                                            \
	do {                                                                                       \
		cr_assert(says(rule), "%s says nothing", rule);                                    \
		expect_words(&advice, "advice", (size_t)row_of(rule), "kind", expected_kind);      \
		cr_expect(ne(ptr,                                                                  \
		             strstr(cell(&advice, "advice", (size_t)row_of(rule), "advice")->text, \
		                    expected_text),                                                \
		             NULL),                                                                \
		          "%s: %s", rule,                                                          \
		          cell(&advice, "advice", (size_t)row_of(rule), "advice")->text);          \
	} while (0)

#define expect_gain(rule, expected_bound, expected_ns)                                             \
	do {                                                                                       \
		cr_assert(says(rule), "%s says nothing", rule);                                    \
		expect_words(&advice, "advice", (size_t)row_of(rule), "bound", expected_bound);    \
		expect_count(&advice, "advice", (size_t)row_of(rule), "gain_ns", expected_ns);     \
	} while (0)

#define expect_no_gain(rule)                                                                       \
	do {                                                                                       \
		cr_assert(says(rule), "%s says nothing", rule);                                    \
		expect_unknown(&advice, "advice", (size_t)row_of(rule), "gain_ns");                \
	} while (0)

#define expect_silence(rule)                                                                       \
	cr_expect(                                                                                 \
		not(says(rule)), "%s: %s", rule,                                                   \
		cell(&advice, "advice", (size_t)(says(rule) ? row_of(rule) : 0), "advice")->text)

#endif
