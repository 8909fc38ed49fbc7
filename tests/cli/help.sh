#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command explains itself: on stdout, in 80 columns or as many as COLUMNS says, with -h and
# "help", and errors where they belong.
set -eu
unset COLUMNS
gputrace=$1
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
commands=$("$gputrace" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 4 ] || fail "--help names too few commands: $commands"
[ "$("$gputrace" -h)" = "$("$gputrace" --help)" ] || fail "-h is not --help"
[ "$("$gputrace" help)" = "$("$gputrace" --help)" ] || fail "help is not --help"
"$gputrace" --version | grep -Eq '^gputrace [0-9]+\.[0-9]+' || fail "--version"
"$gputrace" --help | awk 'length > 80 { exit 1 }' || fail "--help is wider than 80"
for command in $commands; do
	help=$("$gputrace" "$command" --help)
	echo "$help" | grep -q "^usage: gputrace $command" || fail "$command --help has no usage"
	echo "$help" | awk 'length > 80 { exit 1 }' || fail "$command --help is wider than 80"
	[ -z "$("$gputrace" "$command" --help 2>&1 >/dev/null)" ] || fail "$command --help writes to stderr"
	[ "$("$gputrace" "$command" -h)" = "$help" ] || fail "$command -h is not --help"
	[ "$("$gputrace" help "$command")" = "$help" ] || fail "help $command is not $command --help"
	status=0
	out=$("$gputrace" "$command" --no-such-option 2>/dev/null) || status=$?
	[ "$status" -eq 2 ] || fail "$command exits with $status for an unknown option"
	[ -z "$out" ] || fail "$command writes errors to stdout"
	status=0
	lines=$("$gputrace" "$command" --no-such-option 2>&1 >/dev/null | wc -l) || status=$?
	[ "$lines" -eq 1 ] || fail "$command complains in $lines lines"
	[ "$command" = calibrate ] || ! "$gputrace" "$command" >/dev/null 2>&1 || fail "$command is content without an operand"
done

# wide WORD...: the longest line of a help, in columns
wide() {
	"$gputrace" "$@" | awk 'length > most { most = length } END { print most }'
}
for words in --help "report --help" "run --help" "export --help" "report kernels --help" "report --list"; do
	for columns in 40 60 100 140; do
		# shellcheck disable=SC2086
		found=$(COLUMNS=$columns wide $words)
		[ "$found" -le "$columns" ] || fail "$words has $found columns where COLUMNS is $columns"
	done
	# shellcheck disable=SC2086
	[ "$(COLUMNS=140 wide $words)" -gt 80 ] || fail "$words does not use the columns that there are"
done
# Each report has its line; what is behind them is for all.
[ "$("$gputrace" report --help | sed -n '/^What is told:/,$p' | wc -l)" -le 59 ] || fail "report --help has become longer: explain it in report NAME --help"
"$gputrace" report outliers --help | grep -q -- '--set factor=2' || fail "report NAME --help names no parameters"
"$gputrace" --help | grep -q 'man gputrace' || fail "--help does not lead to the manual"
exit 0
