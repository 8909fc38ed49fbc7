/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/listener.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/host.h"
#include "format/roll.h"

#define WAITING 4096 /* processes whose word can wait; the system may allow fewer */

static int listen_at(char *name, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t chance = 0;
	socklen_t length;
	int fd;

	(void)!getrandom(&chance, sizeof(chance), 0);
	snprintf(name, size, "gputrace-%d-%016" PRIx64, (int)getpid(), chance);
	memcpy(address.sun_path + 1, name, strlen(name));
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, length) == 0 &&
	    listen(fd, WAITING) == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

void gt_listener_open(struct gt_listener *listener, const char *folder)
{
	char host[HOST_NAME_MAX + 1];
	char name[48];

	*listener = (struct gt_listener){.fd = -1};
	gt_host_name(host, sizeof(host));
	listener->roll = gt_roll_open(folder, host, NULL);
	if (!listener->roll ||
	    getrandom(&listener->token, sizeof(listener->token), 0) != sizeof(listener->token))
		return;
	listener->fd = listen_at(name, sizeof(name));
	if (listener->fd >= 0)
		snprintf(listener->run, sizeof(listener->run), "%s:%016" PRIx64, name,
		         listener->token);
}

/* Who it is is what the kernel says, where it does. */
static void take(const struct gt_listener *listener, int fd)
{
	struct gt_roll_word word;
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (recv(fd, &word, sizeof(word), MSG_DONTWAIT) != (ssize_t)sizeof(word) ||
	    word.token != listener->token)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0) {
		word.facts.user = peer.uid;
		if (peer.pid > 0)
			word.facts.pid = (uint32_t)peer.pid;
	}
	gt_roll_clean(&word.facts);
	gt_roll_refuse(listener->roll, &word.facts);
}

void gt_listener_close(struct gt_listener *listener)
{
	int fd;

	if (listener->fd < 0)
		return;
	/* Those that wait; who goes on connecting is not waited for. */
	for (int i = 0; i < WAITING && (fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;
	     i++) {
		take(listener, fd);
		(void)close(fd);
	}
	(void)close(listener->fd);
	listener->fd = -1;
}
