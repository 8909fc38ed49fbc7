/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_PORT_H
#define GT_CLI_VIEW_PORT_H

struct gt_error;

/*
 * A socket that listens on 127.0.0.1 alone: no other machine reaches it. port 0 is any free one.
 * Returns a descriptor, which the caller closes, or a negative errno value, -EADDRINUSE for a port
 * that is taken.
 */
int gt_port_listen(unsigned port, struct gt_error *err);

/* The port that such a socket has. */
unsigned gt_port_number(int socket);

#endif
