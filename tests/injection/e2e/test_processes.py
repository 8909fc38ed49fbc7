# SPDX-License-Identifier: Apache-2.0
"""Children of a program are recorded, and processes that cannot be are named everywhere."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from case import Case
from programs import BUILD, FAKES, GPUTRACE, PATIENCE_S, environment, find_injection, tool
from recordings import Recording


class Processes(Case):
    def test_a_forked_child_is_silent(self):
        for end in ("fork", "fork_cuda"):
            with self.subTest(end):
                run = self.record("--launches", 10, "--end", end)
                self.assertEqual(run.status, 0, run.stderr)
                self.check_ledger(run.recording, 10)
                self.assertEqual(len(run.recording.processes), 1)
                self.check_kernels(run)
                self.assertEqual(run.recording.notes, [])

    def test_each_program_of_an_exec_is_recorded(self):
        run = self.record("--launches", 10, "--copies", 1, "--sleep-ms", 300, "--end", "exec",
                          "--execs", 2)
        self.assertEqual((run.status, len(run.lines)), (0, 3))
        self.check_ledger(run.recording, 30)
        self.assertEqual(len(run.recording.processes), 3)
        self.assertEqual(len({process["capture"] for process in run.recording.processes}), 3)
        self.assertEqual(run.recording.tables["copies"], 9)

    def test_children_of_a_shell_are_recorded(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        app = FAKES / "bin" / "app_work"
        script = f"{app} --launches 3; {app} --launches 4 & {app} --launches 5; wait"
        subprocess.run([GPUTRACE, "run", "-o", f"{folder}/X", "--quiet", "--telemetry", "100ms", "sh", "-c", script],
                       env=environment(), check=True, capture_output=True, timeout=PATIENCE_S)
        recording = Recording(f"{folder}/X.gputrace")
        self.check_ledger(recording, 12)
        self.assertEqual(len(recording.processes), 3)

    def test_forked_workers_that_end_at_once(self):
        """Nothing is told of _exit: times are fetched when the last wait returns."""
        for words in (), ("--driver", "--streams", 3, "--rounds", 3):
            run = self.record("--no-cuda", "--workers", 2, "--launches", 500, *words)
            self.assertEqual((run.status, len(run.recording.processes)), (0, 2), run.stderr)
            self.check_ledger(run.recording, 1000 * (3 if words else 1))

    def test_ranks_of_a_job_share_a_recording(self):
        """Each process says its rank, and a Chrome trace of one of them says it as HTA looks for it."""
        folder = tempfile.mkdtemp(dir=self.folder)
        command = [GPUTRACE, "run", "--join", "-o", f"{folder}/job", "--quiet", FAKES / "bin" / "app_work", "--launches", "3"]
        for rank in range(3):
            extra = {"RANK": str(rank), "WORLD_SIZE": "3", "SLURM_PROCID": "0"} if rank < 2 else {}
            subprocess.run(command, env=environment(**extra), check=True, capture_output=True, timeout=PATIENCE_S)
        job = f"{folder}/job.gputrace"
        processes = Recording(job).processes
        self.assertCountEqual([(row["rank"], row["world_size"]) for row in processes], [(0, 3), (1, 3), (None, None)])
        for row in processes:
            if row["rank"] is None:
                continue
            text = tool("export", job, "--process", row["pid"], "--format", "chrome", "-o", "-")
            self.assertIn(f'"rank": {row["rank"]},', text)
            self.assertEqual(json.loads(text)["distributedInfo"], {"rank": row["rank"], "world_size": 3})
        self.assertNotIn("distributedInfo", tool("export", job, "--format", "chrome", "-o", "-"))

    def test_a_program_without_cuda(self):
        run = self.record("--no-cuda", "--end", "return=7")
        self.assertEqual(run.status, 7)
        self.assertIn("nothing was recorded: no process of", run.stderr)
        self.assertEqual(run.stderr.count("gputrace: "), 1, run.stderr)  # nothing stands in the way

    def test_reasons_why_a_program_was_not_recorded(self):
        run = self.record("--no-cuda", GPUTRACE_CUPTI="/nowhere/libcupti.so")
        self.assertIn("nothing was recorded: no process of", run.stderr)
        self.assertIn("gputrace: /nowhere/libcupti.so cannot be used as libcupti", run.stderr)


class Absentees(Case):
    """Processes that used CUDA and could not be recorded: never without a word."""

    APP = FAKES / "bin" / "app_work"
    REPORTS = ("summary", "kernels", "copies", "api", "gaps", "waits", "streams", "outliers",
               "telemetry")

    def shell(self, script, **keywords):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = subprocess.run([GPUTRACE, "run", "-o", folder / "X", *keywords.pop("options", ()), "--", "sh", "-c", script],
                              env=environment(**keywords), cwd=folder, capture_output=True, text=True,
                              timeout=PATIENCE_S)
        done.recording = folder / "X.gputrace"
        done.last = done.stderr.splitlines()[-1] if done.stderr else ""
        return done

    def as_stranger(self, launches):
        """A command whose process cannot reach the recording's folder."""
        if os.geteuid():
            return (f'chmod 0 "$GPUTRACE_OUTPUT"; {self.APP} --launches {launches};'
                    'chmod 700 "$GPUTRACE_OUTPUT"')
        if any(not parent.stat().st_mode & 1 for parent in find_injection().parents):
            self.skipTest("another user cannot load the injection library from here")
        return f"{self.APP} --launches {launches} --user 65534"

    def check_said_everywhere(self, done, *words):
        info = tool("info", "--wide", done.recording).splitlines()[-1]
        said = [done.last, info]
        for name in self.REPORTS:
            said.append(tool("report", "--wide", done.recording, name).splitlines()[-1])
            remarks = json.loads(tool("report", "--json", done.recording, name))["remarks"]
            said.append(next((remark for remark in remarks if remark.startswith("ledger:")), ""))
        for line in said:
            for word in words:
                self.assertIn(word, line)
            self.assertNotIn("clean", line)

    def test_one_cannot_write_one_is_killed_one_ends_well(self):
        done = self.shell(f"{self.APP} --launches 5; {self.APP} --launches 6 --sleep-ms 400 --end kill;"
                          f"{self.as_stranger(7)}; exit 3")
        self.assertEqual(done.returncode, 3)
        self.check_said_everywhere(done, "11 launches = 11 kernels",
                                   "of 3 processes 1 ended well, 1 died and was salvaged, 1 is missing: "
                                   "app_work (process ", "is not recorded: cannot make the ",
                                   "Permission denied")
        recording = Recording(done.recording)
        self.assertEqual(sorted(process["ended"] for process in recording.processes),
                         ["cleanly", "died; the rest was salvaged", "not recorded"])
        self.assertEqual(recording.ledger["processes_unrecorded"], 1)
        row, = recording.report("summary")["recording"]
        self.assertEqual((row["processes"], row["ledger"]), (3, "incomplete: 1 of 3 processes not recorded"))

    def test_alone_and_quiet(self):
        done = self.shell(self.as_stranger(7), options=("--quiet",))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1))
        self.check_said_everywhere(done, "none, no process kept one; of 1 process 1 is missing: app_work")

    def test_limits(self):
        limits = ["-f 0", "-f 100"] + (["-v 60000"] if "san" not in BUILD.name else [])
        for limit in limits:
            with self.subTest(limit):
                done = self.shell(f"{self.APP} --launches 2; ulimit {limit}; {self.APP} --launches 3")
                self.check_said_everywhere(done, "2 launches = 2 kernels", "of 2 processes 1 ended well, 1 is missing",
                                           "cannot make the arena: ")

    def test_more_than_have_a_place_of_their_own(self):
        done = self.shell(f"ulimit -f 0; for i in $(seq 20); do {self.APP} --launches 1; done")
        recording = Recording(done.recording)
        self.assertEqual(recording.ledger["processes_unrecorded"], 20)
        self.assertIn("of 20 processes 20 are missing", done.last)

    def test_without_run(self):
        folder = pathlib.Path(self.folder, "x.gputrace")
        variables = environment(CUDA_INJECTION64_PATH=str(find_injection()), GPUTRACE_OUTPUT=str(folder))
        subprocess.run(["sh", "-c", f"{self.APP} --launches 2; ulimit -f 4; {self.APP} --launches 3"],
                       env=variables, check=True, capture_output=True, timeout=PATIENCE_S)
        self.assertIn("of 2 processes 1 ended well, 1 is missing", tool("info", "--wide", folder).splitlines()[-1])

    def test_a_child_of_a_fork_that_uses_cuda(self):
        self.check_child("fork_work")

    def test_a_child_of_the_system_call_clone(self):
        """No handler of fork runs in it, and it has neither an arena nor CUPTI's buffers."""
        self.check_child("clone_work")

    def check_child(self, end):
        for words in ((), ("--driver",)):
            run = self.record("--launches", 10, *words, "--end", end, script="fork_works=1")
            self.assertEqual((run.status, len(run.recording.processes)), (0, 2))
            self.check_ledger(run.recording, 10, launches_unrecorded=10, processes_unrecorded=1)
            self.check_kernels(run)
            self.assertIn("10 launches after the exit had begun or in a fork's child", run.stderr)
            self.assertIn("it was forked from process", run.stderr.splitlines()[-1])

    def test_a_child_of_a_fork_in_which_cuda_does_not_work(self):
        run = self.record("--launches", 10, "--end", "fork_cuda")
        self.assertIn("clean", run.stderr.splitlines()[-1])
        self.assertNotIn("processes_unrecorded", run.recording.ledger)

    def test_a_process_whose_environment_was_emptied(self):
        for words, missing in (("env -i", 1), ("env -i CUDA_INJECTION64_PATH=/nowhere", 0)):
            # The leak checker's helper is a process of its own, which a busy machine keeps long enough to be seen.
            done = self.shell(f'{self.APP} --launches 2; {words} ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH="$LD_LIBRARY_PATH" '
                              f"{self.APP} --launches 3 --sleep-ms 900; true")
            self.assertEqual(done.returncode, 0, done.stderr)
            recording = Recording(done.recording)
            self.assertEqual(recording.ledger.get("processes_unrecorded", 0), missing, done.stderr)
            if missing:
                self.check_said_everywhere(done, "of 2 processes 1 ended well, 1 is missing: app_work (process ",
                                           "is not recorded: its environment does not name gputrace's library")

    def test_who_has_not_the_token_is_not_believed(self):
        """Everybody sees the address; the token is in the environment of the run's own processes."""
        said = r"""
import os, socket
address, token = os.environ["GPUTRACE_RUN"].split(":")
for word in token, "0" * 16:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect("\0" + address)
        peer.send(int(word, 16).to_bytes(8, "little") + bytes(32) + b"me".ljust(48, b"\0") + word.encode().ljust(144, b"\0"))
"""
        done = self.shell(f"{self.APP} --launches 2; {sys.executable} -c '{said}'")
        recording = Recording(done.recording)
        self.assertEqual(recording.ledger["processes_unrecorded"], 1)
        self.assertEqual(len([note for note in recording.notes if note.startswith("me (process ")]), 1)

    def test_a_program_with_more_rights_than_its_user(self):
        """It makes no file and loads no library that the environment names."""
        if "san" in BUILD.name:
            self.skipTest("a library with a sanitizer needs a program with one")
        if os.geteuid():
            self.skipTest("only root can make a program that runs as another user")
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for parent in (folder, *folder.parents):
            if not parent.stat().st_mode & 1:
                parent.chmod(parent.stat().st_mode | 0o711)
        library, program, output = (folder / name for name in ("injection.so", "program", "output"))
        shutil.copy(find_injection(), library)
        shutil.copy(FAKES / "bin" / "app_privileged", program)
        output.mkdir(mode=0o777)
        output.chmod(0o777)
        library.chmod(0o755)
        for mode, recordings in ((0o755, 1), (0o4755, 0)):
            os.chown(program, 65534, 65534)
            program.chmod(mode)
            done = subprocess.run([program, library], cwd=output, check=True, capture_output=True, text=True,
                                  env=environment(GPUTRACE_OUTPUT=str(output / f"{mode:o}.gputrace"), GPUTRACE_VERBOSE="1"))
            facts = json.loads(done.stdout)
            if mode & 0o4000 and not facts["privileged"]:
                self.skipTest("this file system has no programs that run as another user")
            self.assertEqual((facts["privileged"], facts["initialized"]), (int(mode == 0o4755), 1))
            self.assertEqual(len(list(output.glob(f"{mode:o}.gputrace/*.capture"))), recordings, done.stderr)
        self.assertEqual([path.name for path in output.iterdir()], ["755.gputrace"])

    def test_a_summary_without_memory_leaves_the_status_alone(self):
        """The program has all the memory it wants; what reads its recording has not."""
        if "san" in BUILD.name:
            self.skipTest("a sanitizer needs its memory")
        said = 0
        for limit in (12000, 16000, 20000):
            script = f"ulimit -S -v unlimited; {self.APP} --launches 100000 --end exit=7"
            done = subprocess.run(["sh", "-c", f'ulimit -S -v {limit}; exec "$@"', "sh", GPUTRACE, "run", "-o",
                                   f"{self.folder}/{limit}", "--", "sh", "-c", script],
                                  env=environment(), capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 7, done.stderr)
            said += "could not be finished" in done.stderr and "out of memory" in done.stderr
        self.assertGreater(said, 0)
