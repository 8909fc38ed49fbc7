/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SOURCES_H
#define GT_INJECTION_SOURCES_H

struct gt_session;

/* Every source of sources.def, in its order; those that could not start are left out. */
void gt_sources_start(struct gt_session *session);
void gt_sources_tick(struct gt_session *session);
void gt_sources_stop(struct gt_session *session);

#endif
