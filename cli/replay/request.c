/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/request.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "cli/replay/limit.h"

enum { LEAST_RUNS = 10, MOST_RUNS = 20000 };

#define WITHIN 0.002 /* of the median, that its standard error may be */
#define RTOL   0.0
#define ATOL   0.0

const char *const l2_words[] = {GT_L2_WORDS, NULL};
const char *const inputs_words[] = {GT_INPUTS_WORDS, NULL};
const char *const form_words[] = {GT_FORM_WORDS, NULL};

/* The words in the order of replay/replay.h's. */
_Static_assert((int)GT_L2_cold == 0 && (int)GT_L2_warm == 1 && (int)GT_L2_as_is == 2, "l2_words");
_Static_assert((int)GT_INPUTS_zero == 1 && (int)GT_INPUTS_random == 2, "inputs_words");
_Static_assert((int)GT_SEQUENCE_back_to_back == 1 && (int)GT_SEQUENCE_one_stream == 2 &&
                       (int)GT_SEQUENCE_graph == 3 && (int)GT_SEQUENCE_priorities == 4 &&
                       (int)GT_SEQUENCE_nodes == 5 &&
                       GT_COUNT_OF(form_words) == GT_REPLAY_FORMS + 1,
               "form_words");

/* The parser took no other words; NULL is the first. */
static unsigned place_of(const char *word, const char *const *words)
{
	unsigned place = 0;

	while (word && words[place] && strcmp(words[place], word) != 0)
		place++;
	return place;
}

/* A number that is not negative, as 0.001 or 1e-3. */
static int read_real(const char *text, const char *option, double *value, struct gt_error *err)
{
	char *end;
	double number;

	if (!text)
		return 0;
	number = strtod(text, &end);
	if (end == text || *end || !(number >= 0) || !isfinite(number) ||
	    strspn(text, "0123456789.eE+-") != strlen(text))
		return gt_fail(err, EINVAL, "%s takes a number as 0.001 or 1e-3, and not '%s'",
		               option, text);
	*value = number;
	return 0;
}

static int read_within(const char *text, double *within, struct gt_error *err)
{
	if (!text || (gt_percent_parse(text, within) && *within > 0))
		return 0;
	return gt_fail(err, EINVAL, "--within takes a share of the median, as 0.5%%, and not '%s'",
	               text);
}

static int read_options(struct gt_replay_options *options, const struct gt_replay_args *args,
                        struct gt_error *err)
{
	int result;

	*options = (struct gt_replay_options){
		.l2 = (enum gt_l2_state)place_of(args->l2, l2_words),
		.inputs = (enum gt_inputs)place_of(args->inputs, inputs_words),
		.variant = gt_variant_recorded(),
		.within = WITHIN,
		.most_ns = (int64_t)args->time_ns,
		.warm_ups = (uint32_t)args->warm_ups,
		.least_runs = args->runs ? (uint32_t)args->runs : LEAST_RUNS,
		.most_runs = args->runs ? (uint32_t)args->runs : MOST_RUNS,
		.verify = !args->no_verify,
		.tolerance = {RTOL, ATOL},
		.zone_bytes = args->zone_bytes,
		.relocate = args->relocate,
	};
	if (args->verify && args->no_verify)
		return gt_fail(err, EINVAL, "--verify and --no-verify exclude each other");
	result = read_within(args->within, &options->within, err);
	if (result == 0)
		result = read_real(args->rtol, "--rtol", &options->tolerance.rtol, err);
	if (result == 0)
		result = read_real(args->atol, "--atol", &options->tolerance.atol, err);
	return result;
}

/* In the order in which they were given, each once; all of them in their own. */
static void read_forms(struct gt_replay_request *request)
{
	const struct gt_option_list *list = &request->args->forms;
	bool taken[GT_REPLAY_FORMS] = {false};

	for (size_t i = 0; i < list->count; i++)
		request->all_forms |= strcmp(list->texts[i], GT_FORM_ALL) == 0;
	for (unsigned i = 0; request->all_forms && i < GT_REPLAY_FORMS; i++)
		request->forms[request->form_count++] = (enum gt_sequence_form)i;
	for (size_t i = 0; !request->all_forms && i < list->count; i++) {
		const unsigned form = place_of(list->texts[i], form_words);

		if (!taken[form])
			request->forms[request->form_count++] = (enum gt_sequence_form)form;
		taken[form] = true;
	}
	if (request->form_count == 0)
		request->forms[request->form_count++] = GT_SEQUENCE_recorded;
	request->options.form = request->forms[0];
}

/* STREAM=PRIORITY */
static int read_priority(const char *text, struct gt_stream_priority *priority,
                         struct gt_error *err)
{
	const char *equals = strchr(text, '=');
	const bool negative = equals && equals[1] == '-';
	uint64_t stream = 0;
	uint64_t size = 0;
	char digits[24];

	snprintf(digits, sizeof(digits), "%.*s", equals ? (int)(equals - text) : 0, text);
	if (!equals || gt_parse_count(digits, &stream) < 0 || stream > UINT32_MAX ||
	    gt_parse_count(equals + 1 + negative, &size) < 0 || size > GT_PRIORITY_LAST)
		return gt_fail(err, EINVAL,
		               "--priority takes a stream's number in the program and a priority, "
		               "as 13=-5, and not '%s'",
		               text);
	*priority = (struct gt_stream_priority){(uint32_t)stream,
	                                        negative ? -(int32_t)size : (int32_t)size};
	return 0;
}

