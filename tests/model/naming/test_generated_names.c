/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/naming/distinct_names.h"
#include "model/naming/short_name.h"
#include "support/check.h"

/*
 * Names of kernels that are made up as trees, from which their text is made, and the short name by
 * a reading of the rules that never looks at text: what is right is known of any number of them.
 */

enum { ROUNDS = 4000, MOST_INSIDE = 5, MOST_NODES = 256, TEXT = 8192 };

struct node {
	const char *full;   /* with its namespaces */
	const char *brief;  /* as short names have it */
	bool is_value;      /* a number, or true or false: each is said */
	const char *ending; /* of a type: const, * or & */
	bool is_pointer;
	size_t count;
	struct node *inside[MOST_INSIDE];
};

static struct node nodes[MOST_NODES];
static size_t node_count;
static uint64_t seed;

static size_t pick(size_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % count;
}

static const struct {
	const char *full;
	const char *brief;
} types[] = {
	{"float", "float"},
	{"int", "int"},
	{"double", "double"},
	{"unsigned int", "uint"},
	{"unsigned char", "uchar"},
	{"long long", "llong"},
	{"c10::Half", "fp16"},
	{"__half", "fp16"},
	{"__nv_bfloat16", "bf16"},
	{"c10::BFloat16", "bf16"},
	{"pair", "pair"},
	{"app::pair", "pair"},
	{"half_pair", "half_pair"},
	{"(anonymous namespace)::Widget", "Widget"},
	{"app::inner::Widget", "Widget"},
};

static const struct {
	const char *full;
	const char *brief;
} values[] = {
	{"0", "0"},         {"4", "4"},       {"128", "128"},         {"-1", "-1"},
	{"7ul", "7"},       {"16u", "16"},    {"(app::Order)3", "3"}, {"true", "true"},
	{"false", "false"}, {"(bool)1", "1"},
};

static const struct {
	const char *full;
	const char *brief;
} templates[] = {
	{"Tile", "Tile"},           {"app::Tile", "Tile"}, {"app::inner::Pack", "Pack"},
	{"std::tuple", "tuple"},    {"pair", "pair"},      {"(anonymous namespace)::Walk", "Walk"},
	{"half_pair", "half_pair"},
};

static const struct {
	const char *full;
	const char *brief;
} functions[] = {
	{"saxpy", "saxpy"},
	{"app::scale", "scale"},
	{"app::inner::(anonymous namespace)::walk_all", "walk_all"},
	{"cub::DeviceThing", "DeviceThing"},
	{"app::Widget<4>::run", "run"},
	{"app::a_long_name_of_a_function_that_leaves_some_room",
         "a_long_name_of_a_function_that_leaves_some_room"},
	{"a_rather_long_name_of_a_function_that_leaves_little_room",
         "a_rather_long_name_of_a_function_that_leaves_little_room"},
};

static const char *const endings[] = {"", "", "", "*", " const*", "&", " const&", " const"};

static struct node *make_argument(unsigned depth);

static void add_inside(struct node *node, size_t count, unsigned depth)
{
	for (size_t i = 0; i < count; i++)
		node->inside[node->count++] = make_argument(depth);
}

static struct node *make_argument(unsigned depth)
{
	struct node *node = &nodes[node_count++];
	const size_t sort = pick(10);
	size_t which;

	*node = (struct node){.ending = ""};
	if (sort < 3) {
		which = pick(GT_COUNT_OF(values));
		node->full = values[which].full;
		node->brief = values[which].brief;
		node->is_value = true;
		return node;
	}
	node->ending = endings[pick(GT_COUNT_OF(endings))];
	node->is_pointer = strchr(node->ending, '*') != NULL;
	if (sort < 7 || depth == 3) {
		which = pick(GT_COUNT_OF(types));
		node->full = types[which].full;
		node->brief = types[which].brief;
		return node;
	}
	which = pick(GT_COUNT_OF(templates));
	node->full = templates[which].full;
	node->brief = templates[which].brief;
	add_inside(node, 1 + pick(3), depth + 1);
	return node;
}

/* ---- the text of a tree ---- */

static void put(char *text, const char *more)
{
	const size_t length = strlen(text);

	cr_assert(length + strlen(more) < TEXT);
	memcpy(text + length, more, strlen(more) + 1);
}

