/* SPDX-License-Identifier: Apache-2.0 */
#include "format/settings.h"

#include <stdbool.h>
#include <string.h>

#include "support/check.h"

/* Complaints, one sentence after the other. */
struct complaints {
	char text[2048];
	int count;
};

static void complain(void *context, const char *sentence)
{
	struct complaints *complaints = context;

	complaints->count++;
	strncat(complaints->text, sentence,
	        sizeof(complaints->text) - strlen(complaints->text) - 1);
}

static struct gt_settings read_all(char *const *environment, struct complaints *complaints)
{
	struct gt_settings settings;

	memset(&settings, 0xa5, sizeof(settings));
	*complaints = (struct complaints){0};
	gt_settings_read(&settings, environment, complain, complaints);
	return settings;
}

static struct gt_settings read_one(char *variable, struct complaints *complaints)
{
	char *const environment[] = {variable, NULL};

	return read_all(environment, complaints);
}

static void expect_defaults(const struct gt_settings *settings)
{
	static const struct gt_settings defaults = {
#define SETTING(name, field, type, value, help) .field = (gt_setting_##type)value,
#include "format/settings.def"
	};

	expect_text(settings->output, defaults.output);
	cr_expect(eq(u64, settings->buffer_bytes, defaults.buffer_bytes));
	cr_expect(eq(u64, settings->buffer_count, defaults.buffer_count));
	cr_expect(eq(u64, settings->flush_interval_ns, defaults.flush_interval_ns));
	cr_expect(eq(u64, settings->telemetry_interval_ns, defaults.telemetry_interval_ns));
	cr_expect(eq(int, settings->api, defaults.api));
	cr_expect(eq(int, settings->graphs, defaults.graphs));
	expect_text(settings->cupti, defaults.cupti);
	cr_expect(eq(int, settings->verbose, defaults.verbose));
	cr_expect(eq(int, settings->disable, defaults.disable));
}

Test(settings, have_defaults_that_need_no_limiting)
{
	char *const environment[] = {"PATH=/bin", "GPUTRACER_API=all", "XGPUTRACE_API=all",
	                             "GPUTRACE",  "GPUTRACE_API",      NULL};
	struct complaints complaints;
	struct gt_settings settings = read_all(environment, &complaints);

	expect_defaults(&settings);
	cr_expect(eq(int, complaints.count, 0), "%s", complaints.text);
}

Test(settings, are_read_by_their_type)
{
	char *const environment[] = {"GPUTRACE_OUTPUT=/tmp/a b=c", "GPUTRACE_BUFFER_SIZE=2M",
	                             "GPUTRACE_BUFFERS=7",         "GPUTRACE_FLUSH_INTERVAL=250ms",
	                             "GPUTRACE_API=all",           "GPUTRACE_CUPTI=/x/libcupti.so",
	                             "GPUTRACE_VERBOSE=1",         "GPUTRACE_DISABLE=0",
	                             "GPUTRACE_INJECTION=/y",      NULL};
	struct complaints complaints;
	const struct gt_settings settings = read_all(environment, &complaints);

	cr_expect(eq(int, complaints.count, 0), "%s", complaints.text);
	expect_text(settings.output, "/tmp/a b=c");
	cr_expect(eq(u64, settings.buffer_bytes, 2u << 20));
	cr_expect(eq(u64, settings.buffer_count, 7));
	cr_expect(eq(u64, settings.flush_interval_ns, 250000000));
	cr_expect(eq(int, settings.api, GT_API_SETTING_ALL));
	expect_text(settings.cupti, "/x/libcupti.so");
	cr_expect(eq(int, settings.verbose, 1));
	cr_expect(eq(int, settings.disable, 0));
	expect_text(settings.injection, "/y");
}

Test(settings, know_every_word_for_graphs)
{
	struct complaints complaints;

	cr_expect(eq(int, read_one("GPUTRACE_GRAPHS=node", &complaints).graphs,
	             GT_GRAPHS_SETTING_NODE));
	cr_expect(eq(int, read_one("GPUTRACE_GRAPHS=graph", &complaints).graphs,
	             GT_GRAPHS_SETTING_GRAPH));
	cr_expect(eq(int, read_one("GPUTRACE_GRAPHS=sampled", &complaints).graphs,
	             GT_GRAPHS_SETTING_SAMPLED));
	cr_expect(eq(int, complaints.count, 0));
	(void)read_one("GPUTRACE_GRAPHS=all", &complaints);
	cr_expect(eq(int, complaints.count, 1));
}

