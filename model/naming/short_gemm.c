/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/short_gemm.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Libraries join words with underscores:
 * sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x64x32_...,
 * cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8, ampere_sgemm_128x64_nn. The
 * words are told by their looks; those that nobody knows are left out.
 */

/* Meaning of a word of such a name, where the whole word is known. */
static const struct known {
	const char *word;
	const char *text;
} types[] = {
	{"fp16", "fp16"},     {"f16", "fp16"},         {"bf16", "bf16"},        {"fp32", "fp32"},
	{"f32", "fp32"},      {"tf32", "tf32"},        {"fp64", "fp64"},        {"f64", "fp64"},
	{"int8", "int8"},     {"i8", "int8"},          {"s8", "int8"},          {"u8", "uint8"},
	{"e4m3", "e4m3"},     {"e5m2", "e5m2"},        {"cf32", "cfp32"},       {"cf64", "cfp64"},
	{"int4", "int4"},     {"i4", "int4"},          {"ue4m3xe2m1", "nvfp4"}, {"uint8", "uint8"},
	{"int8x4", "int8x4"}, {"int8x32", "int8x32"},  {"uint8x4", "uint8x4"},  {"cbf16", "cbf16"},
	{"ctf32", "ctf32"},   {"ue8m0xe4m3", "mxfp8"}, {"ue8m0xe2m1", "mxfp4"},
};

/* Meaning of one letter before "gemm". */
static const struct {
	char letter;
	const char *type;
} letters[] = {{'s', "fp32"},  {'d', "fp64"},  {'h', "fp16"},
               {'c', "cfp32"}, {'z', "cfp64"}, {'i', "int8"}};

/* Types that nvjet's letters stand for. */
static const struct {
	char letter;
	const char *type;
} jet_letters[] = {{'h', "fp16"}, {'t', "bf16"}, {'s', "tf32"}, {'d', "fp64"},
                   {'q', "e4m3"}, {'r', "e5m2"}, {'o', "fp4"},  {'b', "int8"}};

static const char *const extras[] = {"relu",  "gelu", "bias",   "drelu", "dgelu",
                                     "swish", "silu", "bgrada", "bgradb"};

static const char *const kinds[] = {"sdpa", "syrk",  "syr2k", "syrkx", "symm",
                                    "herk", "her2k", "herkx", "hemm",  "trmm"};

static const char *const generations[] = {"kepler", "maxwell", "pascal", "volta",    "turing",
                                          "ampere", "ada",     "hopper", "blackwell"};

enum { WORD_MOST = 64 };

struct gemm {
	const char *kind; /* NULL: not known to be one */
	const char *direction;
	const char *library;
	const char *type;
	char architecture[16];
	char tile[32];
	unsigned tile_sizes;
	bool wants_depth; /* the third size of the tile stands in the next word */
	char layout[8];
	char extra[32];
	bool type_is_written; /* and not guessed from a letter */
	bool sparse;
	bool split;
};

static const char *find_known(const struct known *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].word, word) == 0)
			return list[i].text;
	return NULL;
}

static bool is_one_of(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], word) == 0)
			return true;
	return false;
}

/* How many numbers with an "x" between them a word consists of; 0 when it is something else. */
static unsigned count_sizes(const char *word)
{
	unsigned count = 0;

	for (;;) {
		const size_t digits = strspn(word, "0123456789");

		if (digits == 0 || digits > 5)
			return 0;
		count++;
		word += digits;
		if (!*word)
			return count;
		if (*word++ != 'x')
			return 0;
	}
}

/* f16f16 is a pair of types: that of the first is said. */
static const char *type_of(const char *word)
{
	const size_t length = strlen(word);
	const char *type = find_known(types, GT_COUNT_OF(types), word);
	char first[WORD_MOST];

	for (size_t half = 2; !type && half < length && half < 8; half++) {
		memcpy(first, word, half);
		first[half] = '\0';
		type = find_known(types, GT_COUNT_OF(types), first);
		if (type && !strchr("fbeitcu", word[half]))
			type = NULL;
	}
	return type;
}

static bool ends(const char *word, const char *ending)
{
	const size_t length = strlen(word);

	return length >= strlen(ending) && strcmp(word + length - strlen(ending), ending) == 0;
}

