/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/forms.h"

#include <errno.h>

#include "base/error.h"
#include "cli/replay/request.h"
#include "model/bundle/bundle.h"

/* The program's: a graph is launched as one, in the stream of its first step. */
static bool has_work(const struct gt_bundle *bundle, size_t stream)
{
	for (size_t i = 0; i < bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &bundle->steps.rows[i];

		if (step->stream == stream && (gt_bundle_is_work(step) || step->graph != 0) &&
		    !gt_bundle_goes_on_with_graph(bundle, i))
			return true;
	}
	return false;
}

/* Whether the stream is none of the program's: it orders what is in graphs, or nothing at all. */
static bool is_inside_graphs(const struct gt_bundle *bundle, size_t stream)
{
	for (size_t i = 0; i < bundle->steps.count; i++)
		if (bundle->steps.rows[i].stream == stream &&
		    !gt_bundle_goes_on_with_graph(bundle, i))
			return false;
	return true;
}

static bool has_graphs(const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		if (step->graph != 0)
			return true;
	return false;
}

static size_t count_streams(const struct gt_bundle *bundle)
{
	size_t count = 0;

	for (size_t i = 0; i < bundle->streams.count; i++)
		count += has_work(bundle, i);
	return count;
}

static struct gt_form *add(struct gt_forms *forms, enum gt_sequence_form form)
{
	struct gt_form *added = gt_array_push(&forms->list);

	*added = (struct gt_form){.form = form};
	return added;
}

/* That stream, then the others: what is too long to be told ends with these. */
static void add_first(struct gt_forms *forms, const struct gt_bundle *bundle, size_t stream)
{
	struct gt_form *form = add(forms, GT_SEQUENCE_priorities);

	*gt_array_push(&form->priorities) =
		(struct gt_stream_priority){bundle->streams.rows[stream].number, GT_PRIORITY_FIRST};
	for (size_t i = 0; i < bundle->streams.count; i++)
		if (i != stream && !is_inside_graphs(bundle, i))
			*gt_array_push(&form->priorities) = (struct gt_stream_priority){
				bundle->streams.rows[i].number, GT_PRIORITY_LAST};
}

static int check(const struct gt_replay_request *request, const struct gt_bundle *bundle,
                 struct gt_error *err)
{
	if (count_streams(bundle) < 2)
		return gt_fail(err, EINVAL,
		               "--form priorities: all work of the bundle is in one stream, which "
		               "no other can go before");
	for (size_t i = 0; i < request->priority_count; i++) {
		bool found = false;

		gt_array_each(const struct gt_bundle_stream, stream, &bundle->streams)
			found |= stream->number == request->priorities[i].stream;
		if (!found)
			return gt_fail(err, EINVAL,
			               "--priority: the bundle has no stream %u; bundle.json lists "
			               "those that it has",
			               request->priorities[i].stream);
	}
	return 0;
}

static int add_priorities(struct gt_forms *forms, const struct gt_replay_request *request,
                          const struct gt_bundle *bundle, struct gt_error *err)
{
	size_t tried = 0;
	int result;

	if (request->all_forms && request->priority_count == 0 && count_streams(bundle) < 2)
		return 0; /* nobody asked for it by its name */
	result = check(request, bundle, err);
	if (result < 0)
		return result;
	if (request->priority_count > 0) {
		struct gt_form *form = add(forms, GT_SEQUENCE_priorities);

		for (size_t i = 0; i < request->priority_count; i++)
			*gt_array_push(&form->priorities) = request->priorities[i];
		return 0;
	}
	for (size_t i = 0; i < bundle->streams.count && tried < GT_FORMS_MOST_STREAMS; i++) {
		if (!has_work(bundle, i))
			continue;
		add_first(forms, bundle, i);
		tried++;
	}
	return 0;
}

static int add_nodes(struct gt_forms *forms, const struct gt_replay_request *request,
                     const struct gt_bundle *bundle, struct gt_error *err)
{
	if (has_graphs(bundle))
		(void)add(forms, GT_SEQUENCE_nodes);
	else if (!request->all_forms)
		return gt_fail(err, EINVAL,
		               "--form nodes: nothing that is run here launches a graph");
	return 0;
}

int gt_forms_choose(struct gt_forms *forms, const struct gt_replay_request *request,
                    const struct gt_bundle *bundle, struct gt_error *err)
{
	int result = 0;

	*forms = (struct gt_forms){0};
	for (size_t i = 0; result == 0 && i < request->form_count; i++) {
		if (request->forms[i] == GT_SEQUENCE_priorities)
			result = add_priorities(forms, request, bundle, err);
		else if (request->forms[i] == GT_SEQUENCE_nodes)
			result = add_nodes(forms, request, bundle, err);
		else
			(void)add(forms, request->forms[i]);
	}
	if (result < 0)
		gt_forms_release(forms);
	return result;
}

void gt_forms_release(struct gt_forms *forms)
{
	gt_array_each(struct gt_form, form, &forms->list)
		gt_array_release(&form->priorities);
	gt_array_release(&forms->list);
}