static bool blank_before_end;

static void put_full(char *text, const struct node *node)
{
	put(text, node->full);
	if (node->count) {
		put(text, "<");
		for (size_t i = 0; i < node->count; i++) {
			put(text, i ? ", " : "");
			put_full(text, node->inside[i]);
		}
		/* As demanglers write it, of any age. */
		put(text, text[strlen(text) - 1] == '>' && blank_before_end ? " >" : ">");
	}
	put(text, node->ending);
}

/* ---- the short name of a tree ---- */

struct limits {
	unsigned depth; /* of arguments that are shown */
	size_t count;   /* of the kernel's own */
};

static void put_brief(char *text, const struct node *node, unsigned depth,
                      const struct limits *limits);

static bool stands_in(char list[MOST_INSIDE][TEXT], size_t count, const char *item)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], item) == 0)
			return true;
	return false;
}

/* A type is said once in a list, and the others are counted. */
static void put_list(char *text, const struct node *node, unsigned depth,
                     const struct limits *limits)
{
	char(*list)[TEXT] = gt_allocate_zeroed(MOST_INSIDE, TEXT);
	size_t count = 0;
	bool more = false;

	for (size_t i = 0; i < node->count && !more; i++) {
		*list[count] = '\0';
		put_brief(list[count], node->inside[i], depth + 1, limits);
		if (!node->inside[i]->is_value && stands_in(list, count, list[count]))
			continue;
		more = depth == 0 && count == limits->count;
		count += !more;
	}
	put(text, "<");
	for (size_t i = 0; i < count; i++) {
		put(text, i ? ", " : "");
		put(text, list[i]);
	}
	put(text, more ? ", ...>" : ">");
	free(list);
}

static void put_brief(char *text, const struct node *node, unsigned depth,
                      const struct limits *limits)
{
	put(text, node->brief);
	if (node->count && depth <= limits->depth && (depth > 0 || limits->count > 0))
		put_list(text, node, depth, limits);
	put(text, node->is_pointer ? "*" : "");
}

/* With as much as there is room for: first what is inside of others goes, then the last ones. */
static void make_brief(char *text, const struct node *kernel)
{
	static const struct limits limits[] = {{8, SIZE_MAX}, {3, SIZE_MAX}, {2, SIZE_MAX},
	                                       {1, SIZE_MAX}, {0, SIZE_MAX}, {0, 5},
	                                       {0, 4},        {0, 3},        {0, 2},
	                                       {0, 1},        {0, 0}};

	for (size_t i = 0; i < GT_COUNT_OF(limits); i++) {
		*text = '\0';
		put_brief(text, kernel, 0, &limits[i]);
		if (strlen(text) <= GT_SHORT_NAME_WIDTH)
			return;
	}
}

/* ---- kernels ---- */

static const char *const returns[] = {"", "void ", "std::enable_if<(bool)1, int>::type ",
                                      "app::Tile<float, 4> "};
static const char *const parameters[] = {"()", "(int)", "(float const*, app::Tile<int>)",
                                         "(void (*)(int), long)", ""};

static struct node *make_kernel(char *full)
{
	struct node *kernel = &nodes[0];
	const size_t which = pick(GT_COUNT_OF(functions));
	const size_t count = pick(MOST_INSIDE + 1);

	node_count = 1;
	blank_before_end = pick(2);
	*kernel = (struct node){
		.full = functions[which].full, .brief = functions[which].brief, .ending = ""};
	add_inside(kernel, count, 0);
	*full = '\0';
	/* The name of a template has the return type, and may have parameters. */
	put(full, count ? returns[pick(GT_COUNT_OF(returns))] : "");
	put_full(full, kernel);
	put(full, parameters[pick(GT_COUNT_OF(parameters) - (count == 0))]);
	return kernel;
}

Test(generated_names, are_shortened_by_the_rules)
{
	static char full[TEXT];
	static char expected[TEXT];
	char text[GT_SHORT_NAME_MOST];

	seed = 1;
	for (size_t i = 0; i < ROUNDS; i++) {
		make_brief(expected, make_kernel(full));
		cr_assert(lt(sz, gt_short_name(full, text, sizeof(text)), sizeof(text)));
		cr_expect(eq(str, text, expected), "%s", full);
	}
}