/* sgemm, s16816gemm, s64x128x16gemm, h884gemm, scudnn, s16816cudnn, spgemm, s16816tf32implicit */
static bool read_kind(struct gemm *gemm, const char *word)
{
	const bool gemms = ends(word, "gemm");
	const char *type = NULL;

	if (!gemms && !(ends(word, "cudnn") && word[5] && !isdigit((unsigned char)word[0])))
		return false;
	if (!gemm->kind)
		gemm->kind = gemms ? "gemm" : "conv";
	gemm->sparse = gemm->sparse || ends(word, "spgemm");
	for (size_t i = 0; i < GT_COUNT_OF(letters); i++)
		if (letters[i].letter == word[0] && strcmp(word, "spgemm") != 0)
			type = letters[i].type;
	/* 16 x 8 x 8 is how tensor cores multiply tf32; 8 x 8 x 4 is fp16. */
	if (strncmp(word, "s1688", 5) == 0 || strstr(word, "tf32"))
		type = "tf32";
	else if (word[0] == 's' && isdigit((unsigned char)word[1]))
		type = strstr(word, "884") ? "fp16" : NULL;
	if (!gemm->type)
		gemm->type = type;
	return true;
}

static bool read_tile(struct gemm *gemm, const char *word)
{
	const bool named = strncmp(word, "tile", 4) == 0;
	const size_t before = strncmp(word, "tilesize", 8) == 0 ? 8 : named ? 4 : 0;
	const unsigned count = count_sizes(word + before);

	if (count < 2 || count > 3)
		return false;
	if (gemm->wants_depth && count == 2 && !named) {
		const size_t length = strlen(gemm->tile);

		snprintf(gemm->tile + length, sizeof(gemm->tile) - length, "x%.*s",
		         (int)strspn(word, "0123456789"), word);
		gemm->wants_depth = false;
	} else if (!*gemm->tile || named) {
		snprintf(gemm->tile, sizeof(gemm->tile), "%.24s", word + before);
		gemm->wants_depth = count == 2;
	}
	return true;
}

static bool read_layout(struct gemm *gemm, const char *word)
{
	const size_t length = strlen(word);

	if (length < 2 || length > 3 || strspn(word, length == 3 ? "ntNT" : "nt") != length)
		return false;
	if (!*gemm->layout)
		for (size_t i = 0; i < length; i++)
			gemm->layout[i] = (char)tolower((unsigned char)word[i]);
	return true;
}

static bool read_library(struct gemm *gemm, const char *word, size_t number)
{
	if (strcmp(word, "xmma") == 0 || strncmp(word, "cutlass", 7) == 0) {
		gemm->library = word[0] == 'x' ? "xmma" : "cutlass";
	} else if (number == 0 && strcmp(word, "cudnn") == 0) {
		gemm->library = "cudnn";
	} else if (strcmp(word, "nvjet") == 0) {
		gemm->library = "nvjet";
		gemm->kind = "gemm";
	} else if (is_one_of(generations, GT_COUNT_OF(generations), word) ||
	           (strncmp(word, "sm", 2) == 0 && count_sizes(word + 2) == 1)) {
		snprintf(gemm->architecture, sizeof(gemm->architecture), "%.12s", word);
	} else if (number == 1 && gemm->library && count_sizes(word) == 1) {
		snprintf(gemm->architecture, sizeof(gemm->architecture), "sm%.8s", word);
	} else {
		return false;
	}
	return true;
}

static void read_extra(struct gemm *gemm, const char *word)
{
	const size_t length = strlen(gemm->extra);

	if (is_one_of(extras, GT_COUNT_OF(extras), word) && !strstr(gemm->extra, word))
		snprintf(gemm->extra + length, sizeof(gemm->extra) - length, " %s", word);
	gemm->split = gemm->split || strcmp(word, "split") == 0 || strcmp(word, "splitK") == 0;
}

/* Forward, or backward to the data or the weights; s16816fprop tells the instruction, too. */
static void read_direction(struct gemm *gemm, const char *word)
{
	static const char *const directions[] = {" fprop", " dgrad", " wgrad"};

	if (strcmp(word, "bprop") == 0)
		gemm->direction = " bprop";
	for (size_t i = 0; i < GT_COUNT_OF(directions); i++)
		if (ends(word, directions[i] + 1)) {
			gemm->direction = directions[i];
			if (!gemm->kind || strcmp(gemm->kind, "sdpa") != 0)
				gemm->kind = "conv";
			if (!gemm->type && word[0] == 'h')
				gemm->type = "fp16";
		}
}