Test(settings, know_every_word_for_api)
{
	struct complaints complaints;

	cr_expect(eq(int, read_one("GPUTRACE_API=none", &complaints).api, GT_API_SETTING_NONE));
	cr_expect(eq(int, read_one("GPUTRACE_API=outer", &complaints).api, GT_API_SETTING_OUTER));
	cr_expect(eq(int, read_one("GPUTRACE_API=all", &complaints).api, GT_API_SETTING_ALL));
}

Test(settings, know_an_interval_and_off)
{
	struct complaints complaints;

	cr_expect(eq(u64, read_one("GPUTRACE_TELEMETRY=20ms", &complaints).telemetry_interval_ns,
	             20000000));
	cr_expect(
		eq(u64, read_one("GPUTRACE_TELEMETRY=off", &complaints).telemetry_interval_ns, 0));
	cr_expect(eq(int, complaints.count, 0));
	cr_expect(eq(u64, read_one("GPUTRACE_TELEMETRY=1ms", &complaints).telemetry_interval_ns,
	             10000000));
	cr_expect(eq(int, complaints.count, 1));
}

Test(settings, keep_the_interval_of_counters_in_its_bounds)
{
	struct complaints complaints;

	cr_expect(eq(u64, read_one("GPUTRACE_COUNTERS=default", &complaints).counter_interval_ns,
	             100000));
	expect_text(read_one("GPUTRACE_COUNTERS=memory", &complaints).counters, "memory");
	cr_expect(eq(u64,
	             read_one("GPUTRACE_COUNTER_INTERVAL=20us", &complaints).counter_interval_ns,
	             20000));
	cr_expect(eq(int, complaints.count, 0));
	cr_expect(eq(u64,
	             read_one("GPUTRACE_COUNTER_INTERVAL=19us", &complaints).counter_interval_ns,
	             20000));
	cr_expect(eq(int, complaints.count, 1));
	cr_expect(eq(u64, read_one("GPUTRACE_COUNTER_INTERVAL=1s", &complaints).counter_interval_ns,
	             10000000));
}

Test(settings, keep_the_patience_with_launches_in_its_bounds)
{
	struct complaints complaints;

	cr_expect(eq(u64,
	             read_one("GPUTRACE_LAUNCHES_PATIENCE=10ms", &complaints).launches_patience_ns,
	             10000000));
	cr_expect(eq(int, complaints.count, 0));
	cr_expect(eq(u64,
	             read_one("GPUTRACE_LAUNCHES_PATIENCE=1h", &complaints).launches_patience_ns,
	             30000000000));
	cr_expect(eq(int, complaints.count, 1));
}

