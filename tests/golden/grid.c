/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/grid.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOLD = 60, CELL_BYTES = 8 };

static const char nothing[] = ".";

static size_t find(const char names[][NAME_BYTES], size_t count, const char *name)
{
	for (size_t i = count; i > 0; i--)
		if (strcmp(names[i - 1], name) == 0)
			return i - 1;
	return count;
}

static size_t find_or_add(char names[][NAME_BYTES], size_t *count, size_t most, const char *name)
{
	const size_t found = find((const char(*)[NAME_BYTES])names, *count, name);

	if (found < *count)
		return found;
	if (found == most || strlen(name) >= NAME_BYTES) {
		fprintf(stderr, "no room for %s: see grid.h\n", name);
		exit(1);
	}
	strcpy(names[found], name);
	(*count)++;
	return found;
}

size_t grid_input(struct grid *grid, const char *name)
{
	return find_or_add(grid->inputs, &grid->input_count, MOST_INPUTS, name);
}

struct digest *grid_cell(struct grid *grid, const char *line, size_t input)
{
	return &grid->cells[find_or_add(grid->lines, &grid->line_count, MOST_LINES, line)][input];
}

static void cell_text(const struct digest *cell, char text[static CELL_BYTES])
{
	const uint64_t hash = cell->hash ^ cell->hash >> 16 ^ cell->hash >> 32 ^ cell->hash >> 48;

	if (cell->hash)
		snprintf(text, CELL_BYTES, "%04x", (unsigned)(hash & 0xffff));
	else
		snprintf(text, CELL_BYTES, "%s", nothing);
}

static int by_text(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Names in the order of the kept file. */
static void sort(const char names[][NAME_BYTES], size_t count, const char **sorted)
{
	for (size_t i = 0; i < count; i++)
		sorted[i] = names[i];
	qsort(sorted, count, sizeof(*sorted), by_text);
}

static bool has_any(const struct grid *grid, size_t line)
{
	for (size_t i = 0; i < grid->input_count; i++)
		if (grid->cells[line][i].hash)
			return true;
	return false;
}

static void write_line(const struct grid *grid, const char *name, const char **inputs, FILE *file)
{
	const size_t line = find(grid->lines, grid->line_count, name);
	char text[CELL_BYTES];

	if (!has_any(grid, line))
		return;
	fprintf(file, "%s\n\t", name);
	for (size_t i = 0; i < grid->input_count; i++) {
		const size_t input = find(grid->inputs, grid->input_count, inputs[i]);

		cell_text(&grid->cells[line][input], text);
		fprintf(file, "%s%s", i ? " " : "", text);
	}
	fprintf(file, "\n");
}

int grid_write(const struct grid *grid, const char *path)
{
	static const char *inputs[MOST_INPUTS], *lines[MOST_LINES];
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		return -1;
	}
	fprintf(file, "# Digests of all that gputrace makes of these recordings: "
	              "tests/README.md\n");
	sort(grid->inputs, grid->input_count, inputs);
	sort(grid->lines, grid->line_count, lines);
	for (size_t i = 0; i < grid->input_count; i++)
		fprintf(file, "= %s\n", inputs[i]);
	for (size_t i = 0; i < grid->line_count; i++)
		write_line(grid, lines[i], inputs, file);
	if (fclose(file) == 0)
		return 0;
	perror(path);
	return -1;
}

/* The cells of a line of text, as numbers with 1 before them, 0 for nothing. */
static void read_cells(struct grid *grid, const char *name, char *text)
{
	char *left = text;

	for (size_t i = 0; i < grid->input_count; i++) {
		const char *word = strtok_r(left, " \t\n", &left);

		if (word && strcmp(word, nothing) != 0)
			grid_cell(grid, name, i)->hash = strtoull(word, NULL, 16) | 0x10000;
	}
}

int grid_read(struct grid *grid, const char *path)
{
	static char text[16384];
	char name[NAME_BYTES] = "";
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		return -1;
	}
	while (fgets(text, sizeof(text), file)) {
		if (*text == '\t') {
			read_cells(grid, name, text);
			continue;
		}
		text[strcspn(text, "\n")] = '\0';
		if (*text == '=')
			(void)grid_input(grid, text + 2);
		else
			snprintf(name, sizeof(name), "%.*s", NAME_BYTES - 1, text);
	}
	(void)fclose(file);
	return 0;
}

/* Whether a cell is what was kept of it. */
static bool is_kept(const struct digest *kept, const struct digest *made)
{
	char text[CELL_BYTES], before[CELL_BYTES];

	cell_text(made, text);
	snprintf(before, sizeof(before), kept->hash ? "%04x" : nothing,
	         (unsigned)(kept->hash & 0xffff));
	return strcmp(text, before) == 0;
}

static void tell(const struct grid *made, size_t input, const char *line, const struct digest *cell,
                 size_t told)
{
	if (told < MOST_TOLD)
		printf("%s: %s differs, %llu rows now\n", made->inputs[input], line,
		       (unsigned long long)cell->rows);
	else if (told == MOST_TOLD)
		printf("and more\n");
}

static size_t compare_input(const struct grid *kept, const struct grid *made, size_t input,
                            size_t differ)
{
	static const struct digest none;
	const size_t before = find(kept->inputs, kept->input_count, made->inputs[input]);
	size_t found = 0;

	if (before == kept->input_count) {
		printf("%s is not kept yet\n", made->inputs[input]);
		return 1;
	}
	for (size_t i = 0; i < made->line_count; i++) {
		const size_t line = find(kept->lines, kept->line_count, made->lines[i]);
		const struct digest *old =
			line < kept->line_count ? &kept->cells[line][before] : &none;

		if (!is_kept(old, &made->cells[i][input]))
			tell(made, input, made->lines[i], &made->cells[i][input], differ + found++);
	}
	for (size_t i = 0; i < kept->line_count; i++)
		if (kept->cells[i][before].hash &&
		    find(made->lines, made->line_count, kept->lines[i]) == made->line_count)
			tell(made, input, kept->lines[i], &none, differ + found++);
	return found;
}

size_t grid_compare(const struct grid *kept, const struct grid *made)
{
	size_t differ = 0;

	for (size_t i = 0; i < made->input_count; i++)
		differ += compare_input(kept, made, i, differ);
	return differ;
}
