#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual, the completions and "report NAME --help" name what there is. Usage: pages.py GPUTRACE

Covers COMMAND(manual), COMMAND(completion). Checks that need a tool (mandoc, zsh, fish) are left out where it is not installed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
CAPTURES = pathlib.Path(__file__).resolve().parent.parent / "golden" / "captures"


def output(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}: {done.stderr}")
    return done.stdout


def gputrace(*words):
    return output(GPUTRACE, *words)


def names_of(pattern, text):
    return re.findall(pattern, text, re.MULTILINE)


def commands():
    return names_of(r"^  ([a-z]+) ", gputrace("--help"))


def options(command):
    return names_of(r"^ {2,6}(?:-., )?(--[a-z-]+)", gputrace(command, "--help"))


def plain(page):
    """A page as one reads it, without what makes it bold."""
    return gputrace("manual", page).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")


class Manual(unittest.TestCase):
    def test_has_a_page_for_every_command(self):
        pages = gputrace("manual").split()
        self.assertEqual(pages, ["gputrace.1", *(f"gputrace-{name}.1" for name in commands()),
                                 "gputrace-report.5"])
        for page in pages:
            self.assertIn(f"\n.TH {page[:-2].upper()} {page[-1]} ", plain(page))

    def test_explains_every_option(self):
        for command in commands():
            page = plain(f"gputrace-{command}.1")
            for option in options(command):
                self.assertRegex(page, rf"\n(-., )?{option}\b", command)

    def test_explains_every_column_of_every_report(self):
        page = plain("gputrace-report.5")
        columns = set()
        for recording in sorted(CAPTURES.glob("*.gputrace")):
            found = json.loads(gputrace("report", "all", str(recording), "--json", "--limit", "1"))
            for tables in found["reports"]:
                columns |= {(tables["report"], table, column) for table, rows in tables.items()
                            if isinstance(rows, list) for row in rows if isinstance(row, dict)
                            for column in row}
        self.assertGreater(len(columns), 100)
        for report, table, column in columns:
            section = re.search(rf"(?s)\n\.SH {report}\n.*?\n\.SS {table}\n(.*?)(?:\n\.S[HS] |$)", page)
            self.assertIsNotNone(section, f"{report} {table}")
            self.assertIn(f"\n.B {column}\n", "\n" + section[1], f"{report} {table}")
            self.assertIn(f"  {column} ", gputrace("report", report, "--help"))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_is_sound(self):
        for page in gputrace("manual").split():
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "error"], input=gputrace("manual", page),
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout, done.returncode), ("", 0), page)


class Completion(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        self.folder = pathlib.Path(self.top.name)
        (self.folder / "app.gputrace").mkdir()
        for shell in ("bash", "zsh", "fish"):
            (self.folder / shell).write_text(gputrace("completion", shell))

    def complete(self, line):
        """What bash offers for the last word of a line."""
        script = ('source ./bash; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("")\n'
                  'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gputrace; printf "%s\\n" "${COMPREPLY[@]}"')
        return set(output("bash", "-c", script, "bash", line, cwd=self.folder).split())

    def test_offers_commands_and_recordings(self):
        self.assertLessEqual({*commands(), "help", "app.gputrace"}, self.complete("gputrace "))
        self.assertEqual(self.complete("gputrace rep"), {"report"})
        self.assertNotIn("manual", self.complete("gputrace "))

    def test_offers_every_option(self):
        for command in commands():
            self.assertLessEqual(set(options(command)), self.complete(f"gputrace {command} -"), command)

    def test_offers_values_reports_and_programs(self):
        self.assertEqual(self.complete("gputrace run --api "), {"none", "light", "outer", "all"})
        self.assertIn("perfetto", self.complete("gputrace export --format "))
        self.assertLessEqual({"kernels", "app.gputrace"}, self.complete("gputrace report "))
        self.assertEqual(self.complete("gputrace report app.gputrace ker"), {"kernels"})
        self.assertIn("env", self.complete("gputrace run en"))
        self.assertEqual(self.complete("gputrace run env --o"), set())
        self.assertEqual(self.complete("gputrace completion f"), {"fish"})

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_is_read_by_zsh(self):
        output("zsh", "-n", "zsh", cwd=self.folder)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_is_used_by_fish(self):
        def offered(line):
            text = output("fish", "-c", f"source fish; complete -C '{line}'", cwd=self.folder,
                          env=os.environ | {"HOME": self.top.name})
            return {offer.split("\t")[0] for offer in text.splitlines()}

        self.assertEqual(offered("gputrace repo"), {"report"})
        self.assertIn("--limit", offered("gputrace report --l"))
        self.assertLessEqual({"kernels", "app.gputrace/"}, offered("gputrace report "))
        self.assertEqual(offered("gputrace run --api l"), {"light"})


unittest.main()
