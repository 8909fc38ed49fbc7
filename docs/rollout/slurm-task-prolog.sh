#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A TaskProlog of Slurm: tasks of jobs that ask for it are recorded, by their environment alone.
#   RECORD_GPU=all sbatch job.sh      every task
#   RECORD_GPU=node sbatch job.sh     the first task of each node
# Slurm runs it beside each task, as the task's user. A line "export NAME=VALUE" of its output sets a variable of the
# task, a line "print TEXT" is output of the task. It always succeeds: a job never fails for want of a recording.
prefix=/opt/gputrace # where gputrace lies on every node
folder=/tmp          # where recordings go: a disk of the node's own

library=$prefix/lib/libgputrace-injection.so

case ${RECORD_GPU:-off} in
all) ;;
node) [ "${SLURM_LOCALID:-0}" = 0 ] || exit 0 ;;
off) exit 0 ;;
*)
	echo "print gputrace: not recorded, RECORD_GPU is $RECORD_GPU and neither all nor node"
	exit 0
	;;
esac
if ! [ -r "$library" ]; then
	echo "print gputrace: not recorded, ${SLURMD_NODENAME:-this node} has no $library"
	exit 0
fi
echo "export CUDA_INJECTION64_PATH=$library"
echo "export NVTX_INJECTION64_PATH=$library"
# Tasks of a job on a node share a recording, a file for each process.
[ -n "${GPUTRACE_OUTPUT-}" ] || echo "export GPUTRACE_OUTPUT=$folder/job-$SLURM_JOB_ID-%h.gputrace"
