/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

#define WAITING 16 /* connections that nobody has accepted yet */

int gt_port_listen(unsigned port, struct gt_error *err)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int on = 1;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int code;

	if (fd < 0)
		return gt_fail(err, errno, "cannot make a socket: %s", gt_errno_text(errno));
	/* Connections of one that has ended do not keep the port; one that listens does. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, WAITING) == 0)
		return fd;
	code = errno;
	(void)close(fd);
	if (code == EADDRINUSE)
		return gt_fail(err, code, "port %u of 127.0.0.1 is taken by another program", port);
	return gt_fail(err, code, "cannot use port %u of 127.0.0.1: %s", port, gt_errno_text(code));
}

unsigned gt_port_number(int socket)
{
	struct sockaddr_in address = {0};
	socklen_t length = sizeof(address);

	(void)getsockname(socket, (struct sockaddr *)&address, &length);
	return ntohs(address.sin_port);
}
