/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/terminal.h"

/* Control sequences of ECMA-48, and of xterm's other screen. */
#define ENTER      "\033[?1049h\033[?25l"
#define LEAVE      "\033[?25h\033[?1049l"
#define TO_TOP     "\033[H"
#define ERASE_REST "\033[K"
#define ERASE_DOWN "\033[J"

void gt_screen_open(struct gt_screen *screen, bool pages)
{
	*screen = (struct gt_screen){.in_place = pages && gt_terminal_obeys(STDOUT_FILENO)};
	if (screen->in_place)
		fputs(ENTER, stdout);
}

FILE *gt_screen_begin(struct gt_screen *screen)
{
	if (!screen->in_place)
		return stdout;
	free(screen->text);
	screen->text = NULL;
	screen->page = open_memstream(&screen->text, &screen->size);
	if (!screen->page)
		abort();
	return screen->page;
}

/* As many lines as there is room for. */
static void show_in_place(const struct gt_screen *screen)
{
	const size_t rows = gt_terminal_size(STDOUT_FILENO).rows;
	const char *at = screen->text;

	fputs(TO_TOP, stdout);
	for (size_t row = 0; *at && (rows == 0 || row < rows); row++) {
		const size_t length = strcspn(at, "\n");

		if (row > 0)
			putc('\n', stdout);
		(void)fwrite(at, 1, length, stdout);
		fputs(ERASE_REST, stdout);
		at += length + (at[length] == '\n');
	}
	fputs(ERASE_DOWN, stdout);
}

void gt_screen_show(struct gt_screen *screen)
{
	if (screen->in_place) {
		(void)fclose(screen->page);
		screen->page = NULL;
		show_in_place(screen);
	}
	(void)fflush(stdout);
}

void gt_screen_close(struct gt_screen *screen)
{
	if (screen->page)
		(void)fclose(screen->page);
	if (screen->in_place) {
		fputs(LEAVE, stdout);
		fputs(screen->text ? screen->text : "", stdout);
		(void)fflush(stdout);
	}
	free(screen->text);
	*screen = (struct gt_screen){0};
}
