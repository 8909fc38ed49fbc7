/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPLETION_OFFERS_H
#define GT_CLI_COMPLETION_OFFERS_H

#include <stddef.h>
#include <stdio.h>

#include "base/array.h"

/* Words that the shell itself may offer besides. */
enum gt_offers_more {
	GT_OFFERS_WORDS,    /* nothing */
	GT_OFFERS_FILES,    /* any file */
	GT_OFFERS_COMMANDS, /* programs */
	GT_OFFERS_PROGRAM,  /* whatever the program that is named completes */
};

/* A word that can stand there. */
struct gt_offer {
	char *word; /* all of it, owned */
	char *text; /* what it is, in a few words, or NULL; owned */
};

/* Words that a command line's last word can become: made of the tables that --help is made of, and
 * of what lies in the folder. */
struct gt_offers {
	enum gt_offers_more more;
	size_t program;                  /* GT_OFFERS_PROGRAM: at which word it stands */
	gt_array(struct gt_offer) words; /* in the order in which they are worth offering */
};

/* words are count, at least one, without "gputrace"; the last, perhaps empty, is completed. */
void gt_offers_init(struct gt_offers *offers, size_t count, char **words);
void gt_offers_release(struct gt_offers *offers);

/*
 * For the shells: a line with what they may offer besides (words, files, commands, program NUMBER),
 * then a line for each word, and what it is behind a tab. Words that end with "=" or "/" go on.
 */
void gt_offers_print(const struct gt_offers *offers, FILE *out);

#endif
