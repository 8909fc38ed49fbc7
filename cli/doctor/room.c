/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/room.h"

#include <sys/statvfs.h>

#include "format/arena/arena.h"
#include "format/settings.h"

struct gt_room gt_room_of(const char *folder, const struct gt_settings *settings)
{
	const struct gt_arena_config config =
		gt_arena_config_of(settings->buffer_count, settings->buffer_bytes, "");
	struct gt_room room = {.needed_bytes = gt_arena_bytes(&config)};
	struct statvfs disk;

	if (statvfs(folder, &disk) < 0 || disk.f_blocks == 0)
		return room;
	room.known = true;
	room.free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	return room;
}

bool gt_room_is_enough(const struct gt_room *room)
{
	return !room->known || room->free_bytes >= room->needed_bytes;
}
