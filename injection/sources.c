/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/sources.h"

#include <stdbool.h>
#include <stdio.h>

#include "injection/session.h"
#include "injection/source.h"

#define SOURCE(name) extern const struct gt_source gt_source_##name;
#include "injection/sources.def"

#define SOURCE(name) &gt_source_##name,
static const struct gt_source *const sources[] = {
#include "injection/sources.def"
};

enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

_Static_assert(SOURCE_COUNT <= GT_MAX_SOURCES, "the session has room for every source");

void gt_sources_start(struct gt_session *session)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		char why[256] = "it could not start";

		session->source_started[i] = sources[i]->start(session, why, sizeof(why)) == 0;
		if (session->source_started[i])
			continue;
		gt_ledger_add(&session->arena, GT_LEDGER_sources_failed, 1);
		gt_session_note(session, sources[i]->name, why);
	}
}

void gt_sources_tick(struct gt_session *session)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		if (session->source_started[i] && sources[i]->tick)
			sources[i]->tick(session);
}

void gt_sources_stop(struct gt_session *session)
{
	for (size_t i = SOURCE_COUNT; i-- > 0;)
		if (session->source_started[i] && sources[i]->stop)
			sources[i]->stop(session);
}