Test(settings, keep_the_default_of_what_cannot_be_read_and_say_so)
{
	static const struct {
		char *variable;
		const char *sentence;
	} cases[] = {
		{"GPUTRACE_API=some",
	         "GPUTRACE_API expects none, light, outer or all, not 'some'; the default is used"},
		{"GPUTRACE_API=",
	         "GPUTRACE_API expects none, light, outer or all, not ''; the default is used"},
		{"GPUTRACE_VERBOSE=yes",
	         "GPUTRACE_VERBOSE expects 0 or 1, not 'yes'; the default is used"},
		{"GPUTRACE_DISABLE=11",
	         "GPUTRACE_DISABLE expects 0 or 1, not '11'; the default is used"},
		{"GPUTRACE_BUFFER_SIZE=-1",
	         "GPUTRACE_BUFFER_SIZE expects a number of bytes such as 1M, not '-1'; the default "
	         "is used"},
		{"GPUTRACE_BUFFERS=99999999999999999999",
	         "GPUTRACE_BUFFERS expects a number, not '99999999999999999999'; the default is used"},
		{"GPUTRACE_BUFFERS=1M",
	         "GPUTRACE_BUFFERS expects a number, not '1M'; the default is used"},
		{"GPUTRACE_TELEMETRY=0",
	         "GPUTRACE_TELEMETRY expects a duration such as 100ms, or off, not '0'; the default "
	         "is used"},
		{"GPUTRACE_FLUSH_INTERVAL=100",
	         "GPUTRACE_FLUSH_INTERVAL expects a duration such as 100ms, not '100'; the default "
	         "is used"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct complaints complaints;
		const struct gt_settings settings = read_one(cases[i].variable, &complaints);

		cr_expect(eq(int, complaints.count, 1));
		expect_text(complaints.text, cases[i].sentence);
		expect_defaults(&settings);
	}
}

Test(settings, bring_what_is_out_of_range_to_the_nearest_and_say_so)
{
	static const struct {
		char *variable;
		uint64_t bytes;
		uint64_t count;
		uint64_t interval_ns;
	} cases[] = {
		{"GPUTRACE_BUFFER_SIZE=1", 64 << 10, 0, 0},
		{"GPUTRACE_BUFFER_SIZE=65G", 64 << 20, 0, 0},
		{"GPUTRACE_BUFFERS=0", 0, 4, 0},
		{"GPUTRACE_BUFFERS=18446744073709551615", 0, 256, 0},
		{"GPUTRACE_FLUSH_INTERVAL=1ns", 0, 0, 1000000},
		{"GPUTRACE_FLUSH_INTERVAL=100h", 0, 0, 3600000000000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct complaints complaints;
		const struct gt_settings settings = read_one(cases[i].variable, &complaints);

		cr_expect(eq(int, complaints.count, 1), "%s", cases[i].variable);
		cr_expect(ne(ptr, strstr(complaints.text, "the nearest is used"), NULL));
		if (cases[i].bytes)
			cr_expect(eq(u64, settings.buffer_bytes, cases[i].bytes));
		if (cases[i].count)
			cr_expect(eq(u64, settings.buffer_count, cases[i].count));
		if (cases[i].interval_ns)
			cr_expect(eq(u64, settings.flush_interval_ns, cases[i].interval_ns));
	}
}

Test(settings, round_a_buffer_up_to_whole_pages)
{
	struct complaints complaints;

	cr_expect(eq(u64, read_one("GPUTRACE_BUFFER_SIZE=65537", &complaints).buffer_bytes, 69632));
	cr_expect(eq(int, complaints.count, 0));
}

Test(settings, suggest_the_name_that_was_meant)
{
	struct complaints complaints;

	read_one("GPUTRACE_BUFER_SIZE=1M", &complaints);
	expect_text(complaints.text,
	            "GPUTRACE_BUFER_SIZE is not a setting of gputrace; did you mean "
	            "GPUTRACE_BUFFER_SIZE");
	read_one("GPUTRACE_TELEPATHY=1", &complaints);
	expect_text(complaints.text, "GPUTRACE_TELEPATHY is not a setting of gputrace");
	read_one("GPUTRACE_=1", &complaints);
	cr_expect(eq(int, complaints.count, 1));
}

Test(settings, cut_what_is_too_long_to_repeat)
{
	static char variable[5000] = "GPUTRACE_";
	struct complaints complaints;

	memset(variable + 9, 'X', sizeof(variable) - 12);
	memcpy(variable + sizeof(variable) - 3, "=1", 3);
	read_one(variable, &complaints);
	cr_expect(eq(int, complaints.count, 1));
	cr_expect(lt(sz, strlen(complaints.text), 256));
	memcpy(variable, "GPUTRACE_API=", 13);
	read_one(variable, &complaints);
	cr_expect(eq(int, complaints.count, 1));
	cr_expect(lt(sz, strlen(complaints.text), 256));
}

Test(settings, are_written_down_as_they_were_given)
{
	char *const environment[] = {"HOME=/root", "GPUTRACE_API=all", "GPUTRACE_BUFFERS=7", NULL};
	const char expected[] = "GPUTRACE_API=all\nGPUTRACE_BUFFERS=7\n";
	char text[64];

	cr_expect(eq(sz, gt_settings_text(environment, text, sizeof(text)), strlen(expected)));
	cr_expect(eq(int, memcmp(text, expected, strlen(expected)), 0));
	/* Whole lines only. */
	for (size_t size = 0; size < strlen(expected); size++) {
		memset(text, '#', sizeof(text));
		cr_expect(eq(sz, gt_settings_text(environment, text, size), size < 17 ? 0 : 17));
		cr_expect(eq(chr, text[size], '#'));
	}
}
