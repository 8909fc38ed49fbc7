/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_SCRIPT_H
#define GT_TESTS_GOLDEN_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lines of words, with lists of words that are made of others:
 *
 *   define launch at number      words that are told later: launch 5us 7
 *     call at=$at number=$number
 *   end
 *   for size 99 100 101          the lines once for each word
 *     copy bytes=$size
 *   end
 *   for i 0..9                   or for each number
 *     launch $i*5us+3us $i+1
 *   end
 *
 * Blanks are in "quotes". A # begins a comment.
 */
enum { SCRIPT_WORDS = 40, SCRIPT_BYTES = 4096 };

struct script_words {
	size_t count;
	char *words[SCRIPT_WORDS];
	char bytes[SCRIPT_BYTES];
};

/* Called for each line that is none of the above, with what is put in for its names. */
typedef void script_act(void *context, const struct script_words *words);

/* Runs a text, in which what a text before it has defined is known. Ends the program if it is wrong.
 */
void script_run(const char *path, const char *before, const char *text, script_act *act,
                void *context);

/*
 * The number that a word is: sums of products of numbers, some with a unit: 3*(1ms+64KiB)-1. none:
 * all bits set. @NAME: the hash by which functions are noted.
 */
uint64_t script_number(const char *word);

#endif
