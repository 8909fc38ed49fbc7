/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_TOPOLOGY_H
#define GT_CLI_RUN_TOPOLOGY_H

/*
 * Writes what this machine is made of (cli/run/machine/machine.h) into a recording's folder as
 * HOST.topology, unless another run has done so. For after the program has ended: the program
 * shares no driver call with it. It happens in a process of its own, which has so many seconds;
 * what does not answer is then said in the file. A folder without a capture gets none.
 */
enum { GT_TOPOLOGY_SECONDS = 5 };

void gt_topology_record(const char *folder);

#endif