/* nvjet says the type with the first letter of a word, the others with a word of its own. */
static void read_type(struct gemm *gemm, const char *word)
{
	const bool jets = gemm->library && strcmp(gemm->library, "nvjet") == 0;

	if (jets && !gemm->type && strlen(word) >= 3)
		for (size_t i = 0; i < GT_COUNT_OF(jet_letters); i++)
			if (jet_letters[i].letter == word[0])
				gemm->type = jet_letters[i].type;
	if (!gemm->type_is_written && type_of(word)) {
		gemm->type = type_of(word);
		gemm->type_is_written = true;
	}
}

static void read_word(struct gemm *gemm, const char *word, size_t number)
{
	if (read_library(gemm, word, number) || read_tile(gemm, word) || read_layout(gemm, word) ||
	    read_kind(gemm, word))
		return;
	for (size_t i = 0; i < GT_COUNT_OF(kinds) && !gemm->kind; i++)
		if (ends(word, kinds[i]))
			gemm->kind = kinds[i];
	read_direction(gemm, word);
	gemm->sparse = gemm->sparse || strcmp(word, "sparse") == 0;
	read_type(gemm, word);
	read_extra(gemm, word);
}

static void read_words(struct gemm *gemm, const char *name, size_t length)
{
	char word[WORD_MOST];
	size_t number = 0;

	for (size_t at = 0; at < length; number++) {
		const char *end = memchr(name + at, '_', length - at);
		const size_t size = (end ? (size_t)(end - name) : length) - at;

		if (size > 0 && size < sizeof(word)) {
			memcpy(word, name + at, size);
			word[size] = '\0';
			read_word(gemm, word, number);
		}
		at += size + 1;
	}
}

