/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world FOLDER SEED [COUNT]: makes FOLDER/SEED.gputrace, a recording of a made-up world, and in it
 * world.json, which says what happened there; and those of the seeds that follow.
 */
#include "oracle/world.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(bool fact, const char *what)
{
	if (fact)
		return;
	perror(what);
	exit(1);
}

static void write_world(const char *folder, uint64_t seed)
{
	static struct world world;
	char path[4096];
	FILE *file;

	make_world(&world, seed);
	read_power(&world);
	snprintf(path, sizeof(path), "%s/%llu.gputrace", folder, (unsigned long long)seed);
	must(mkdir(path, 0755) == 0 || errno == EEXIST, path);
	must(chdir(path) == 0, path);
	record_world(&world);
	file = fopen("world.json", "w");
	must(file != NULL, "world.json");
	list_world(&world, file);
	must(fclose(file) == 0, "world.json");
}

int main(int count, char **words)
{
	const uint64_t seed = count > 2 ? strtoull(words[2], NULL, 10) : 0;
	const uint64_t worlds = count > 3 ? strtoull(words[3], NULL, 10) : 1;
	char folder[4096];

	if (count < 3) {
		fprintf(stderr, "usage: world FOLDER SEED [COUNT]\n");
		return 2;
	}
	must(realpath(words[1], folder) != NULL, words[1]);
	for (uint64_t i = 0; i < worlds; i++)
		write_world(folder, seed + i);
	return 0;
}
