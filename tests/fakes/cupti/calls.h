/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUPTI_CALLS_H
#define GT_TESTS_FAKES_CUPTI_CALLS_H

/*
 * FAKE_CUPTI_CALLS names a file that gets a line for each call that sets CUPTI up or that is about
 * hardware counters: its name, and what it is given. A line says of pointers only whether they are
 * there, of texts and lists of names all.
 */

/* Whether anybody wants to know. */
int fake_cupti_calls_on(void);

/* One line; fmt: of what stands behind the name. */
__attribute__((format(printf, 2, 3))) void fake_cupti_tell(const char *call, const char *fmt, ...);

#define FAKE_TELL(...)                                                                             \
	do {                                                                                       \
		if (fake_cupti_calls_on())                                                         \
			fake_cupti_tell(__func__, __VA_ARGS__);                                    \
	} while (0)

#define FAKE_THERE(pointer) ((pointer) ? "set" : "null")

/* The same of a struct of CUPTI's, with all of its members. */
#define FAKE_STRUCT(name, theirs) void fake_tell_##theirs(const char *call, const void *params);
#define FAKE_MEMBER(name, type, member, theirs)
#define FAKE_END(name, last)
#include "fakes/cupti/structs.inc"

/* As the real one: what the caller does not say it has, it does not have. */
#define KNOWS(params, type)                                                                        \
	((params) && (fake_cupti_calls_on() ? fake_tell_##type(__func__, params) : (void)0,        \
	              (params)->structSize >= type##_STRUCT_SIZE))

#endif
