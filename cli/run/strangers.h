/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_STRANGERS_H
#define GT_CLI_RUN_STRANGERS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "format/roll.h"

/*
 * Processes of a run that CUDA does not tell of gputrace's library, as somebody emptied their
 * environment (env -i, sudo, a container): nothing in them can say that they are not recorded. So
 * the run looks at its processes now and then. A process is one of these when its environment does
 * not name the library and it has CUDA's driver in memory. One that is over before the next look
 * is not seen.
 */
struct gt_strangers {
	gt_array(struct gt_roll_facts) list;
};

#define GT_STRANGERS_INTERVAL_NS 250000000

/* Looks at a process and all that it started and that are its descendants still. */
void gt_strangers_look(struct gt_strangers *strangers, pid_t first);

/* Enters those of which the folder holds no capture into the roll, and forgets all. */
void gt_strangers_enter(struct gt_strangers *strangers, const char *folder, struct gt_roll *roll);

#endif