static int read_priorities(struct gt_replay_request *request, struct gt_error *err)
{
	const struct gt_option_list *list = &request->args->priorities;
	bool wanted = false;
	int result = 0;

	for (size_t i = 0; i < request->form_count; i++)
		wanted |= request->forms[i] == GT_SEQUENCE_priorities;
	if (list->count > 0 && !wanted)
		return gt_fail(err, EINVAL,
		               "--priority says what --form priorities tries: give that as well");
	if (list->count > GT_REPLAY_MOST_PRIORITIES)
		return gt_fail(err, EINVAL, "--priority can be given %d times at most",
		               GT_REPLAY_MOST_PRIORITIES);
	for (size_t i = 0; result == 0 && i < list->count; i++)
		result = read_priority(list->texts[i],
		                       &request->priorities[request->priority_count++], err);
	return result;
}

void gt_replay_form(const struct gt_replay_options *options, char text[GT_REPLAY_FORM_BYTES])
{
	size_t used = (size_t)snprintf(text, GT_REPLAY_FORM_BYTES, "%s", form_words[options->form]);

	if (options->form != GT_SEQUENCE_priorities)
		return;
	for (size_t i = 0; i < options->priority_count; i++) {
		const struct gt_stream_priority *priority = &options->priorities[i];
		const size_t left = GT_REPLAY_FORM_BYTES - used;

		if (left < sizeof(",4294967295=-1000)"))
			break; /* of many streams the first ones tell */
		used += (size_t)snprintf(text + used, left, "%s%u=", i ? "," : "(",
		                         priority->stream);
		if (priority->priority == GT_PRIORITY_FIRST)
			used += (size_t)snprintf(text + used, GT_REPLAY_FORM_BYTES - used, "first");
		else if (priority->priority == GT_PRIORITY_LAST)
			used += (size_t)snprintf(text + used, GT_REPLAY_FORM_BYTES - used, "last");
		else
			used += (size_t)snprintf(text + used, GT_REPLAY_FORM_BYTES - used, "%d",
			                         priority->priority);
	}
	if (options->priority_count > 0)
		(void)snprintf(text + used, GT_REPLAY_FORM_BYTES - used, ")");
}

void gt_replay_conditions(const struct gt_replay_options *options, uint32_t step,
                          char text[GT_REPLAY_CONDITIONS_BYTES])
{
	char form[GT_REPLAY_FORM_BYTES];
	char alone[24] = "";

	gt_replay_form(options, form);
	if (step != UINT32_MAX)
		snprintf(alone, sizeof(alone), " step=%u", step);
	snprintf(text, GT_REPLAY_CONDITIONS_BYTES, "l2=%s inputs=%s form=%s%s%s",
	         l2_words[options->l2], inputs_words[options->inputs], form, alone,
	         options->relocate ? " relocated" : "");
}

static const char *const tune_words[GT_TUNE_WORD_COUNT] = {
#define WORD(name, field, help) name,
	GT_TUNE_WORDS(WORD)
#undef WORD
};

/* Adds what one option says: values as those of a space, but a file of any name. */
static int read_value(struct gt_tune_axis *axis, const char *text, struct gt_error *err)
{
	struct gt_tune_space space = {.axis_count = 0};
	char word[256];
	int result;

	if (axis->word == GT_TUNE_module) {
		struct gt_variant variant = gt_variant_recorded();

		variant.module = text;
		*gt_array_push(&axis->values) = variant;
		return 0;
	}
	if (strpbrk(text, ",; =") || (size_t)snprintf(word, sizeof(word), "%s=%s",
	                                              tune_words[axis->word], text) >= sizeof(word))
		return gt_fail(err, EINVAL,
		               "--%s takes one value, and may be given again; it is '%s'",
		               tune_words[axis->word], text);
	result = gt_tune_space_parse(&space, word, err);
	if (result < 0)
		return result;
	for (size_t i = 0; i < space.axes[0].values.count; i++)
		*gt_array_push(&axis->values) = space.axes[0].values.rows[i];
	gt_tune_space_release(&space);
	return 0;
}

static int read_asked(struct gt_tune_space *asked,
                      const struct gt_option_list lists[GT_TUNE_WORD_COUNT], struct gt_error *err)
{
	int result = 0;

	for (unsigned word = 0; result == 0 && word < GT_TUNE_WORD_COUNT; word++) {
		struct gt_tune_axis *axis = &asked->axes[asked->axis_count];

		if (lists[word].count == 0)
			continue;
		asked->axis_count++;
		axis->word = (enum gt_tune_word)word;
		for (size_t i = 0; result == 0 && i < lists[word].count; i++)
			result = read_value(axis, lists[word].texts[i], err);
	}
	if (result == 0 && asked->axis_count > 0 && gt_tune_count(asked) > GT_REPLAY_MOST_VARIANTS)
		result = gt_fail(err, EINVAL,
		                 "these are %zu variants, and %d are run at once at most",
		                 gt_tune_count(asked), GT_REPLAY_MOST_VARIANTS);
	return result;
}

int gt_replay_request_read(struct gt_replay_request *request, const struct gt_replay_args *args,
                           struct gt_error *err)
{
	int result;

	*request = (struct gt_replay_request){.args = args};
	result = read_options(&request->options, args, err);
	read_forms(request);
	if (result == 0)
		result = read_priorities(request, err);
	if (result == 0)
		result = read_asked(&request->asked, args->variants, err);
	if (result == 0 && args->tune)
		result = gt_tune_space_parse(&request->tuned, args->tune, err);
	if (result < 0)
		gt_replay_request_release(request);
	return result;
}

void gt_replay_request_release(struct gt_replay_request *request)
{
	gt_tune_space_release(&request->asked);
	gt_tune_space_release(&request->tuned);
}
