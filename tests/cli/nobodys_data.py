#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nobody's data is overwritten or removed, whatever is asked of gputrace. Usage: nobodys_data.py
GPUTRACE [--few] [CLASS[.TEST]...]

Every spelling of --output meets everything that can have that name already, with and without
--force and --join, by programs that record, record nothing and cannot be run; several runs meet at
the same moment; and signals end commands while they write. The program records by putting a
capture into the folder, so that nothing here needs CUDA. --few: one in seven of what can meet, for
builds with sanitizers.
"""
import fcntl
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
FEW = sys.argv[1:2] == ["--few"] and bool(sys.argv.pop(1))
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "captures"
CAPTURE = next((GOLDEN / "h200-saxpy.gputrace").glob("*.capture"))
LARGE = GOLDEN / "h200-pytorch.gputrace"
PATIENCE_S = 60
ROUNDS = 5

RECORDS = ["sh", "-c", 'cp "$CAPTURE" "$GPUTRACE_OUTPUT/${ID-new}.capture"; exit "${STATUS-0}"']
# Tells that it runs and ends when it is told to.
RECORDS_AND_WAITS = ["sh", "-c", 'cp "$CAPTURE" "$GPUTRACE_OUTPUT/$ID.capture"; : >"$MEET/$ID"; '
                                 'until [ -e "$MEET/go" ]; do sleep 0.01; done']
RECORDS_NOTHING = ["sh", "-c", ":"]
CANNOT_RUN = ["./no-interpreter"]


def some(of):
    """All of them, or one in seven: no number of things that meet here is a multiple of seven."""
    every = list(of)
    return every[::7] if FEW else every


def snapshot(folder):
    """Paths that are there: for each what it is and holds."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("folder",)
        else:
            found[name] = ("file", path.read_bytes())
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="gputrace-data-"))
        self.addCleanup(shutil.rmtree, self.top)
        (self.top / "injection.so").touch()
        self.folder = self.top / "work"
        self.folder.mkdir()

    def environment(self, **extra):
        result = {name: value for name, value in os.environ.items()
                  if not name.startswith(("GPUTRACE_", "CUDA_INJECTION"))}
        return {**result, "GPUTRACE_INJECTION": str(self.top / "injection.so"),
                "CAPTURE": str(CAPTURE), "LC_ALL": "C", **extra}

    def start(self, *words, **extra):
        return subprocess.Popen([GPUTRACE, *words], cwd=self.folder, env=self.environment(**extra),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def command(self, *words, **extra):
        process = self.start(*words, **extra)
        process.out, process.err = process.communicate(timeout=PATIENCE_S)
        return process

    def run_into(self, options, program=tuple(RECORDS), **extra):
        return self.command("run", "--quiet", *options, "--", *program, **extra)

    def clear(self):
        shutil.rmtree(self.folder)
        (self.folder / "other").mkdir(parents=True)
        (self.folder / "other" / "thesis.txt").write_text("years of work")
        script = self.folder / "no-interpreter"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)