static size_t write_gemm(const struct gemm *gemm, char *text, size_t size)
{
	const char *library = gemm->library ? gemm->library : "";
	const bool both = gemm->library && *gemm->architecture;
	const int length =
		snprintf(text, size, "%s%s%s %s%s%s%s%s%s%s (%s%s%s)",
	                 gemm->sparse ? "sparse " : "", gemm->kind,
	                 gemm->direction ? gemm->direction : "", gemm->tile,
	                 *gemm->layout ? " " : "", gemm->layout, gemm->type ? " " : "",
	                 gemm->type ? gemm->type : "", gemm->extra, gemm->split ? " splitk" : "",
	                 library, both ? " " : "", gemm->architecture);

	return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

/* A name of words alone. */
static bool read_flat(struct gemm *gemm, const char *name, size_t length)
{
	read_words(gemm, name, length);
	return gemm->kind && *gemm->tile && (gemm->library || *gemm->architecture);
}

/* ---- templates of CUTLASS ---- */

/* The type that a text begins with, in whatever namespace. */
static const char *cutlass_type(const char *at)
{
	static const struct known names[] = {
		{"half_t", "fp16"},       {"bfloat16_t", "bf16"},    {"tfloat32_t", "tf32"},
		{"float_e4m3_t", "e4m3"}, {"float_e5m2_t", "e5m2"},  {"float_e2m1_t", "fp4"},
		{"float", "fp32"},        {"double", "fp64"},        {"signed", "int8"},
		{"__half", "fp16"},       {"__nv_bfloat16", "bf16"},
	};
	const size_t length = strcspn(at, "<>(), ");
	char word[WORD_MOST];
	size_t first = length;

	while (first > 0 && at[first - 1] != ':')
		first--;
	if (length - first >= sizeof(word))
		return NULL;
	memcpy(word, at + first, length - first);
	word[length - first] = '\0';
	return find_known(names, GT_COUNT_OF(names), word);
}

/* Copies a number of up to five digits and what separates it from the next; NULL for another text. */
static const char *read_size(const char *at, const char *after, char *tile, size_t size)
{
	const size_t digits = at ? strspn(at, "0123456789") : 0;
	const size_t length = strlen(tile);

	if (digits == 0 || digits > 5 || strncmp(at + digits, after, strlen(after)) != 0)
		return NULL;
	snprintf(tile + length, size - length, "%s%.*s", length ? "x" : "", (int)digits, at);
	return at + digits + strlen(after);
}

/* Three sizes as 128x256x64, written between these texts; the text behind them, or NULL. */
static const char *read_sizes(const char *at, const char *between, const char *after, char *tile,
                              size_t size)
{
	tile[0] = '\0';
	at = read_size(at, between, tile, size);
	at = read_size(at, between, tile, size);
	return read_size(at, after, tile, size);
}

/* cute::tuple<cute::C<128>, cute::C<256>, cute::C<64>>: the first whose sizes are a tile's. */
static const char *read_cute_tile(struct gemm *gemm, const char *at)
{
	static const char before[] = "cute::tuple<cute::C<";

	while ((at = strstr(at, before)) != NULL) {
		const char *end;

		at += sizeof(before) - 1;
		end = read_sizes(at, ">, cute::C<", "> >", gemm->tile, sizeof(gemm->tile));
		/* That of a cluster is of small numbers. */
		if (end && strspn(gemm->tile, "0123456789") > 1)
			return end;
	}
	gemm->tile[0] = '\0';
	return NULL;
}

/* A stride of 1 along the first size is column-major for A, the second operand is the other way. */
static void read_cute_operands(struct gemm *gemm, const char *at)
{
	static const char tuple[] = "cute::tuple<";
	static const char first[] = "cute::tuple<cute::C<1>";
	const char *stride;

	if (strncmp(at, ", ", 2) != 0)
		return;
	at += 2;
	if (strncmp(at, tuple, sizeof(tuple) - 1) == 0) {
		/* With factors that scale blocks, whose strides are of another form. */
		gemm->type = cutlass_type(at + sizeof(tuple) - 1);
		return;
	}
	gemm->type = cutlass_type(at);
	for (size_t i = 0; i < 2; i++) {
		const bool columns = (stride = strstr(at, "cute::tuple<")) != NULL &&
		                     strncmp(stride, first, sizeof(first) - 1) == 0;

		if (!stride)
			return;
		gemm->layout[i] = columns == (i == 0) ? 'n' : 't';
		at = stride + 1;
	}
}

static void read_architecture(struct gemm *gemm, const char *full)
{
	const char *at = strstr(full, "arch::Sm");
	size_t digits;

	at = at ? at + 8 : NULL;
	if (!at && (at = strstr(full, "MainloopSm")) != NULL)
		at += 10;
	digits = at ? strspn(at, "0123456789") : 0;
	if (digits > 0 && digits < 4)
		snprintf(gemm->architecture, sizeof(gemm->architecture), "sm%.*s", (int)digits, at);
}

static bool read_template(struct gemm *gemm, const char *full)
{
	const char *shape = strstr(full, "GemmShape<");
	const char *at;

	if (strstr(full, "FlashAttn") || strstr(full, "fmha") || strstr(full, "Attention"))
		return false;
	gemm->library = "cutlass";
	gemm->kind =
		strstr(full, "ImplicitGemm") || strstr(full, "cutlass::conv::") ? "conv" : "gemm";
	gemm->sparse = strstr(full, "Sparse") != NULL;
	if (strstr(full, "Collective")) {
		at = read_cute_tile(gemm, full);
		if (!at)
			return false;
		read_cute_operands(gemm, at);
	} else if (shape && read_sizes(shape + strlen("GemmShape<"), ", ", ">", gemm->tile,
	                               sizeof(gemm->tile))) {
		for (at = shape; (at = strstr(at, ", ")) != NULL && !gemm->type; at += 2)
			gemm->type = cutlass_type(at + 2);
	} else {
		return false;
	}
	read_architecture(gemm, full);
	return true;
}

static bool read_gemm(struct gemm *gemm, const char *full)
{
	static const char *const wrappers[] = {"::Kernel2<", "::Kernel<", "::device_kernel<"};
	static const char before[] = "void cutlass";
	const char *scope = full + strcspn(full, ":");
	const size_t words = strcspn(full, "<(: ");

	if (!full[words])
		return read_flat(gemm, full, words);
	for (size_t i = 0; i < GT_COUNT_OF(wrappers); i++) {
		const size_t length = strlen(wrappers[i]);
		const char *inner = scope + length;

		if (strncmp(full, before, sizeof(before) - 1) != 0 ||
		    strncmp(scope, wrappers[i], length) != 0)
			continue;
		if (inner[strcspn(inner, "<(:, >")] == '>')
			return read_flat(gemm, inner, strcspn(inner, ">"));
		return read_template(gemm, full);
	}
	return false;
}

size_t gt_short_gemm(const char *full, char *text, size_t size)
{
	struct gemm gemm = {0};

	return read_gemm(&gemm, full) ? write_gemm(&gemm, text, size) : 0;
}

bool gt_gemm_tile(const char *full, char *text, size_t size)
{
	struct gemm gemm = {0};

	if (!read_gemm(&gemm, full))
		return false;
	snprintf(text, size, "%s", gemm.tile);
	return true;
}
