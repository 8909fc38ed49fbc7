/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/host.h"
#include "base/path.h"
#include "cli/output/process.h"
#include "cli/recording/recording.h"
#include "cli/run/machine/machine.h"
#include "format/recording.h"

#define SYSFS "/sys"

struct bytes {
	gt_array(unsigned char) all;
};

static int append(void *context, const void *data, size_t size)
{
	struct bytes *bytes = context;

	bytes->all.rows = gt_array_resize(bytes->all.rows, bytes->all.count + size, 1);
	memcpy(bytes->all.rows + bytes->all.count, data, size);
	bytes->all.count += size;
	return 0;
}

/* The first of several runs writes the file. It is all there before it has a name to write to. */
static void store(const struct gt_machine *machine, const char *path)
{
	struct bytes bytes = {0};
	int fd = -1;

	if (gt_machine_write(machine, (struct gt_sink){append, &bytes}) == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && gt_write_all(fd, bytes.all.rows, bytes.all.count) < 0)
		(void)unlink(path);
	if (fd >= 0)
		(void)close(fd);
	gt_array_release(&bytes.all);
}

/* Everything. */
static int ask(void *context)
{
	struct gt_machine machine;

	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(GT_TOPOLOGY_SECONDS);
	gt_machine_init(&machine);
	(void)gt_machine_read_nvml(&machine);
	gt_machine_read_sysfs(&machine, SYSFS);
	(void)alarm(0);
	store(&machine, context);
	gt_machine_release(&machine);
	return 0;
}

/* Stores the parts of a machine that are known without the driver. */
static void store_without_nvml(const char *path)
{
	struct gt_machine machine;

	gt_machine_init(&machine);
	gt_machine_note(&machine,
	                "NVML did not answer within %d s: NVLink and GPUs' numbers are not known",
	                GT_TOPOLOGY_SECONDS);
	gt_machine_read_sysfs(&machine, SYSFS);
	store(&machine, path);
	gt_machine_release(&machine);
}

void gt_topology_record(const char *folder)
{
	char host[HOST_NAME_MAX + 1];
	char path[PATH_MAX];
	struct gt_ending ending = {0};

	gt_host_name(host, sizeof(host));
	if (snprintf(path, sizeof(path), "%s/%s" GT_TOPOLOGY_SUFFIX, folder, host) >=
	            (int)sizeof(path) ||
	    access(path, F_OK) == 0 || !gt_recording_has_captures(folder))
		return;
	if (gt_process_apart(ask, path, &ending) == 0 && ending.signal == SIGALRM)
		store_without_nvml(path);
}
