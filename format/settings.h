/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_SETTINGS_H
#define GT_FORMAT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

/* The settings of settings.def, read from environment variables. Allocates nothing. */

enum gt_api_setting {
	GT_API_SETTING_NONE,
	GT_API_SETTING_LIGHT,
	GT_API_SETTING_OUTER,
	GT_API_SETTING_ALL,
};

enum gt_graphs_setting {
	GT_GRAPHS_SETTING_NODE,
	GT_GRAPHS_SETTING_GRAPH,
	GT_GRAPHS_SETTING_SAMPLED,
};

/* Their words in settings and captures, ended by NULL. */
extern const char *const gt_api_words[];
extern const char *const gt_graphs_words[];

typedef const char *gt_setting_text; /* in the environment */
typedef uint64_t gt_setting_size;
typedef uint64_t gt_setting_count;
typedef uint64_t gt_setting_duration;
typedef uint64_t gt_setting_interval;
typedef int gt_setting_api;
typedef int gt_setting_graphs;
typedef int gt_setting_flag;

struct gt_settings {
#define SETTING(name, field, type, value, help) gt_setting_##type field;
#include "format/settings.def"
};

/*
 * Fills settings from the GPUTRACE_ variables of an environment (as environ). Unusable settings
 * keep their defaults and are told to complain(), one sentence each: values that cannot be read,
 * are out of range, and names that do not exist, with the nearest one that does.
 */
void gt_settings_read(struct gt_settings *settings, char *const *environment,
                      void (*complain)(void *context, const char *sentence), void *context);

/* Writes "NAME=value" lines of the settings that an environment changes; returns their size. */
size_t gt_settings_text(char *const *environment, char *text, size_t size);

#endif
