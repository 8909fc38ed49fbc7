/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_ROOM_H
#define GT_CLI_DOCTOR_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct gt_settings;

/* The disk of a folder, for the arenas of processes that record into it. */
struct gt_room {
	bool known;            /* some file systems do not tell */
	uint64_t needed_bytes; /* of each process, while it runs */
	uint64_t free_bytes;
};

struct gt_room gt_room_of(const char *folder, const struct gt_settings *settings);

bool gt_room_is_enough(const struct gt_room *room);

#endif
