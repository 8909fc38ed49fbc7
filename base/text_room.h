/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_TEXT_ROOM_H
#define GT_BASE_TEXT_ROOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * How much is written of texts that are written again and again, as names of kernels are. Short
 * ones are written whole; longer ones too, as long as there is room for them, then only so much.
 */
struct gt_text_room {
	uint64_t left; /* bytes that long texts may still take */
	uint64_t cut;  /* texts that were cut */
};

/* Bytes of a text that are always written, */
#define GT_TEXT_SHORT 1024

/* and what follows where that is not the whole text. */
#define GT_TEXT_CUT "..."

/* Bytes of long texts in a file for another program; as much again may be added by escapes. */
#define GT_TEXT_ROOM_OF_FILE ((uint64_t)128 << 20)

/* Bytes of the text, in whole characters, that are to be written; it is cut if they are not all. */
size_t gt_text_room_take(struct gt_text_room *room, const char *text);

/* The text, or, in the buffer, what is to be written of one that is cut. */
const char *gt_text_room_fit(struct gt_text_room *room, const char *text,
                             char buffer[GT_TEXT_SHORT + sizeof(GT_TEXT_CUT)]);

#endif