class Spellings(Case):
    """One run, of anything, over anything."""

    # Things that can be called X.gputrace and that --force may replace.
    REPLACEABLE = {"nothing", "recording", "empty folder"}

    def make_recording(self, name):
        path = self.folder / name
        path.mkdir(0o700)
        (path / "old.capture").write_bytes(CAPTURE.read_bytes())
        (path / "manifest.json").write_text('{"version": 1, "command": ["old"]}\n')
        return path

    def lay(self, what):
        """Returns who holds it, to be closed."""
        path = self.folder / "X.gputrace"
        if what == "empty folder":
            path.mkdir()
        elif what == "file":
            path.write_text("a file")
        elif what == "dangling link":
            path.symlink_to("nowhere")
        elif what == "link":
            path.symlink_to(self.make_recording("elsewhere.gputrace").name)
        elif what != "nothing":
            self.make_recording("X.gputrace")
        if what == "stranger inside":
            (path / "notes.txt").write_text("not gputrace's")
        elif what == "folder inside":
            (path / "x.capture").mkdir()
            (path / "x.capture" / "notes.txt").write_text("not gputrace's")
        elif what == "process records":
            arena = open(path / "live.arena", "wb")
            fcntl.fcntl(arena, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            return arena
        return None

    def lay_export(self, what):
        path = self.folder / "X.perfetto"
        if what == "file":
            path.write_text("an export")
        elif what == "folder":
            path.mkdir()
            (path / "notes.txt").write_text("not gputrace's")
        elif what == "link":
            (self.folder / "linked").write_text("a linked file")
            path.symlink_to("linked")

    @staticmethod
    def may_change(before, what, export, options, recorded):
        """The paths that were there and that these options may take away."""
        force = "--force" in options and "--join" not in options
        if what == "empty folder" and not recorded and "--join" in options:
            return {"X.gputrace"}  # nothing was in it, and nothing came into it
        if not (force and recorded and what in Spellings.REPLACEABLE):
            return set()
        allowed = {path for path in before if path.startswith("X.gputrace/")}
        if "--no-export" not in options and export in ("file", "link"):
            allowed.add("X.perfetto")
        return allowed

    def check(self, spelling, what, export, options, program):
        self.clear()
        holder = self.lay(what)
        self.lay_export(export)
        before = snapshot(self.folder)
        done = self.run_into([*spelling, *options], program, NAME="X", GPUTRACE_OUTPUT="X")
        after = snapshot(self.folder)
        recorded = program is RECORDS and done.returncode == 0
        allowed = self.may_change(before, what, export, options, recorded)
        case = f"{spelling} {options} {program[0]} over {what} and {export}: {done.err}"
        lost = {path for path, held in before.items() if after.get(path) != held}
        self.assertLessEqual(lost, allowed, case)
        left = [path for path in after if ".partial" in path or ".old-" in path]
        self.assertEqual(left, [], case)
        if holder:
            holder.close()
        return done, after

    def test_everything_that_can_be_there(self):
        things = ("nothing", "recording", "empty folder", "file", "dangling link", "link",
                  "stranger inside", "folder inside", "process records")
        exports = ("nothing", "file", "folder", "link")
        every = ((), ("--force",), ("--join",), ("--force", "--join"), ("--force", "--no-export"))
        replaced = 0
        for what, export, options, program in some(itertools.product(
                things, exports, every, (RECORDS, RECORDS_NOTHING, CANNOT_RUN))):
            done, after = self.check(("-o", "X"), what, export, options, program)
            if done.returncode == 0 and program is RECORDS:
                self.assertIn("X.gputrace/new.capture", after)
                replaced += "--force" in options and "X.gputrace/old.capture" not in after
        self.assertGreater(replaced, 0)

    def test_every_spelling(self):
        names = ("X", "X.gputrace", "X.gputrace/", "X.gputrace//", "./X", "other/../X", "X.capture",
                 "X.arena", "%q{NAME}", "%q{NAME}.gputrace", "X.%n", "%n", "%p", "%h", "X%%",
                 "X.gputrace/.", "X.gputrace/..", "X.gputrace/X", "X.gputrace/old",
                 "X.gputrace/old.capture", "X.perfetto", "X/", "", ".", "..", "/", "//", "%", "%x",
                 "%q", "%q{", "%q{}", "%q{NOT_SET}", str(self.folder / "X"),
                 str(self.folder / "X.gputrace/"))
        every = ((), ("--force",), ("--join",), ("--force", "--join"), ("--force", "--no-export"))
        spellings = [("-o", name) for name in names] + [(f"--output={name}",) for name in names] + \
            [()]
        for spelling, options in some(itertools.product(spellings, every)):
            self.check(spelling, "recording", "file", options, RECORDS)
        for spelling in some(spellings):
            self.check(spelling, "process records", "file", ("--force",), RECORDS)

    def test_other_commands(self):
        """report, info and export overwrite a file only with --force, and a folder never: a trace goes into it."""
        commands = (("report",), ("report", "--json"), ("info",), ("info", "--csv"), ("export",),
                    ("export", "--uncompressed"))
        for command, force in itertools.product(commands, ((), ("-f",), ("--force",))):
            for name in ("kept.txt", "./kept.txt", "other", "other/thesis.txt", "link"):
                self.clear()
                self.make_recording("X.gputrace")
                (self.folder / "kept.txt").write_text("kept")
                (self.folder / "link").symlink_to("kept.txt")
                before = snapshot(self.folder)
                extra = ("--format", "perfetto") if command[0] == "export" else ()
                done = self.command(*command, "-o", name, *force, "X.gputrace", *extra)
                after = snapshot(self.folder)
                lost = {path for path, held in before.items() if after.get(path) != held}
                case = f"{command} {force} -o {name}: {done.err}"
                if force and name != "other":
                    self.assertEqual((done.returncode, len(lost)), (0, 1), case)
                elif command[0] == "export" and name == "other":
                    self.assertEqual((done.returncode, lost), (0, set()), case)
                    before["other/X.perfetto"] = None
                else:
                    self.assertEqual((done.returncode, lost), (1, set()), case)
                self.assertEqual(set(after), set(before), case)


class AtTheSameMoment(Case):
    MIXES = {
        "new": ((), (), (), ()),
        "force": (("--force",),) * 5,
        "join": (("--join",),) * 5,
        "numbered": (("-o", "X.%n"),) * 5,
        "all": ((), ("--force",), ("--join",), ("--force",), ("--join",), ("-o", "X.%n")),
    }

    def meet(self, options_of, meet):
        """Starts all at once; none ends before each of the others has started or was refused."""
        runs = [self.start("run", "--quiet", "--no-export", "-o", "X", *options, "--",
                           *RECORDS_AND_WAITS, ID=f"run-{i}", MEET=str(meet))
                for i, options in enumerate(options_of)]
        deadline = time.monotonic() + PATIENCE_S
        while any(run.poll() is None and not (meet / f"run-{i}").exists()
                  for i, run in enumerate(runs)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        (meet / "go").touch()
        for run in runs:
            run.out, run.err = run.communicate(timeout=PATIENCE_S)
        return runs

    def check(self, mix, older):
        options_of = self.MIXES[mix]
        self.clear()
        meet = pathlib.Path(tempfile.mkdtemp(dir=self.top))
        if older:
            path = self.folder / "X.gputrace"
            path.mkdir()
            (path / "old.capture").write_bytes(CAPTURE.read_bytes())
        runs = self.meet(options_of, meet)
        case = f"{mix}, {older}: {[(run.returncode, run.err) for run in runs]}"
        files = list(snapshot(self.folder))
        captures = [pathlib.PurePath(name).name for name in files if name.endswith(".capture")]
        recorded = {i for i, run in enumerate(runs) if run.returncode == 0}
        # each that recorded has its data, and no other left any
        self.assertEqual(sorted(name for name in captures if name != "old.capture"),
                         sorted(f"run-{i}.capture" for i in recorded), case)
        forced = any("--force" in options_of[i] for i in recorded)
        self.assertEqual("old.capture" in captures, older and not forced, case)
        self.assertEqual([name for name in files if ".partial" in name or ".old-" in name], [], case)
        self.assertTrue(all(run.returncode in (0, 125) for run in runs), case)
        return recorded

    def test_one_of_several_wins(self):
        for _ in range(ROUNDS):
            self.assertEqual(len(self.check("new", False)), 1)
            self.assertEqual(len(self.check("new", True)), 0)
            self.assertEqual(len(self.check("force", False)), 1)
            self.assertEqual(len(self.check("force", True)), 1)

    def test_all_share(self):
        for older in (False, True) * ROUNDS:
            self.assertEqual(len(self.check("join", older)), 5)
            manifests = sorted((self.folder / "X.gputrace").glob("manifest.*"))
            self.assertEqual(len(manifests), 5)
            self.assertEqual([json.loads(path.read_text())["exit_status"] for path in manifests],
                             [0] * 5)

    def test_each_has_a_number(self):
        for _ in range(ROUNDS):
            self.assertEqual(len(self.check("numbered", False)), 5)
            self.assertEqual(sorted(path.name for path in self.folder.glob("X.*")),
                             [f"X.{i}.gputrace" for i in range(1, 6)])

    def test_everybody_at_once(self):
        for older in (False, True) * ROUNDS:
            self.check("all", older)


class Signals(Case):
    """Signals that end a command while it writes leave nothing behind."""

    def left(self, but):
        return sorted(path.name for path in self.folder.iterdir() if path.name not in but)

    def signal_while(self, pattern, number, *words, **extra):
        """Sends it once a file of this pattern is there; whether it came in time."""
        process = self.start(*words, **extra)
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < deadline:
            if any(self.folder.glob(pattern)):
                process.send_signal(number)
                break
        process.communicate(timeout=PATIENCE_S)
        return process.returncode == -number

    def check(self, pattern, number, *words, **extra):
        for _ in range(50):
            self.clear()
            before = set(os.listdir(self.folder)) | {"X.gputrace"}
            in_time = self.signal_while(pattern, number, *words, **extra)
            if in_time:
                self.assertEqual(self.left(before), [], f"{words} and signal {number}")
                return
        self.fail(f"{words} was always done before signal {number} came")

    def test_export(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.check("t.perfetto*.partial", number, "export", "-o", "t.perfetto", str(LARGE))

    def test_run(self):
        large = next(LARGE.glob("*.capture"))
        for number in (signal.SIGTERM, signal.SIGINT):
            self.check("X.perfetto*.partial", number, "run", "--quiet", "-o", "X", *RECORDS,
                       CAPTURE=str(large))

    def test_files_that_grow_too_large(self):
        """The limit's own signal, SIGXFSZ, comes in the middle of every write."""
        for words in (("report", "--json"), ("info", "--json"), ("export", "--format", "perfetto")):
            self.clear()
            before = set(os.listdir(self.folder))
            done = subprocess.run(
                [GPUTRACE, *words, "-o", "out", str(LARGE)], cwd=self.folder,
                env=self.environment(), capture_output=True, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
            self.assertEqual(done.returncode, -signal.SIGXFSZ, done.stderr)
            self.assertEqual(self.left(before), [], words)

    def test_an_ignored_signal_stays_ignored(self):
        self.clear()
        code = "import os,signal,sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); " \
               "os.execv(sys.argv[1], sys.argv[1:])"
        process = subprocess.Popen([sys.executable, "-c", code, GPUTRACE, "export", "--quiet", "-o",
                                    "t.perfetto", str(LARGE)], cwd=self.folder,
                                   env=self.environment())
        while process.poll() is None and not any(self.folder.glob("t.perfetto*")):
            pass
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE_S), 0)
        self.assertTrue((self.folder / "t.perfetto").exists())


if __name__ == "__main__":
    unittest.main()
