/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_METRICS_CATALOGUE_H
#define GT_CLI_METRICS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "cupti/chip.h"

struct gt_watch;

/* A metric of CUPTI's, whichever way it can be counted. */
struct gt_catalogued {
	char *name; /* without what stands behind its dot */
	char *unit;
	char *help;
	char *hardware;
	char *forms; /* what can stand behind the dot, blanks between them */
	enum gt_metric_type type;
	int passes[2]; /* by enum gt_chip_way: that it needs by itself; 0: it cannot be counted so */
};

/* All of a chip, or those that were chosen, by name. Zeroed at first. */
struct gt_catalogue {
	gt_array(struct gt_catalogued) metrics;
};

struct gt_catalogue_words {
	char *const *words;
	size_t count;
};

/* Whether all words are in the name or the description, in whatever case. */
bool gt_catalogue_matches(const struct gt_catalogue_words *words, const char *name,
                          const char *help);

/*
 * Lists what has all the words, with the passes it needs, which takes CUPTI some milliseconds for
 * each metric; watch is told how far it is. chips: by enum gt_chip_way, NULL: not that way.
 */
void gt_catalogue_read(struct gt_catalogue *catalogue, struct gt_chip *const chips[2],
                       const struct gt_catalogue_words *words, const struct gt_watch *watch);

void gt_catalogue_release(struct gt_catalogue *catalogue);

#endif
