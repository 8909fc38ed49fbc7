/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_WORLD_H
#define GT_CLI_DOCTOR_WORLD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/doctor/answer.h"
#include "cli/doctor/program.h"
#include "cli/doctor/room.h"

/*
 * The machine that gputrace doctor looks at, and the program on it. Findings read files of /proc
 * and /dev below a root, so that a test can make a machine up; facts that no file holds are
 * members.
 */
struct gt_world {
	const char *root;         /* stands before /proc and /dev: "" for this machine */
	char *const *environment; /* of the program: NAME=VALUE, NULL at the end */
	uid_t user;               /* who would start the program */
	gid_t group;
	struct gt_answer answer;   /* of libcuda and libcupti */
	struct gt_program program; /* named: there is one */
	struct gt_error library;   /* why gputrace's library is not found; code 0: it is */
	char folder[PATH_MAX];     /* where a recording would be made */
	int folder_code;           /* why nothing can be made in it: an errno value, or 0 */
	struct gt_room room;       /* of its disk */
	int move_pages_code;       /* why the kernel refuses the call: an errno value, or 0 */
	int read_memory_code;      /* likewise, of process_vm_readv */
};

/* The choices that a look begins with. */
struct gt_world_choice {
	const char *root;
	char *const *environment;
	const char *program; /* NULL: none */
};

/*
 * Fills the world with the facts of this machine. Borrows what the choice holds. Asks the driver,
 * which may take GT_ANSWER_SECONDS. Below another root than "" system calls are not tried.
 */
void gt_world_look(struct gt_world *world, const struct gt_world_choice *choice);

/* A variable of the environment; NULL when it is not set. Borrowed. */
const char *gt_world_variable(const struct gt_world *world, const char *name);

/*
 * The rest of the first line that begins with key, without blanks around it, of a file below the
 * root. Returns false, with text "", when there is none.
 */
bool gt_world_line(const struct gt_world *world, const char *file, const char *key, char *text,
                   size_t size);

/* A path below the root. False when it is too long. */
bool gt_world_path(const struct gt_world *world, const char *file, char path[PATH_MAX]);

/* How many paths below the root fit a pattern of glob(3). */
size_t gt_world_count(const struct gt_world *world, const char *pattern);

/*
 * The first process whose name (comm, at most 15 characters) is one of these, which end with NULL;
 * 0: none. name, which is one of them, may be NULL.
 */
pid_t gt_world_process(const struct gt_world *world, const char *const *names, const char **name);

#endif
