/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_REPLAY_H
#define GT_REPLAY_REPLAY_H

#include "replay/types/options.h"
#include "replay/types/result.h"

struct gt_bundle;
struct gt_cuda;
struct gt_error;

/*
 * Runs the launches of a bundle again, in this process: times and verifies them. One bundle at a
 * time, on one thread.
 *
 * Fails in a sentence: -ENOTSUP the GPU is of another architecture, -ENOMEM too little memory,
 * -EADDRINUSE addresses are taken here: another process has others; -EIO the launch failed and
 * -ETIMEDOUT it did not end, with fault set; and as the bundle's blobs do. The result is then empty
 * but for fault and spoiled.
 */
int gt_replay_run(const struct gt_bundle *bundle, const struct gt_cuda *cuda,
                  const struct gt_replay_options *options, struct gt_replay_result *result,
                  struct gt_error *err);

#endif
