/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/address.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/view/opening.h"
#include "cli/view/startup_commands.h"

#define PLUGINS    "com.meta.GpuCompute"
#define BY_PROCESS ",dev.perfetto.GpuByProcess"

/* Characters that stand for themselves in a path (RFC 3986). */
#define PLAIN "-._~"
/*
 * Characters that may also stand for themselves in a value behind the '#': all that RFC 3986 allows
 * there but '&', '=' and '+', which the UI reads itself. It takes a '+' for a blank.
 */
#define PLAIN_IN_VALUE PLAIN "!$'()*,:;/?@"

static char *put_code(char *at, unsigned char byte)
{
	static const char digits[] = "0123456789ABCDEF";

	*at++ = '%';
	*at++ = digits[byte >> 4];
	*at++ = digits[byte & 15];
	return at;
}

static char *encode(const char *text, const char *plain, bool plus_is_blank)
{
	char *encoded = gt_allocate(3 * strlen(text) + 1);
	char *at = encoded;

	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;

		if (isalnum(byte) || strchr(plain, byte))
			*at++ = *text;
		else if (plus_is_blank && byte == ' ')
			*at++ = '+';
		else
			at = put_code(at, byte);
	}
	*at = '\0';
	return encoded;
}

char *gt_address_encode(const char *text)
{
	return encode(text, PLAIN, false);
}

/* A regular expression for the tracks that stay in view: one of advice there is in any trace. */
static void name_pins(const struct gt_opening *opening, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < opening->stream_count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32,
		                         i ? "|" : "^Stream (", opening->streams[i]);
	if (used) /* not its ranges, which may be many below each other */
		used += (size_t)snprintf(text + used, size - used, ")\\b(?!.* ranges$)");
	if (opening->busy)
		used += (size_t)snprintf(text + used, size - used, "%s^GPU (busy|\\d+ idle)$",
		                         used ? "|" : "");
	snprintf(text + used, size - used, "%s^(Advice%s)$", used ? "|" : "",
	         opening->path ? "|Critical path|Steps" : "");
}

/* The tracks of this very trace, in place of all that may be one. */
static void choose_pins(json_t *commands, const struct gt_opening *opening)
{
	char pins[128];

	for (size_t i = 0; i < json_array_size(commands); i++) {
		json_t *command = json_array_get(commands, i);
		const char *id = json_string_value(json_object_get(command, "id"));

		if (!id || strcmp(id, "dev.perfetto.PinTracksByRegex") != 0)
			continue;
		name_pins(opening, pins, sizeof(pins));
		json_array_set_new(json_object_get(command, "args"), 0, json_string(pins));
		return;
	}
}

/* The commands without the blanks that make them readable, as a value of an address. */
static char *startup_commands(const struct gt_opening *opening)
{
	json_t *commands = json_loads(gt_startup_commands, 0, NULL);
	char *encoded;
	char *text;

	if (opening)
		choose_pins(commands, opening);
	text = json_dumps(commands, JSON_COMPACT);
	encoded = encode(text ? text : "[]", PLAIN_IN_VALUE, true);
	free(text);
	json_decref(commands);
	return encoded;
}

/* Pages other than a folder's own are given with their name. */
static bool needs_slash(const char *ui)
{
	const size_t length = strlen(ui);

	return length > 0 && ui[length - 1] != '/' &&
	       (length < 5 || strcmp(ui + length - 5, ".html") != 0);
}

char *gt_address_make(const char *ui, const char *trace, const struct gt_opening *opening)
{
	const struct gt_opening *known = opening && opening->known ? opening : NULL;
	char *commands = startup_commands(known);
	char *fetched = encode(trace ? trace : "", PLAIN_IN_VALUE, true);
	char stretch[80] = "";
	char *address = NULL;
	int length;

	if (known && known->end_ns > 0)
		snprintf(stretch, sizeof(stretch), "visStart=%" PRId64 "&visEnd=%" PRId64 "&",
		         known->start_ns, known->end_ns);
	length =
		asprintf(&address, "%s%s#!/?%s%s%s%sstartupCommands=%s&enablePlugins=%s%s", ui,
	                 needs_slash(ui) ? "/" : "", trace ? "url=" : "", fetched, trace ? "&" : "",
	                 stretch, commands, PLUGINS, known && !known->shared ? "" : BY_PROCESS);

	free(fetched);
	free(commands);
	return length < 0 ? NULL : address;
}

/* How many characters of an address are its scheme with "://"; 0 for what is none. */
static size_t scheme_length(const char *ui, const char **default_port)
{
	static const struct {
		const char *scheme;
		const char *port;
	} schemes[] = {{"https://", ":443"}, {"http://", ":80"}};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		const size_t length = strlen(schemes[i].scheme);

		if (strncasecmp(ui, schemes[i].scheme, length) == 0) {
			*default_port = schemes[i].port;
			return length;
		}
	}
	return 0;
}

/* Nothing that would end the path, or the line of HTTP that the address will stand in. */
static bool is_address(const char *host, size_t host_length)
{
	const char *rest = host + host_length;

	for (size_t i = 0; i < host_length; i++)
		if (!isalnum((unsigned char)host[i]) && !strchr(".-:[]", host[i]))
			return false;
	for (; *rest; rest++)
		if (!isalnum((unsigned char)*rest) && !strchr(PLAIN "!$'()*,:;/@%", *rest))
			return false;
	return host_length > 0;
}

char *gt_address_origin(const char *ui, struct gt_error *err)
{
	const char *port = "";
	const size_t scheme = scheme_length(ui, &port);
	const char *host = ui + scheme;
	size_t length = strcspn(host, "/");
	char *origin = NULL;

	if (scheme == 0 || !is_address(host, length)) {
		(void)gt_fail(err, EINVAL,
		              "--ui needs the address of a Perfetto UI, such as %s, or the folder "
		              "of one, not '%s'",
		              GT_ADDRESS_UI, ui);
		return NULL;
	}
	if (length > strlen(port) && strncmp(host + length - strlen(port), port, strlen(port)) == 0)
		length -= strlen(port);
	origin = gt_allocate(scheme + length + 1);
	for (size_t i = 0; i < scheme + length; i++)
		origin[i] = (char)tolower((unsigned char)ui[i]);
	origin[scheme + length] = '\0';
	return origin;
}
