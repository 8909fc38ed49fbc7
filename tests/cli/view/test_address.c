/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/address.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/view/opening.h"
#include "support/check.h"

/* As the UI reads it: the value of an argument behind the '#', '+' a blank. The caller frees it. */
static char *value_of(const char *address, const char *name)
{
	char pattern[32];
	const char *at = strchr(address, '#');
	char *value = calloc(1, strlen(address) + 1);
	size_t length = 0;

	snprintf(pattern, sizeof(pattern), "%s=", name);
	at = at ? strstr(at, pattern) : NULL;
	cr_assert(at && (at[-1] == '?' || at[-1] == '&'), "no %s in %s", name, address);
	for (at += strlen(pattern); *at && *at != '&'; at++) {
		if (*at == '%') {
			const char code[] = {at[1], at[2], '\0'};

			value[length++] = (char)strtol(code, NULL, 16);
			at += 2;
		} else {
			value[length++] = *at == '+' ? ' ' : *at;
		}
	}
	return value;
}

static void expect_origin(const char *ui, const char *expected)
{
	struct gt_error err = {0};
	char *origin = gt_address_origin(ui, &err);

	cr_expect(origin != NULL, "%s: %s", ui, err.text);
	if (origin)
		expect_text(origin, expected);
	free(origin);
}

/* Nothing at which a terminal, a mail or a shell's quotes would end the address. */
static bool is_safe(char letter)
{
	return letter > ' ' && letter <= '~' && !strchr("\"<>\\^`{|}[]", letter);
}

static bool ends_with_letter(const char *text)
{
	return *text && isalnum((unsigned char)text[strlen(text) - 1]);
}

Test(address, carries_the_commands_that_are_kept_as_an_asset)
{
	char *address = gt_address_make(GT_ADDRESS_UI, NULL, NULL);
	char *carried = value_of(address, "startupCommands");
	json_t *commands = json_loads(carried, 0, NULL);
	json_t *kept =
		json_load_file(GT_TEST_DATA "/../viewer-assets/startup-commands.json", 0, NULL);

	cr_expect(kept != NULL && json_equal(commands, kept), "%s", carried);
	json_decref(commands);
	json_decref(kept);
	free(carried);
	free(address);
}

Test(address, turns_on_the_plugins)
{
	char *address = gt_address_make(GT_ADDRESS_UI, NULL, NULL);
	char *plugins = value_of(address, "enablePlugins");

	expect_text(plugins, "com.meta.GpuCompute,dev.perfetto.GpuByProcess");
	free(plugins);
	free(address);
}

Test(address, is_short_and_survives_terminals_and_mail)
{
	char *address = gt_address_make(GT_ADDRESS_UI, NULL, NULL);

	cr_expect(strlen(address) < 1000, "%zu characters", strlen(address));
	for (const char *at = address; *at; at++)
		cr_expect(is_safe(*at), "'%c'", *at);
	cr_expect(ends_with_letter(address), "%s", address);
	free(address);
}

Test(address, names_the_trace_that_is_fetched)
{
	const char *trace = "http://127.0.0.1:9001/token/a%20b&c=d+e.perfetto";
	char *address = gt_address_make("https://ui.example", trace, NULL);
	char *url = value_of(address, "url");

	expect_text(url, trace);
	cr_expect(strncmp(address, "https://ui.example/#!/?url=", 27) == 0, "%s", address);
	free(url);
	free(address);
}

Test(address, goes_on_from_the_address_of_the_ui)
{
	static const struct {
		const char *ui;
		const char *begin;
	} cases[] = {
		{"https://ui.example", "https://ui.example/#!/?startupCommands="},
		{"https://ui.example/", "https://ui.example/#!/?startupCommands="},
		{"https://ui.example/perfetto", "https://ui.example/perfetto/#!/?startupCommands="},
		{"http://h:1/index.html", "http://h:1/index.html#!/?startupCommands="},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *address = gt_address_make(cases[i].ui, NULL, NULL);

		cr_expect(strncmp(address, cases[i].begin, strlen(cases[i].begin)) == 0, "%s",
		          address);
		free(address);
	}
}

