/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SOURCES_API_H
#define GT_INJECTION_SOURCES_API_H

#include <cupti.h>

struct gt_session;

/* The callback that the session's one subscriber is made with; context is the session. */
void CUPTIAPI gt_api_callback(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *data);

#endif
