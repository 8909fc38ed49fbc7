/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/session.h"

#include <stdio.h>
#include <string.h>

#include "base/host.h"
#include "cli/recording/manifest.h"
#include "cli/replay/again.h"
#include "cli/replay/apart.h"
#include "replay/tune/variant.h"

static void name_buffer(struct gt_outcome_buffer *buffer, const struct gt_bundle_memory *memory)
{
	const struct gt_array_shape *shape = &memory->array;

	if (memory->kind != GT_BUNDLE_MEMORY_array)
		snprintf(buffer->name, sizeof(buffer->name), "%s", memory->name);
	else
		snprintf(buffer->name, sizeof(buffer->name), "%sarray %llu x %llu x %llu",
		         shape->levels ? "mipmapped " : "", (unsigned long long)shape->width,
		         (unsigned long long)(shape->height ? shape->height : 1),
		         (unsigned long long)(shape->depth ? shape->depth : 1));
}

static void add_buffers(struct gt_outcome *outcome, const struct gt_bundle *bundle,
                        const struct gt_replay_result *result)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &result->buffers) {
		struct gt_outcome_buffer *added = gt_array_push(&outcome->buffers);

		*added = (struct gt_outcome_buffer){
			.found = *buffer,
			.element = gt_element_name(buffer->comparison.element),
		};
		if (buffer->memory < bundle->memory.count) {
			const struct gt_bundle_memory *memory =
				&bundle->memory.rows[buffer->memory];

			added->address = memory->address;
			added->bytes = memory->size;
			name_buffer(added, memory);
		}
		outcome->mismatches += buffer->comparison.mismatches;
		outcome->unwritten += buffer->unwritten + buffer->untouched;
		outcome->outside += buffer->outside;
		outcome->varying += buffer->varying;
	}
}

void gt_session_add_times(struct gt_outcome *outcome, const struct gt_session *session,
                          const struct gt_replay_result *result)
{
	const struct gt_replay_times *times = &result->times;

	outcome->median_ns = times->median;
	outcome->least_ns = times->least;
	outcome->most_ns = times->most;
	outcome->p05_ns = times->p05;
	outcome->p95_ns = times->p95;
	outcome->error = times->error;
	outcome->events_ns = times->events_median;
	outcome->sm_mhz = times->sm_mhz;
	outcome->runs = times->ns.count;
	outcome->thrown_out = times->thrown_out;
	outcome->other_mode = times->other_mode;
	outcome->restored_bytes = times->restored_bytes;
	outcome->left_bytes = times->left_bytes;
	snprintf(outcome->doubt, sizeof(outcome->doubt), "%s", times->doubt);
	outcome->stable = times->stable;
	snprintf(outcome->clock, sizeof(outcome->clock), "%s", times->clock ? times->clock : "");
	outcome->job_launches = session->bundle->origin.job_launches;
	outcome->job_ns =
		outcome->job_launches ? (double)session->bundle->origin.job_ns : result->job_ns;
	if (session->options.compare_states) {
		memcpy(outcome->by_state, times->by_state, sizeof(outcome->by_state));
		gt_apart_choose(outcome, (unsigned)session->options.l2);
	}
	outcome->bytes = result->bytes;
	outcome->moved = !result->at_addresses;
	outcome->layouts = result->layouts + gt_begun_again();
	snprintf(outcome->no_cupti, sizeof(outcome->no_cupti), "%s", times->no_cupti);
	snprintf(outcome->guessed, sizeof(outcome->guessed), "%s", result->guessed);
	snprintf(outcome->handles, sizeof(outcome->handles), "%s", result->handles);
}

void gt_session_add_outputs(struct gt_outcome *outcome, const struct gt_session *session,
                            const struct gt_replay_result *result)
{
	gt_array_release(&outcome->buffers);
	outcome->mismatches = outcome->unwritten = outcome->outside = outcome->varying = 0;
	/* Memory not known to be written tells nothing of what the launches do. */
	outcome->unchanged = session->options.verify && result->proven == 0 && !result->wrong;
	outcome->checked = session->options.verify && !outcome->unchanged;
	outcome->verified =
		outcome->checked && result->verified && outcome->sequence_mismatches == 0;
	outcome->first_bad_step = result->first_bad_step;
	snprintf(outcome->no_poison, sizeof(outcome->no_poison), "%s", result->no_poison);
	snprintf(outcome->no_roles, sizeof(outcome->no_roles), "%s", result->no_roles);
	memcpy(outcome->roles, result->roles, sizeof(outcome->roles));
	add_buffers(outcome, session->bundle, result);
}

void gt_session_begin_outcome(struct gt_outcome *outcome, const struct gt_session *session,
                              const struct gt_variant *variant)
{
	const struct gt_calibration *gpu = &session->gpu;

	gt_outcome_init(outcome);
	gt_variant_describe(variant, outcome->variant);
	gt_replay_conditions(&session->options,
	                     session->excerpt ? session->excerpt->step : UINT32_MAX,
	                     outcome->conditions);
	if (session->options.form != GT_SEQUENCE_recorded)
		gt_replay_form(&session->options, outcome->form);
	snprintf(outcome->date, sizeof(outcome->date), "%s", gt_instant_now().utc);
	snprintf(outcome->gputrace, sizeof(outcome->gputrace), "%s", GPUTRACE_VERSION);
	snprintf(outcome->device, sizeof(outcome->device), "%s", gpu->device);
	snprintf(outcome->uuid, sizeof(outcome->uuid), "%s", gpu->uuid);
	snprintf(outcome->driver, sizeof(outcome->driver), "%s", gpu->driver);
	gt_host_name(outcome->host, sizeof(outcome->host));
	outcome->others_plus_one = session->others < 0 ? 0 : (uint64_t)session->others + 1;
	outcome->roof = session->roof;
	if (!session->excerpt)
		return;
	outcome->step_plus_one = (uint64_t)session->excerpt->step + 1;
	outcome->sequence_compared = session->rehearsal.compared;
	outcome->sequence_mismatches = session->rehearsal.mismatches;
	outcome->sequence_first = session->rehearsal.first;
}
