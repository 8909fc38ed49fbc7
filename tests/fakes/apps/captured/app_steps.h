/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_APPS_CAPTURED_APP_STEPS_H
#define GT_TESTS_FAKES_APPS_CAPTURED_APP_STEPS_H

#include <stdint.h>

/*
 * Arguments of programs with kernels out of tests/cubins: PROGRAM --cubin FILE [--how WHAT]
 * [--steps N]. The values in how and steps before are the defaults.
 */

extern const char *how;
extern uint64_t steps;
extern char image[]; /* the file, with a zero behind it */

void app_read_words(int argc, char **argv);
void app_read_image(const char *path);

/* Whether it is what was asked for. */
int is(const char *wanted);

#endif
