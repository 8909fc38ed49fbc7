#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual, the completions and "report NAME --help" name what there is. Usage: pages.py GPUTRACE

Covers COMMAND(manual), Covers COMMAND(completion), Covers COMMAND(offer). Checks that need a tool (mandoc, zsh, fish) are left out where it is not installed."""
import functools
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
CAPTURES = pathlib.Path(__file__).resolve().parent.parent / "golden" / "captures"


def output(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}: {done.stderr}")
    return done.stdout


@functools.cache
def gputrace(*words):
    """The answer to words whose answer is always the same."""
    return output(GPUTRACE, *words)


def names_of(pattern, text):
    return re.findall(pattern, text, re.MULTILINE)


def commands():
    return names_of(r"^  ([a-z]+) ", gputrace("--help"))


def options(command):
    return names_of(r"^ {2,6}(?:-., )?(--[a-z0-9-]+)", gputrace(command, "--help"))


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
            self.assertRegex(gputrace("report", report, "--help"), rf"  {column}\s")

    def test_explains_every_column_of_info(self):
        page = plain("gputrace-info.1")
        found = json.loads(gputrace("info", str(CAPTURES / "h200-streams.gputrace"), "--json"))
        tables = {name: rows for name, rows in found.items() if isinstance(rows, list) and rows and
                  isinstance(rows[0], dict)}
        self.assertGreater(len(tables), 5)
        for table, rows in tables.items():
            section = re.search(rf"(?s)\n\.SS {table}\n(.*?)(?:\n\.S[HS] |$)", page)
            for column in rows[0]:
                self.assertIn(f"\n.B {column}\n", "\n" + section[1], table)

    def test_has_a_date(self):
        title = output(GPUTRACE, "manual", "gputrace.1", env=os.environ | {"SOURCE_DATE_EPOCH": "1795305600"})
        self.assertRegex(title, r'\n\.TH GPUTRACE 1 "2026-11-22" "gputrace \d')
        for nonsense in ("", "x", "-1", "99999999999999999"):
            title = output(GPUTRACE, "manual", "gputrace.1", env=os.environ | {"SOURCE_DATE_EPOCH": nonsense})
            self.assertRegex(title, r'\n\.TH GPUTRACE 1 "(\d{4}-\d\d-\d\d)?" "gputrace \d', nonsense)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_fits_80_columns_and_is_filled(self):
        for page in gputrace("manual").split():
            done = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-rLL=80n", "-ww"], input=gputrace("manual", page),
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "", page)
            lines = done.stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), 80, page)
            # Where a line of prose ends early the next word would not have fitted.
            for line, after in zip(lines, lines[1:]):
                if "RECORDING is a folder" in line:
                    self.assertGreater(len(line) + 1 + len(after.split()[0]), 78, page)
                    break
        self.assertNotRegex(done.stdout, "\\w\u2010\n")

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_is_sound(self):
        for page in gputrace("manual").split():
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "error"], input=gputrace("manual", page),
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout, done.returncode), ("", 0), page)


class Offers(unittest.TestCase):
    """Completions that gputrace offers to the shells."""

    def setUp(self):
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        self.folder = pathlib.Path(self.top.name)
        for name in ("app.gputrace", "warm.gputrace", "more", "more/old.gputrace"):
            (self.folder / name).mkdir()
        (self.folder / "app.perfetto").touch()
        (self.folder / "notes.txt").touch()

    def offered(self, line):
        """The words for the last word of a line, and what the shell may offer besides."""
        more, *offers = output(GPUTRACE, "offer", "--", *line.split(" "), cwd=self.folder).splitlines()
        return [offer.split("\t")[0] for offer in offers], more

    def words(self, line):
        words, more = self.offered(line)
        self.assertEqual(more, "words")
        return words

    def test_begin_with_commands_then_recordings_then_reports(self):
        words = self.words("")
        self.assertEqual(words[:len(commands())], commands())
        self.assertEqual(words[len(commands()):len(commands()) + 3], ["help", "app.gputrace", "warm.gputrace"])
        self.assertIn("kernels", words)
        self.assertNotIn("manual", words)

    def test_put_recordings_first_where_one_is_read(self):
        self.assertEqual(self.words("info "), ["app.gputrace", "warm.gputrace", "more/"])
        self.assertEqual(self.words("view "), ["app.gputrace", "warm.gputrace", "app.perfetto", "more/"])
        self.assertEqual(self.words("report ")[:4], ["app.gputrace", "warm.gputrace", "more/", "summary"])
        self.assertEqual(self.words("report more/"), ["more/old.gputrace"])

    def test_name_reports_where_they_can_stand(self):
        for line in ("ker", "help ker", "help report ker", "report ker", "kernels ker", "stats ker"):
            self.assertEqual(self.words(line), ["kernels"], line)
        self.assertEqual(self.words("report kernels,cop"), ["kernels,copies"])

    def test_name_every_option(self):
        for command in commands():
            self.assertLessEqual(set(options(command)), set(self.words(f"{command} -")), command)

    def test_name_the_columns_of_the_reports_that_are_asked_for(self):
        self.assertIn("total_ns", self.words("report kernels --sort "))
        self.assertNotIn("calls", self.words("report telemetry --sort "))
        self.assertIn("energy_j", self.words("report telemetry --sort "))
        self.assertIn("total_ns", self.words("report --by family --sort "))
        self.assertEqual(self.words("report kernels -s calls,total_"), ["calls,total_ns"])
        self.assertIn("--sort=total_ns", self.words("kernels --sort=to"))

    def test_name_tables_formats_and_the_other_words_of_values(self):
        self.assertIn("families", self.words("report kernels --section "))
        self.assertIn("ledger", self.words("info --section "))
        self.assertEqual(self.words("report --names "), ["short", "full", "mangled"])
        self.assertEqual(self.words("report --by s"), ["shape", "stream"])
        self.assertEqual(self.words("report gaps --set "), ["largest="])
        self.assertEqual(self.words("report kernels --set by=f"), ["by=family"])
        self.assertEqual(self.words("run --api=l"), ["--api=light"])
        self.assertEqual(self.words("export --format "), ["perfetto", "chrome", "sqlite", "prometheus"])
        self.assertEqual(self.words("completion f"), ["fish"])

    def test_name_no_files_for_numbers_and_times(self):
        for option in ("--limit", "--from", "--stream", "--width", "--kernel"):
            self.assertEqual(self.words(f"report {option} "), [], option)

    def test_leave_files_and_programs_to_the_shell(self):
        self.assertEqual(self.offered("report -o "), ([], "files"))
        self.assertEqual(self.offered("run --cupti "), ([], "files"))
        self.assertEqual(self.offered("./a"), ([], "files"))
        self.assertEqual(self.offered("run -q en"), ([], "commands"))
        self.assertEqual(self.offered("run -o x env --i"), ([], "program 4"))
        self.assertEqual(self.offered("run -t cuda -- env -"), ([], "program 5"))
        self.assertEqual(self.offered("/usr/bin/env -"), ([], "program 1"))


class Shells(unittest.TestCase):
    """The shells themselves, with what gputrace completion prints."""

    def setUp(self):
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        self.folder = pathlib.Path(self.top.name)
        (self.folder / "my app.gputrace").mkdir()
        (self.folder / "run:2.gputrace").mkdir()
        (self.folder / "figures.csv").touch()
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "gputrace").symlink_to(GPUTRACE)
        for shell in ("bash", "zsh", "fish"):
            (self.folder / shell).write_text(gputrace("completion", shell))

    def type(self, shell, start, line, key):
        """Words of a line after key is pressed at its end."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe(shell[0], shell, os.environ | {
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(self.folder)})
        # Two programs of one name: the shell's function shows the words, the completion asks the real one.
        start += 'gputrace() { printf "<%s>" "$@" >words; mv words done; }\n'
        os.write(terminal, start.encode() + line.encode() + key + b"\n")
        deadline = time.monotonic() + 20
        done = self.folder / "done"
        while not done.exists():
            self.assertLess(time.monotonic(), deadline, f"{shell[0]} shows nothing of {line!r}")
            if select.select([terminal], [], [], 0.05)[0]:
                os.read(terminal, 65536)
        os.write(terminal, b"\nexit\n")
        os.close(terminal)
        os.waitpid(child, 0)
        words = re.findall(r"<(.*?)>", done.read_text())
        done.unlink()
        return words

    def completed(self, shell, line):
        if shell == "bash":
            return self.type(["bash", "--norc", "--noprofile"], "source ./bash\n", line, b"\033*")
        start = ("autoload -U compinit; compinit -u -D; source ./zsh\n"
                 "zle -C every complete-word _generic; bindkey '^T' every\n"
                 "zstyle ':completion:every::::' completer _all_matches _complete\n"
                 "zstyle ':completion:every:*' insert true; zstyle ':completion:*' menu no\n")
        return self.type(["zsh", "-f", "-i", "-V"], start, line, b"\024")

    def check(self, shell):
        for line, words in (
                ("gputrace repo", ["report"]),
                ("gputrace info ", ["info", "my app.gputrace", "run:2.gputrace", "bin/"]),
                ("gputrace info my", ["info", "my app.gputrace"]),
                ("gputrace info ~/my", ["info", f"{self.folder}/my app.gputrace"]),
                ("gputrace info run:", ["info", "run:2.gputrace"]),
                ("gputrace run --api=li", ["run", "--api=light"]),
                ("gputrace report --names ", ["report", "--names", "short", "full", "mangled"]),
                ("gputrace report kernels --sort total_", ["report", "kernels", "--sort", "total_ns"]),
                ("gputrace report -o fig", ["report", "-o", "figures.csv"])):
            self.assertEqual(self.completed(shell, line), words, line)
        self.assertIn("realpath", self.completed(shell, "gputrace run realpat"))

    def test_bash(self):
        self.check("bash")

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        self.check("zsh")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        def offered(line):
            text = output("fish", "-c", "source fish; complete -C $argv[1]", line, cwd=self.folder,
                          env=os.environ | {"HOME": self.top.name, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})
            return [offer.split("\t")[0] for offer in text.splitlines()]

        self.assertEqual(offered("gputrace repo"), ["report"])
        self.assertEqual(offered("gputrace info "), ["my app.gputrace", "run:2.gputrace", "bin/"])
        self.assertIn("--limit", offered("gputrace report --l"))
        self.assertEqual(offered("gputrace run --api=l"), ["--api=light"])
        self.assertEqual(offered("gputrace run --api l"), ["light"])
        self.assertEqual(offered("gputrace report -o fig"), ["figures.csv"])
        self.assertIn("realpath", offered("gputrace run realpat"))


unittest.main()
