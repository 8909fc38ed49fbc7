#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command explains itself: on stdout, in 80 columns, with -h and "help", and errors where
# they belong.
set -eu
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
	"$gputrace" "$command" 2>/dev/null && fail "$command is content without an operand"
done
exit 0
