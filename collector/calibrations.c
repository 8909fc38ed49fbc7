/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/calibrations.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/recording.h"
#include "model/gpu/calibration.h"

int gt_calibrations_read(struct gt_calibrations *calibrations, int folder, const char *name,
                         struct gt_error *err)
{
	const int fd = gt_open_file(folder, name, O_RDONLY | O_NOFOLLOW, err);
	struct gt_content content = {0};
	struct stat status;
	int result;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0 || status.st_size > GT_CALIBRATION_MOST_SIZE)
		result = gt_fail(err, EBADMSG, "%s is too large to be a calibration", name);
	else
		result = gt_load_fd(&content, fd, err);
	close(fd);
	if (result == 0)
		result = gt_calibrations_parse(calibrations, (const char *)content.bytes,
		                               content.size, name, err);
	gt_unload(&content);
	return result;
}
