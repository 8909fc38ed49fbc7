# SPDX-License-Identifier: Apache-2.0
"""Recordings without gputrace run, and folders that several runs want."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, environment, find_injection, finish, tool
from recordings import Recording, Run


class Environment(Case):
    """Without gputrace run."""

    def start(self, *words, script="", **extra):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        program = subprocess.Popen([FAKES / "bin" / "app_work", *map(str, words)], cwd=folder,
                                   env=environment(script, CUDA_INJECTION64_PATH=str(find_injection()),
                                                   **extra),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for cleanup in (program.stderr.close, program.stdout.close, program.wait, program.kill):
            self.addCleanup(cleanup)  # in reverse order
        program.folder = folder
        return program

    def finish(self, program):
        stdout, stderr = program.communicate(timeout=PATIENCE_S)
        self.assertEqual(stderr, "")
        program.facts = json.loads(stdout.splitlines()[-1])
        return program.returncode

    def test_a_folder_named_after_the_program(self):
        program = self.start("--launches", 25, "--names", 3, "--copies", 2)
        self.assertEqual(self.finish(program), 0)
        self.assertEqual([path.name for path in program.folder.iterdir()], ["app_work.gputrace"])
        recording = Recording(program.folder / "app_work.gputrace")
        self.check_ledger(recording, 25)
        self.assertEqual(recording.tables["copies"], 6)
        self.assertEqual(recording.notes, [])

    def test_a_chosen_folder(self):
        output = pathlib.Path(self.folder, "chosen.gputrace")
        program = self.start("--launches", 25, GPUTRACE_OUTPUT=str(output))
        self.assertEqual(self.finish(program), 0)
        self.check_ledger(Recording(output), 25)
        self.assertEqual(list(program.folder.iterdir()), [])

    def test_two_runs_into_one_folder(self):
        output = str(pathlib.Path(self.folder, "both.gputrace"))
        for launches in (3, 4):
            self.finish(self.start("--launches", launches, GPUTRACE_OUTPUT=output))
        self.check_ledger(Recording(output), 7)

    def test_a_killed_program(self):
        program = self.start("--launches", 25, "--sleep-ms", 400, "--end", "kill")
        self.assertEqual(self.finish(program), -signal.SIGKILL)
        path = program.folder / "app_work.gputrace"
        before = sorted((file.name, file.stat().st_size) for file in path.iterdir())
        recording = Recording(path)
        self.check_ledger(recording, 25)
        self.assertIn("died", recording.processes[0]["ended"])
        # reading a recording changes nothing about it
        after = sorted((file.name, file.stat().st_size) for file in path.iterdir())
        self.assertEqual(before, after)

    def test_a_killed_program_is_finished(self):
        program = self.start("--launches", 25, "--sleep-ms", 400, "--end", "kill")
        self.assertEqual(self.finish(program), -signal.SIGKILL)
        path = program.folder / "app_work.gputrace"
        before = Recording(path)
        self.assertEqual(len(list(path.glob("*.arena"))), 1)
        done = finish(path)
        self.assertIn("1 capture completed", done.stderr)
        self.assertEqual(list(path.glob("*.arena")), [])
        after = Recording(path)
        self.check_ledger(after, 25)
        self.assertEqual((before.ledger, before.tables), (after.ledger, after.tables))
        again = finish(path)
        self.assertIn("nothing to finish", again.stderr)

    def test_a_run_that_is_killed_itself_is_finished(self):
        output = pathlib.Path(self.folder, "orphan.gputrace")
        program = [FAKES / "bin" / "app_work", "--launches", "25", "--sleep-ms", "400",
                   "--end", "wait"]
        with subprocess.Popen([GPUTRACE, "run", "-o", output, "--quiet", *program],
                              env=environment(), stdout=subprocess.PIPE, text=True) as tracer:
            pid = json.loads(tracer.stdout.readline())["pid"]
            tracer.kill()
            refused = finish(output)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("is still being written by 1 process", refused.stderr)
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(finish(output).returncode, 0)
        self.assertEqual(list(output.glob("*.arena")), [])
        self.check_ledger(Recording(output), 25)

    def test_a_program_that_still_runs(self):
        program = self.start("--launches", 25, "--sleep-ms", 400, "--end", "wait")
        program.stdout.readline()
        recording = Recording(program.folder / "app_work.gputrace")
        self.assertIn("running", recording.processes[0]["ended"])
        # what was fetched by then; its calls may still stand in the arena
        self.assertEqual(recording.tables["kernels"], 25)
        program.kill()
        self.assertEqual(program.wait(PATIENCE_S), -signal.SIGKILL)
        self.check_ledger(Recording(recording.path), 25)

    def test_a_setting_that_does_not_exist(self):
        program = self.start("--launches", 2, GPUTRACE_FLUSH_INTERVALL="1s")
        self.assertEqual(self.finish(program), 0)
        notes = Recording(program.folder / "app_work.gputrace").notes
        self.assertTrue(any("GPUTRACE_FLUSH_INTERVALL" in note and
                            re.search(r"GPUTRACE_FLUSH_INTERVAL\b", note) for note in notes), notes)

    def test_disabled(self):
        program = self.start("--launches", 2, GPUTRACE_DISABLE="1")
        self.assertEqual(self.finish(program), 0)
        self.assertEqual(list(program.folder.iterdir()), [])

    def test_a_folder_that_cannot_be_made(self):
        program = self.start("--launches", 2, GPUTRACE_OUTPUT="/proc/nowhere/x.gputrace")
        self.assertEqual(self.finish(program), 0)


class Folders(Case):
    """Who may record where: nothing that is being written is replaced, ranks share a folder."""

    def popen(self, command, env):
        """Started, and killed when the test ends before it, with what it started."""
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        for cleanup in (process.stderr.close, process.stdout.close, process.wait):
            self.addCleanup(cleanup)  # in reverse order
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the last of them is gone

    def begin(self, *options, words=("--launches", "5", "--end", "wait")):
        """gputrace run of a program that has launched and waits; its pid is .program."""
        tracer = self.popen([GPUTRACE, "run", "-o", f"{self.folder}/X", *options,
                             FAKES / "bin" / "app_work", *words], env=environment())
        tracer.program = json.loads(tracer.stdout.readline())["pid"]
        return tracer

    def end(self, tracer):
        """Its exit status and what it said."""
        os.kill(tracer.program, signal.SIGTERM)
        return tracer.wait(PATIENCE_S), tracer.stderr.read()

    @staticmethod
    def wait_for_its_locks(pid):
        """A killed process, no child of ours, keeps its files, and so its locks, until the last
        of its threads has ended: then its only one is a zombie, or nothing is left of it."""
        def is_left(thread):
            with contextlib.suppress(OSError):  # gone meanwhile
                stat = pathlib.Path(f"/proc/{pid}/task/{thread}/stat").read_text()
                return stat.rpartition(")")[2].split()[0] not in "ZX"
            return False

        def threads():
            with contextlib.suppress(OSError):
                return os.listdir(f"/proc/{pid}/task")
            return []

        while any(map(is_left, threads())):
            time.sleep(0.01)

    def again(self, *options, launches=3, **extra):
        return Run(self.folder, "--launches", launches, options=options, **extra)

    def names(self):
        return sorted(path.name for path in pathlib.Path(self.folder).iterdir())

    def launches(self, name="X.gputrace"):
        return Recording(f"{self.folder}/{name}").ledger["launches"]

    def refused(self, run, why="is being recorded"):
        self.assertEqual((run.status, run.stdout), (125, ""), run.stderr)
        self.assertIn(why, run.stderr)

    def test_force_refuses_while_run_records(self):
        first = self.begin("--quiet")
        self.refused(self.again("--force"))
        self.assertEqual(self.names(), ["X.gputrace"])
        self.assertEqual(self.end(first), (128 + signal.SIGTERM, ""))
        self.assertEqual(self.launches(), 5)
        self.assertEqual(self.again("--force").status, 0)
        self.assertEqual(self.launches(), 3)

    def test_force_refuses_while_only_a_process_records(self):
        first = self.begin("--quiet")
        first.kill()
        first.wait(PATIENCE_S)
        self.refused(self.again("--force"), "1 process writes into it")
        self.assertEqual(self.names(), ["X.gputrace"])
        os.kill(first.program, signal.SIGKILL)
        self.wait_for_its_locks(first.program)
        self.assertEqual(self.launches(), 5)
        self.assertEqual(self.again("--force").status, 0)
        self.assertEqual(self.launches(), 3)

    def test_force_keeps_the_old_until_the_new_is_there(self):
        self.assertEqual(self.again(launches=7).status, 0)
        second = self.begin("--quiet", "--force")
        self.assertEqual(self.names(), ["X.gputrace", "X.old-1.gputrace", "X.perfetto"])
        self.assertEqual(self.launches("X.old-1.gputrace"), 7)
        self.assertEqual(self.end(second)[0], 128 + signal.SIGTERM)
        self.assertEqual(self.names(), ["X.gputrace", "X.perfetto"])
        self.assertEqual(self.launches(), 5)

    def test_force_for_nothing_keeps_the_old(self):
        self.assertEqual(self.again(launches=7).status, 0)
        export = pathlib.Path(self.folder, "X.perfetto").read_bytes()
        without_cuda = self.again("--force", program="app_work", GPUTRACE_DISABLE="1")
        self.assertIn("nothing was recorded", without_cuda.stderr)
        script = pathlib.Path(self.folder, "script")
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        not_run = subprocess.run([GPUTRACE, "run", "-f", "-o", f"{self.folder}/X", script],
                                 env=environment(), capture_output=True, check=False)
        self.assertEqual(not_run.returncode, 126)
        self.assertEqual(self.names(), ["X.gputrace", "X.perfetto", "script"])
        self.assertEqual(self.launches(), 7)
        self.assertEqual(pathlib.Path(self.folder, "X.perfetto").read_bytes(), export)

    def test_ranks_share_a_folder(self):
        words = ("--launches", "5", "--sleep-ms", "400", "--end", "wait")
        ranks = [self.begin("--join", words=words) for _ in range(3)]
        # reading works meanwhile
        self.assertEqual(Recording(f"{self.folder}/X.gputrace").tables["kernels"], 15)
        said = [self.end(rank) for rank in ranks]
        self.assertEqual([status for status, _ in said], [128 + signal.SIGTERM] * 3)
        for _, text in said[:2]:
            self.assertIn("still being recorded by others", text)
            self.assertNotIn("ledger", text)
        self.assertIn("ledger: 15 launches = 15 kernels, clean", said[2][1])
        self.assertIn("X.gputrace holds 3 runs so far; what joins it later sums up again\n", said[2][1])
        self.assertEqual(self.names(), ["X.gputrace"])
        info = json.loads(tool("info", "--json", f"{self.folder}/X.gputrace"))
        self.assertEqual([run["signal"] for run in info["runs"]], [signal.SIGTERM] * 3)
        self.assertEqual(len({run["manifest"] for run in info["runs"]}), 3)

    def test_ranks_that_start_at_the_same_moment(self):
        """Each writes its manifest and its captures, and the last to end sums up."""
        ranks = [subprocess.Popen([GPUTRACE, "run", "--join", "-o", f"{self.folder}/X",
                                   FAKES / "bin" / "app_work", "--launches", str(i + 1),
                                   "--end", f"return={i}"], env=environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                 for i in range(8)]
        said = [rank.communicate(timeout=PATIENCE_S)[1] for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], list(range(8)), said)
        info = json.loads(tool("info", "--json", f"{self.folder}/X.gputrace"))
        self.assertEqual(sorted(run["exit_status"] for run in info["runs"]), list(range(8)))
        self.assertEqual(len(info["processes"]), 8)
        self.check_ledger(Recording(f"{self.folder}/X.gputrace"), sum(range(1, 9)))
        self.assertTrue(any("ledger: 36 launches" in text for text in said), said)
        self.assertNotEqual(info["recording"]["exit_status"]
                            if isinstance(info["recording"], dict)
                            else info["recording"][0]["exit_status"], 0)

    def test_a_finished_recording_can_be_joined_and_not_replaced_meanwhile(self):
        self.assertEqual(self.again(launches=7).status, 0)
        rank = self.begin("--join")
        self.refused(self.again("--force"))
        self.end(rank)
        self.assertEqual(self.launches(), 12)

    def test_force_and_a_process_that_begins_at_the_same_moment(self):
        """Either the process is in the old recording, which stays, or it joins the new one."""
        stem = pathlib.Path(self.folder, "X")
        folder = stem.with_suffix(".gputrace")
        begins = [FAKES / "bin" / "app_work", "--launches", "5", "--end", "wait"]
        joins = environment(CUDA_INJECTION64_PATH=str(find_injection()), GPUTRACE_OUTPUT=str(folder))
        for _ in range(10):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            process = self.popen(begins, env=joins)
            tracer = self.popen([GPUTRACE, "run", "-f", "-q", "--no-export", "-o", stem, *begins],
                                env=environment())
            process.stdout.readline()
            line = tracer.stdout.readline()
            names = [path.name for path in folder.iterdir()]
            for suffix in ("capture", "arena"):
                self.assertTrue(any(re.search(rf"-{process.pid}-\d+\.{suffix}$", name)
                                    for name in names), names)
            process.kill()
            process.wait(PATIENCE_S)
            if line:
                os.kill(json.loads(line)["pid"], signal.SIGTERM)
            self.assertEqual(tracer.wait(PATIENCE_S), 128 + signal.SIGTERM if line else 125)
            self.assertEqual(self.launches(), 10 if line else 5)
            self.assertEqual(self.names(), ["X.gputrace"])

    def test_names_with_patterns(self):
        for pattern, name in (("a-%q{RANK}-%%", "a-3-%"), ("b.%n", "b.1"), ("b.%n", "b.2"),
                              ("%h", os.uname().nodename)):
            with self.subTest(pattern):
                done = subprocess.run([GPUTRACE, "run", "-q", "-o", f"{self.folder}/{pattern}",
                                       FAKES / "bin" / "app_work", "--launches", "2"],
                                      env=environment(RANK="3"), capture_output=True, text=True,
                                      timeout=PATIENCE_S, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.launches(f"{name}.gputrace"), 2)
                self.assertIn(f"{name}.perfetto", self.names())

    def test_patterns_in_the_environment_alone(self):
        for pattern, name in (("a-%q{RANK}-%%.gputrace", "a-3-%.gputrace"),
                              ("b.%n.gputrace", "b.1.gputrace"), ("b.%n.gputrace", "b.2.gputrace"),
                              ("%h.gputrace", f"{os.uname().nodename}.gputrace"),
                              ("p%p.gputrace", None), ("%q{NOT_SET}.gputrace", "")):
            with self.subTest(pattern):
                done = subprocess.run(
                    [FAKES / "bin" / "app_work", "--launches", "2"], capture_output=True, text=True,
                    timeout=PATIENCE_S, check=True,
                    env=environment(RANK="3", CUDA_INJECTION64_PATH=str(find_injection()),
                                    GPUTRACE_VERBOSE="1",
                                    GPUTRACE_OUTPUT=f"{self.folder}/{pattern}"))
                pid = json.loads(done.stdout.splitlines()[-1]).get("pid")
                if name == "":
                    self.assertIn("the environment has no NOT_SET", done.stderr)
                else:
                    self.assertEqual(self.launches(name or f"p{pid}.gputrace"), 2)
