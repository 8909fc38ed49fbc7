/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_CLI_DOCTOR_MADE_UP_H
#define GT_TESTS_CLI_DOCTOR_MADE_UP_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"
#include "support/check.h"
#include "support/recording.h"

/*
 * A machine on which all is well: a driver for CUDA 13, a GPU, a libcupti, no program. A test
 * plants a fault in it and looks for the finding.
 */
struct made_up {
	struct recording folder; /* its root, which has /proc and programs */
	struct gt_world world;
	char *environment[4];
};

static inline void made_up_init(struct made_up *made_up)
{
	struct gt_world *world = &made_up->world;

	memset(made_up, 0, sizeof(*made_up));
	recording_init(&made_up->folder);
	*world = (struct gt_world){
		.root = made_up->folder.path,
		.environment = made_up->environment,
		.user = getuid(),
		.group = getgid(),
		.answer = {.complete = true,
	                   .gpus = {.driver_version = 13000, .count = 1},
	                   .cupti = "/opt/libcupti.so.13",
	                   .cupti_version = 130001},
		.folder = ".",
		.room = {.known = true, .needed_bytes = 100, .free_bytes = 100},
	};
	strcpy(world->answer.gpus.names[0], "NVIDIA H200");
}

static inline void made_up_release(struct made_up *made_up)
{
	recording_release(&made_up->folder);
}

/* The path of a file below the root, whose folders are made. */
static inline void made_up_path(const struct made_up *made_up, const char *name,
                                char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", made_up->folder.path, name);
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
}

static inline void made_up_bytes(const struct made_up *made_up, const char *name, const void *bytes,
                                 size_t size)
{
	char path[PATH_MAX];
	FILE *file;

	made_up_path(made_up, name, path);
	file = fopen(path, "w");
	cr_assert(file != NULL, "%s", path);
	cr_assert(eq(sz, fwrite(bytes, 1, size, file), size));
	cr_assert(eq(int, fclose(file), 0));
}

static inline void made_up_file(const struct made_up *made_up, const char *name, const char *text)
{
	made_up_bytes(made_up, name, text, strlen(text));
}

/* Makes a program of a file below the root, which the world then has. */
static inline void made_up_program(struct made_up *made_up, const char *name, mode_t mode)
{
	static char path[PATH_MAX];

	made_up_path(made_up, name, path);
	cr_assert(eq(int, chmod(path, mode), 0));
	gt_program_read(&made_up->world.program, path);
}

#endif