Test(address, has_the_origin_that_a_browser_would_say)
{
	expect_origin("https://ui.perfetto.dev", "https://ui.perfetto.dev");
	expect_origin("https://ui.perfetto.dev/", "https://ui.perfetto.dev");
	expect_origin("HTTPS://UI.Example:443/a/b.html", "https://ui.example");
	expect_origin("http://host:80", "http://host");
	expect_origin("http://host:8080/x", "http://host:8080");
	expect_origin("http://host:443", "http://host:443");
	expect_origin("http://[::1]:10000", "http://[::1]:10000");
}

Test(address, of_a_ui_is_one_of_http)
{
	static const char *const wrong[] = {
		"",
		"ui.perfetto.dev",
		"ftp://host",
		"javascript:alert(1)",
		"https://",
		"https:///path",
		"https://user@host",
		"https://ho st",
		"https://host/a b",
		"https://host/a\r\nSet-Cookie: b",
		"https://host/#!/",
		"https://host/?a=b",
		"https://host/\"",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct gt_error err = {0};

		cr_expect(gt_address_origin(wrong[i], &err) == NULL, "%s", wrong[i]);
		cr_expect(eq(int, err.code, EINVAL));
	}
}

Test(address, part_is_encoded)
{
	char *part = gt_address_encode("a b/100%?#\xc3\xa9.perfetto");

	expect_text(part, "a%20b%2F100%25%3F%23%C3%A9.perfetto");
	free(part);
}

/* The first argument of the command that keeps tracks in view. */
static void expect_pins(const struct gt_opening *opening, const char *expected)
{
	char *address = gt_address_make(GT_ADDRESS_UI, NULL, opening);
	char *carried = value_of(address, "startupCommands");
	json_t *commands = json_loads(carried, 0, NULL);
	json_t *args = NULL;

	for (size_t i = 0; i < json_array_size(commands); i++) {
		json_t *command = json_array_get(commands, i);

		if (strcmp(json_string_value(json_object_get(command, "id")),
		           "dev.perfetto.PinTracksByRegex") == 0)
			args = json_object_get(command, "args");
	}
	cr_assert(args != NULL, "%s", carried);
	expect_text(json_string_value(json_array_get(args, 0)), expected);
	/* The UI asks the user otherwise. */
	expect_text(json_string_value(json_array_get(args, 1)), "name");
	json_decref(commands);
	free(carried);
	free(address);
}

Test(address, keeps_the_tracks_of_a_known_trace_in_view)
{
	expect_pins(
		&(struct gt_opening){.known = true,
	                             .streams = {7, 13},
	                             .stream_count = 2,
	                             .busy = true,
	                             .path = true},
		"^Stream (7|13)\\b(?!.* ranges$)|^GPU (busy|\\d+ idle)$|^(Advice|Critical path|Steps)$");
	expect_pins(&(struct gt_opening){.known = true, .streams = {7}, .stream_count = 1},
	            "^Stream (7)\\b(?!.* ranges$)|^(Advice)$");
	expect_pins(&(struct gt_opening){.known = true, .busy = true},
	            "^GPU (busy|\\d+ idle)$|^(Advice)$");
	expect_pins(&(struct gt_opening){.known = true}, "^(Advice)$");
}

Test(address, shows_a_stretch_of_a_known_trace_and_tracks_by_process_where_they_tell_more)
{
	const struct gt_opening alone = {.known = true, .start_ns = 1000, .end_ns = 2500};
	const struct gt_opening shared = {.known = true, .shared = true};
	char *address = gt_address_make(GT_ADDRESS_UI, NULL, &alone);
	char *value = value_of(address, "visStart");

	expect_text(value, "1000");
	free(value);
	value = value_of(address, "visEnd");
	expect_text(value, "2500");
	free(value);
	value = value_of(address, "enablePlugins");
	expect_text(value, "com.meta.GpuCompute");
	free(value);
	free(address);
	address = gt_address_make(GT_ADDRESS_UI, NULL, &shared);
	value = value_of(address, "enablePlugins");
	expect_text(value, "com.meta.GpuCompute,dev.perfetto.GpuByProcess");
	cr_expect(strstr(address, "visStart") == NULL);
	free(value);
	free(address);
}
