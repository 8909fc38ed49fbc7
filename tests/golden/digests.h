/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_DIGESTS_H
#define GT_TESTS_GOLDEN_DIGESTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "golden/grid.h"
#include "golden/relations.h"

/* A run of golden_digests. */
struct digests {
	struct grid made;
	size_t input;       /* that is read */
	const char *filter; /* of the view that is read, "": none */
	const char *show;   /* name of the input to be shown, NULL: none */
	bool thorough;      /* settings that are numbers, and exports without calls, as well */
	bool relates;       /* relations are checked, nothing is digested */
	struct relations relations;
	size_t every, seen; /* of so many inputs one is read */
	char captures[PATH_MAX], corpus[PATH_MAX], gallery[PATH_MAX], world[PATH_MAX],
		kept[PATH_MAX];
};

/* Ends the program where a fact does not hold, with what errno says. */
void must(bool fact, const char *what);

/* A text that has to fit. */
__attribute__((format(printf, 3, 4))) void write_name(char *name, size_t size, const char *format,
                                                      ...);

/* made.c: adds to the input at hand all that gputrace makes of a recording, with the first choices.
 */
void digest_recording(struct digests *digests, const char *folder, size_t choices);

/* inputs.c: all recordings there are; others are made below the folder, the working directory. */
void digest_inputs(struct digests *digests, const char *folder);

#endif
