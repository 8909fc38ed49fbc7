/* SPDX-License-Identifier: Apache-2.0 */
#include "format/environment.h"

#include <stdbool.h>
#include <string.h>

struct name {
	const char *text;
	size_t length;
	bool begins; /* longer ones are meant too */
};

static const struct name names[] = {
#define VARIABLE(name) {#name, sizeof(#name) - 1, false},
#define FAMILY(name)   {#name, sizeof(#name) - 1, true},
#include "format/environment.def"
#define LAUNCHER(rank, size) {#rank, sizeof(#rank) - 1, false}, {#size, sizeof(#size) - 1, false},
#define LAUNCHER_ALONE(rank) {#rank, sizeof(#rank) - 1, false},
#define JOB(id)              {#id, sizeof(#id) - 1, false},
#include "format/launchers.def"
};

static bool is_kept(const char *variable)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i].text, names[i].length) == 0 &&
		    (names[i].begins ? strchr(variable, '=') != NULL
		                     : variable[names[i].length] == '='))
			return true;
	return false;
}

size_t gt_environment_text(char *const *environment, char *text, size_t size)
{
	size_t used = 0;

	for (; *environment; environment++) {
		const size_t length = strnlen(*environment, GT_ENVIRONMENT_LINE);

		if (!is_kept(*environment) || length + 1 > size - used)
			continue;
		for (size_t i = 0; i < length; i++) {
			const char byte = (*environment)[i];

			text[used++] = (char)(byte >= ' ' && byte <= '~' ? byte : '?');
		}
		text[used++] = '\n';
	}
	return used;
}
