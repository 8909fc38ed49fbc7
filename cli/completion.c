/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analysis/report.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/option.h"
#include "exporters/exporter.h"

const char *const gt_completion_shells[] = {"bash", "zsh", "fish", NULL};

/* What stands where an operand can, by what the usage line calls it. */
struct operands {
	bool program;
	bool recordings;
	bool reports;
	bool shells;
};

static struct operands operands_of(const struct gt_command *command)
{
	return (struct operands){
		.program = strstr(command->operands, "PROGRAM"),
		.recordings = strstr(command->operands, "RECORDING"),
		.reports = strstr(command->operands, "REPORT"),
		.shells = strstr(command->operands, "SHELL"),
	};
}

static bool is_format(const struct gt_option *option)
{
	return option->value && strcmp(option->value, "FORMAT") == 0;
}

/* In single quotes of a shell. */
static void put_quoted(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(*text, out);
	}
}

static void put_choices(const struct gt_option *option, FILE *out)
{
	const char *between = "";

	for (const char *const *choice = option->choices; choice && *choice; choice++) {
		fprintf(out, "%s%s", between, *choice);
		between = " ";
	}
	for (size_t i = 0; is_format(option) && i < gt_exporter_count; i++) {
		fprintf(out, "%s%s", between, gt_exporters[i]->name);
		between = " ";
	}
}

static void put_reports(FILE *out)
{
	for (size_t i = 0; i < gt_report_count; i++)
		fprintf(out, "%s%s", i ? " " : "", gt_reports[i]->name);
}

static void put_shells(FILE *out)
{
	for (const char *const *shell = gt_completion_shells; *shell; shell++)
		fprintf(out, "%s%s", shell == gt_completion_shells ? "" : " ", *shell);
}

static void put_commands(FILE *out)
{
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			fprintf(out, "%s ", gt_commands[i]->name);
	fputs("help", out);
}

/* The options as words: "-o --output". */
static void put_option_words(const struct gt_command *command, bool with_value, const char *between,
                             FILE *out)
{
	const char *before = "";

	for (const struct gt_option *option = command->options; option->name; option++) {
		if (with_value && !option->value)
			continue;
		if (option->letter)
			fprintf(out, "%s-%c%s", before, option->letter, between);
		else
			fputs(before, out);
		fprintf(out, "--%s", option->name);
		before = between;
	}
	if (!with_value)
		fprintf(out, "%s--help", before);
}

/* Cases of one command in bash: what the option before the word takes, else options or operands. */
static void bash_command(const struct gt_command *command, FILE *out)
{
	const struct operands operands = operands_of(command);

	fprintf(out, "\t%s)\n\t\tvalued='", command->name);
	put_option_words(command, true, " ", out);
	fputs("'\n\t\toptions='", out);
	put_option_words(command, false, " ", out);
	fputs("'\n", out);
	for (const struct gt_option *option = command->options; option->name; option++) {
		if (!option->choices && !is_format(option))
			continue;
		fprintf(out, "\t\t[[ $before == --%s", option->name);
		if (option->letter)
			fprintf(out, " || $before == -%c", option->letter);
		fputs(" ]] && values='", out);
		put_choices(option, out);
		fputs("'\n", out);
	}
	if (operands.program)
		fputs("\t\tprogram=1\n", out);
	if (operands.recordings)
		fputs("\t\trecordings=1\n", out);
	if (operands.reports || operands.shells)
		fputs("\t\twords='", out);
	if (operands.reports)
		put_reports(out);
	if (operands.shells)
		put_shells(out);
	if (operands.reports || operands.shells)
		fputs("'\n", out);
	fputs("\t\t;;\n", out);
}

static void print_bash(FILE *out)
{
	fputs("# Completion of gputrace for bash, made by gputrace completion bash.\n"
	      "_gputrace() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal valued='' options='' values='' words='' program='' recordings='' i\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W '",
	      out);
	put_commands(out);
	fputs("' -- \"$word\")\n"
	      "\t\t((COMP_CWORD == 1)) && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(\n"
	      "\t\t\tcompgen -d -- \"$word\" | grep '\\.gputrace$'\n"
	      "\t\t\t[[ $word == */* ]] && compgen -f -- \"$word\")\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n",
	      out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			bash_command(gt_commands[i], out);
	fputs("\tesac\n"
	      "\tif [[ -n $program ]]; then\n"
	      "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t\tif [[ \" $valued \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
	      "\t\t\t\t((i++))\n"
	      "\t\t\telif [[ ${COMP_WORDS[i]} != -* || ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\t\t[[ ${COMP_WORDS[i]} == -- ]] && ((i++))\n"
	      "\t\t\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t\t\t_command_offset \"$i\"\n"
	      "\t\t\t\telse\n"
	      "\t\t\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
	      "\t\t\t\tfi\n"
	      "\t\t\t\treturn\n"
	      "\t\t\tfi\n"
	      "\t\tdone\n"
	      "\tfi\n"
	      "\tif [[ -n $values ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
	      "\telif [[ \" $valued \" == *\" $before \"* ]]; then\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
	      "\telif [[ $word == -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
	      "\telse\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tmapfile -t COMPREPLY < <(\n"
	      "\t\t\t[[ -n $words ]] && compgen -W \"$words\" -- \"$word\"\n"
	      "\t\t\t[[ -n $recordings ]] && compgen -d -- \"$word\"\n"
	      "\t\t\t[[ -n $program ]] && compgen -c -- \"$word\"\n"
	      "\t\t\t[[ -n $program ]] && compgen -f -- \"$word\")\n"
	      "\tfi\n"
	      "}\n"
	      "complete -F _gputrace gputrace\n",
	      out);
}

/* The texts of _arguments end at a colon or a bracket. */
static void put_zsh(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr(":[]\\", *text))
			putc('\\', out);
		if (*text == '\'')
			fputs("'\\'", out);
		putc(*text, out);
	}
}