/* ---- names that several kernels have ---- */

enum { MOST_KERNELS = 12, TEXTS = 3 };

static struct gt_distinct_names names;

static void drop_names(void)
{
	gt_array_each(struct gt_distinct_name, name, &names)
		free(name->text);
	gt_array_release(&names);
}

/* Kernels whose short name is one of a few, added from the one at first on, in a circle. */
static void part_kernels(char (*full)[TEXT], const size_t *texts, size_t count, size_t first)
{
	static const char *const words[TEXTS] = {"f", "f<float>", "gemm"};

	drop_names();
	for (size_t i = 0; i < count; i++) {
		const size_t at = (first + i) % count;

		*gt_array_push(&names) = (struct gt_distinct_name){
			.full = full[at], .text = strdup(words[texts[at]]), .number = (uint32_t)at};
	}
	gt_distinct_names(&names);
}

static const char *text_of(size_t number)
{
	gt_array_each(const struct gt_distinct_name, name, &names)
		if (name->number == number)
			return name->text;
	return "";
}

static size_t count_text(const size_t *texts, size_t count, size_t text)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += texts[i] == text;
	return found;
}

static void expect_parted(char (*full)[TEXT], const size_t *texts, size_t count)
{
	char before[MOST_KERNELS][GT_SHORT_NAME_MOST];

	part_kernels(full, texts, count, 0);
	cr_assert(eq(sz, names.count, count));
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(before[i], sizeof(before[i]), "%s", text_of(i));
		if (count_text(texts, count, texts[i]) == 1)
			cr_expect(eq(ptr, strchr(before[i], '['), NULL), "%s", before[i]);
		for (size_t j = 0; j < i; j++)
			cr_expect(ne(str, before[j], before[i]), "%s and %s", full[j], full[i]);
	}
	part_kernels(full, texts, count, count / 2 + 1);
	for (size_t i = 0; i < count; i++)
		cr_expect(eq(str, text_of(i), before[i]), "in another order: %s", full[i]);
}

static bool is_new(char (*full)[TEXT], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(full[i], full[count]) == 0)
			return false;
	return true;
}

/* All of them, alone where they are, and in whatever order they come. */
Test(generated_names, are_told_apart)
{
	char(*full)[TEXT] = gt_allocate(MOST_KERNELS * sizeof(*full));

	seed = 2;
	for (size_t i = 0; i < ROUNDS / 4; i++) {
		const size_t wanted = 1 + pick(MOST_KERNELS);
		size_t texts[MOST_KERNELS];
		size_t count = 0;

		for (size_t j = 0; j < wanted; j++) {
			(void)make_kernel(full[count]);
			texts[count] = pick(TEXTS);
			count += is_new(full, count);
		}
		expect_parted(full, texts, count);
	}
	drop_names();
	free(full);
}

/* A number somewhere in the tree, of those that are words by themselves; NULL: there is none. */
static struct node *pick_number(void)
{
	for (size_t tries = 0; tries < 20; tries++) {
		struct node *node = &nodes[pick(node_count)];

		if (node->is_value && strspn(node->full, "0123456789") == strlen(node->full))
			return node;
	}
	return NULL;
}

/* Where one number of the whole tree differs, that is what is put back. */
Test(generated_names, are_told_apart_by_what_differs)
{
	static const size_t texts[2] = {0, 0};
	char(*full)[TEXT] = gt_allocate(2 * sizeof(*full));
	size_t parted = 0;

	seed = 3;
	for (size_t i = 0; i < ROUNDS / 4; i++) {
		struct node *kernel = make_kernel(full[0]);
		struct node *number = pick_number();
		char expected[64];

		if (!number)
			continue;
		for (size_t j = 0; j < 2; j++) {
			number->full = j ? "77" : "777";
			*full[j] = '\0';
			put_full(full[j], kernel);
		}
		part_kernels(full, texts, 2, 0);
		for (size_t j = 0; j < 2; j++) {
			(void)snprintf(expected, sizeof(expected), "f [%s]", j ? "77" : "777");
			cr_expect(eq(str, text_of(j), expected), "%s", full[j]);
		}
		parted++;
	}
	cr_expect(gt(sz, parted, 100));
	drop_names();
	free(full);
}
