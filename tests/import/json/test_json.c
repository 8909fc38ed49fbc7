/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json/json.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"

/* A text that comes in pieces of so many bytes. */
struct pieces {
	const char *text;
	size_t left;
	size_t size;
};

static int read_piece(void *context, void *bytes, unsigned size)
{
	struct pieces *pieces = context;
	size_t count = pieces->left < pieces->size ? pieces->left : pieces->size;

	count = count < size ? count : size;
	memcpy(bytes, pieces->text, count);
	pieces->text += count;
	pieces->left -= count;
	return (int)count;
}

/* The tokens as one text: a letter each, and behind it what it says. */
static void read_all(const char *text, size_t piece, char *out, size_t size)
{
	static const char letters[] = "{}[]ktnw.!";
	struct pieces pieces = {text, strlen(text), piece};
	enum gt_json_token token;
	struct gt_json json;

	gt_json_init(&json, (struct gt_json_input){read_piece, &pieces});
	*out = '\0';
	do {
		const size_t length = strlen(out);

		token = gt_json_next(&json);
		snprintf(out + length, size - length, "%c%s ", letters[token],
		         token == GT_TOKEN_BROKEN                          ? json.problem
		         : token >= GT_TOKEN_KEY && token <= GT_TOKEN_WORD ? json.text
		                                                           : "");
	} while (token != GT_TOKEN_END && token != GT_TOKEN_BROKEN);
	gt_json_release(&json);
}

static void expect_tokens(const char *text, const char *tokens)
{
	for (size_t piece = 1; piece < 40; piece += 6) {
		char out[1024];

		read_all(text, piece, out, sizeof(out));
		expect_text(out, tokens);
	}
}

Test(json, reads_values_in_values)
{
	expect_tokens(" {\"a\": [1, -2.5e3, \"x\"], \"b\":{} , \"c\":true}\n",
	              "{ ka [ n1 n-2.5e3 tx ] kb { } kc wtrue } . ");
	expect_tokens("[]", "[ ] . ");
	expect_tokens("\"x\" and more", "tx . ");
}

Test(json, reads_what_is_no_json_in_the_wild)
{
	expect_tokens("[NaN, -Infinity, inf, 1,]", "[ wNaN w-Infinity winf n1 ] . ");
	expect_tokens("{\"a\":1,\"a\":2,}", "{ ka n1 ka n2 } . ");
	expect_tokens("[\"a\tb\"]", "[ ta\tb ] . ");
}

Test(json, unfolds_escapes)
{
	expect_tokens("[\"\\u00e9\\ud83d\\ude00\\n\\/\\\"\\q\"]",
	              "[ t\xc3\xa9\xf0\x9f\x98\x80\n/\"q ] . ");
	expect_tokens("[\"\\ud83d\", \"\\ude00\", \"\\u0000\", \"\\ud83dx\"]",
	              "[ t\xef\xbf\xbd t\xef\xbf\xbd t\xef\xbf\xbd t\xef\xbf\xbdx ] . ");
}

Test(json, says_where_it_breaks)
{
	expect_tokens("", "!it is empty ");
	expect_tokens("{\"a\": [1", "{ ka [ !it ends early ");
	expect_tokens("{\"a\": \"b", "{ ka !it ends early ");
	expect_tokens("{\"a\"", "{ !it ends early ");
	expect_tokens("[1 2]", "[ n1 !it is no JSON from there on ");
	expect_tokens("[1}", "[ n1 !it is no JSON from there on ");
	expect_tokens("{1: 2}", "{ !it is no JSON from there on ");
	expect_tokens("{\"a\" 2}", "{ !it is no JSON from there on ");
	expect_tokens("{\"a\":}", "{ ka !it is no JSON from there on ");
	expect_tokens("#", "!it is no JSON from there on ");
}

Test(json, does_not_go_deeper_than_it_can)
{
	char text[GT_JSON_MOST_DEPTH + 2];
	char out[1024];

	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	read_all(text, 7, out, sizeof(out));
	cr_expect(strstr(out, "!its values lie too deep in each other") != NULL);
}

Test(json, passes_over_a_value)
{
	const char *text = "{\"a\": {\"b\": [[1], {}]}, \"c\": 3}";
	struct pieces pieces = {text, strlen(text), 5};
	struct gt_json json;
	char key[8];

	gt_json_init(&json, (struct gt_json_input){read_piece, &pieces});
	cr_assert(gt_json_next(&json) == GT_TOKEN_OBJECT);
	cr_assert(gt_json_member(&json, key, sizeof(key)) == GT_TOKEN_OBJECT);
	cr_expect(gt_json_skip(&json, GT_TOKEN_OBJECT));
	cr_assert(gt_json_member(&json, key, sizeof(key)) == GT_TOKEN_NUMBER);
	expect_text(key, "c");
	expect_text(json.text, "3");
	cr_expect(gt_json_member(&json, key, sizeof(key)) == GT_TOKEN_OBJECT_END);
	cr_expect(gt_json_next(&json) == GT_TOKEN_END);
	gt_json_release(&json);
}