static void zsh_option(const struct gt_option *option, FILE *out)
{
	fputs("\t\t\t'*'", out);
	if (option->letter)
		fprintf(out, "{-%c,--%s}", option->letter, option->name);
	else
		fprintf(out, "--%s", option->name);
	fputs("'[", out);
	put_zsh(option->help, out);
	putc(']', out);
	if (option->value) {
		putc(':', out);
		put_zsh(option->value, out);
		if (option->choices || is_format(option)) {
			fputs(":(", out);
			put_choices(option, out);
			putc(')', out);
		} else {
			fputs(":_files", out);
		}
	}
	fputs("' \\\n", out);
}

static void zsh_command(const struct gt_command *command, FILE *out)
{
	const struct operands operands = operands_of(command);

	fprintf(out, "\t%s)\n\t\t_arguments -s%s \\\n", command->name,
	        operands.program ? " -A '-*'" : "");
	for (const struct gt_option *option = command->options; option->name; option++)
		zsh_option(option, out);
	zsh_option(&gt_help_option, out);
	if (operands.program) {
		fputs("\t\t\t'(-)1:program:_command_names -e' '*::argument:_normal'\n", out);
	} else if (operands.shells) {
		fputs("\t\t\t'1:shell:(", out);
		put_shells(out);
		fputs(")'\n", out);
	} else if (operands.reports) {
		fputs("\t\t\t'*:recording or report: _gputrace_recordings ", out);
		put_reports(out);
		fputs("'\n", out);
	} else {
		fputs("\t\t\t'*:recording: _gputrace_recordings'\n", out);
	}
	fputs("\t\t;;\n", out);
}

static void print_zsh(FILE *out)
{
	fputs("#compdef gputrace\n"
	      "# Completion of gputrace for zsh, made by gputrace completion zsh.\n"
	      "_gputrace_recordings() {\n"
	      "\t(($#)) && compadd -- \"$@\"\n"
	      "\t_files -/ -g '*.gputrace(/)'\n"
	      "}\n"
	      "_gputrace() {\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\tlocal -a commands=(\n",
	      out);
	for (size_t i = 0; i < gt_command_count; i++) {
		if (gt_commands[i]->hidden)
			continue;
		fprintf(out, "\t\t\t'%s:", gt_commands[i]->name);
		put_quoted(gt_commands[i]->summary, out);
		fputs("'\n", out);
	}
	fputs("\t\t)\n"
	      "\t\t_describe command commands\n"
	      "\t\t_gputrace_recordings\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tshift words\n"
	      "\t((CURRENT--))\n"
	      "\tcase $words[1] in\n",
	      out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			zsh_command(gt_commands[i], out);
	fputs("\tesac\n"
	      "}\n"
	      "_gputrace \"$@\"\n",
	      out);
}

static void fish_option(const struct gt_command *command, const struct gt_option *option, FILE *out)
{
	fprintf(out, "complete -c gputrace -n '__fish_seen_subcommand_from %s'", command->name);
	if (option->letter)
		fprintf(out, " -s %c", option->letter);
	fprintf(out, " -l %s", option->name);
	if (option->choices || is_format(option)) {
		fputs(" -x -a '", out);
		put_choices(option, out);
		putc('\'', out);
	} else if (option->value) {
		fputs(" -r", out);
	}
	fputs(" -d \"", out);
	for (const char *at = option->help; *at; at++) {
		if (strchr("\"\\$", *at))
			putc('\\', out);
		putc(*at, out);
	}
	fputs("\"\n", out);
}

static void fish_command(const struct gt_command *command, FILE *out)
{
	const struct operands operands = operands_of(command);

	fprintf(out, "complete -c gputrace -n __fish_use_subcommand -a %s -d '", command->name);
	put_quoted(command->summary, out);
	fputs("'\n", out);
	for (const struct gt_option *option = command->options; option->name; option++)
		fish_option(command, option, out);
	fish_option(command, &gt_help_option, out);
	if (operands.program)
		fprintf(out,
		        "complete -c gputrace -n '__fish_seen_subcommand_from %s' -a "
		        "'(__fish_complete_subcommand --fcs-skip=2)'\n",
		        command->name);
	if (operands.recordings)
		fprintf(out,
		        "complete -c gputrace -n '__fish_seen_subcommand_from %s' -a "
		        "'(__fish_complete_directories (commandline -ct) Recording)'\n",
		        command->name);
	if (!operands.reports && !operands.shells)
		return;
	fprintf(out, "complete -c gputrace -n '__fish_seen_subcommand_from %s' -a '",
	        command->name);
	if (operands.reports)
		put_reports(out);
	else
		put_shells(out);
	fputs("'\n", out);
}

static void print_fish(FILE *out)
{
	fputs("# Completion of gputrace for fish, made by gputrace completion fish.\n"
	      "complete -c gputrace -f\n"
	      "complete -c gputrace -n __fish_use_subcommand -a '(__fish_complete_directories "
	      "(commandline -ct) Recording)'\n",
	      out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			fish_command(gt_commands[i], out);
}

int gt_completion_print(const char *shell, FILE *out, struct gt_error *err)
{
	if (strcmp(shell, "bash") == 0)
		print_bash(out);
	else if (strcmp(shell, "zsh") == 0)
		print_zsh(out);
	else if (strcmp(shell, "fish") == 0)
		print_fish(out);
	else
		return gt_fail(err, EINVAL, "no completion for '%s'; there is bash, zsh and fish",
		               shell);
	return 0;
}
