/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_MACHINE_KERNEL_LOG_H
#define GT_CLI_RUN_MACHINE_KERNEL_LOG_H

/*
 * Xid messages, which say what NVIDIA's kernel driver found wrong with a GPU or with what a program
 * did to it. They are in the kernel log, /dev/kmsg, which only root and who has CAP_SYSLOG may read
 * on most machines. The log is opened before the program runs and read from there on when it has
 * ended, so that the messages are those of the run, whatever the kernel's clock says.
 *
 * The recording gets them as HOST.kernel-log, text: the messages, as dmesg shows them, and a line
 * that says whether the log could be read (GT_KERNEL_LOG_READ, else the end of such a sentence).
 */

/* For tests: another file than /dev/kmsg. The program does not see the variable. */
#define GT_KERNEL_LOG_VARIABLE "GPUTRACE_KERNEL_LOG"

struct gt_kernel_log {
	int fd;   /* -1: it is not open */
	int code; /* why: an errno value */
};

#define GT_KERNEL_LOG_INIT                                                                         \
	{                                                                                          \
		.fd = -1                                                                           \
	}

void gt_kernel_log_open(struct gt_kernel_log *log);

/*
 * Adds what was written since to the recording in the folder, if that has captures: several runs
 * may do so. Closes the log.
 */
void gt_kernel_log_record(struct gt_kernel_log *log, const char *folder);

/* May be called twice. */
void gt_kernel_log_close(struct gt_kernel_log *log);

#endif
