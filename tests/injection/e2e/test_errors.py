# SPDX-License-Identifier: Apache-2.0
"""Calls fail: gputrace names the first of them, the work that was in flight, and what the kernel log says of it."""
import pathlib
import subprocess
import tempfile

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, environment
from recordings import Recording

ILLEGAL_ADDRESS = "cuCtxSynchronize:1:700+"
WORK = FAKES / "bin" / "app_work"
XID = "NVRM: Xid (PCI:0000:00:06): 31, pid=%s, name=app_work, channel 0x0000000a, intr 00000000. MMU Fault"


class Errors(Case):
    def errors(self, run):
        return run.recording.report("errors")

    def shell(self, text, **extra):
        """A recording of a shell script, and what gputrace run said; the script finds the kernel log as $1."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        log = folder / "kmsg"
        log.write_text("4,1,1000000,-;" + XID % 1 + "\n")
        done = subprocess.run([GPUTRACE, "run", "-o", folder / "X", "--", "/bin/sh", "-c", text, "sh", log], cwd=folder,
                              env=environment("open=3", GPUTRACE_KERNEL_LOG=str(log), WORK=str(WORK), **extra),
                              capture_output=True, text=True, timeout=PATIENCE_S)
        return Recording(folder / "X.gputrace"), done

    def test_a_call_that_asks_for_nonsense(self):
        run = self.record("--launches", 3, "--errors", 2, script="open=3")
        said = self.errors(run)
        self.assertEqual([(row["first"], row["class"], row["function"], row["calls"]) for row in said["errors"]],
                         [("first", "configuration", "cudaFree", 2)])
        self.assertEqual(said["errors"][0]["result"], "cudaErrorInvalidValue")
        self.assertEqual(said["in_flight"], [])
        self.assertIn("The first CUDA call that failed: cudaFree of app_work", run.stderr)

    def test_an_error_of_a_kernel(self):
        """Every call fails from the first wait on. Three kernels of two streams have no end."""
        run = self.record("--launches", 5, "--streams", 2, script="open=3,kernel_ns=1000", FAKE_CUDA_FAIL=ILLEGAL_ADDRESS)
        self.assertNotEqual(run.status, 0)
        said = self.errors(run)
        first = said["errors"][0]
        self.assertEqual((first["first"], first["result"], first["class"], first["function"]),
                         ("first", "cudaErrorIllegalAddress", "asynchronous, sticky", "cudaDeviceSynchronize"))
        open_ones = [row for row in said["in_flight"] if row["state"] != "ended"]
        self.assertEqual([row["state"] for row in open_ones],
                         ["first without an end", "first without an end", "behind other work"])
        self.assertEqual(len({row["stream"] for row in open_ones[:2]}), 2)
        self.assertEqual({row["operation"] for row in open_ones}, {"work_0"})
        self.assertEqual([row["state"] for row in said["in_flight"][3:]], ["ended", "ended"])
        lines = run.stderr.splitlines()
        call = next(i for i, line in enumerate(lines) if "The first CUDA call that failed: cudaDeviceSynchronize" in line)
        self.assertTrue(any("In flight then, without an end: work_0 on stream" in line for line in lines[call:]))
        self.assertIn("ledger:", lines[-1])

    def test_no_errors(self):
        run = self.record("--launches", 3)
        said = self.errors(run)
        self.assertEqual((said["errors"], said["in_flight"]), ([], []))
        self.assertEqual(said["remarks"], ["No CUDA call that was recorded returned an error."])
        self.assertNotIn("failed", run.stderr)

    def test_one_of_two_processes(self):
        recording, _ = self.shell('"$WORK" --launches 4 >&2; FAKE_CUDA_FAIL=$HOW "$WORK" --launches 5 >&2', HOW=ILLEGAL_ADDRESS)
        said = recording.report("errors")
        self.assertEqual(len(recording.processes), 2)
        self.assertEqual(len({row["process"] for row in said["errors"]}), 1)
        self.assertEqual(sum(row["state"] != "ended" for row in said["in_flight"]), 3)
        self.assertIn("has no Xid message of the time of the run", " ".join(said["remarks"]))

    def test_an_xid_of_the_time_of_the_run(self):
        script = ('echo "seen: $GPUTRACE_KERNEL_LOG" >&2; FAKE_CUDA_FAIL=$HOW "$WORK" --launches 5 >&2 & pid=$!; wait $pid; '
                  'echo "6,2,2000000,-;NVRM: loading" >>"$1"; '
                  f'echo "4,3,31639714,-;{XID % "$pid"}" >>"$1"; echo " SUBSYSTEM=pci" >>"$1"')
        recording, done = self.shell(script, HOW=ILLEGAL_ADDRESS)
        said = recording.report("errors")
        self.assertEqual(said["errors"][0]["xid"], "31")
        self.assertEqual([(row["xid"], row["process"]) for row in said["xids"]], [(31, said["errors"][0]["process"])])
        self.assertTrue(said["xids"][0]["message"].startswith("[   31.639714] NVRM: Xid (PCI:0000:00:06): 31, pid="))
        self.assertIn("The kernel log has Xid 31 of it:", done.stderr)
        self.assertIn("seen: \n", done.stderr)

    def test_a_kernel_log_that_is_not_readable(self):
        run = self.record("--launches", 3, "--errors", 1, GPUTRACE_KERNEL_LOG="/nowhere/kmsg")
        remarks = " ".join(self.errors(run)["remarks"])
        self.assertIn("The kernel log is not readable: No such file or directory.", remarks)

    def test_two_runs_that_share_a_recording(self):
        """The outer one and the inner one see the message: it is one."""
        log = pathlib.Path(self.folder, "kmsg")
        log.touch()
        line = f"4,3,31639714,-;{XID % 1}"
        inner = f"{WORK} --launches 3 && echo '{line}' >>{log}"
        outer = f'{WORK} --launches 3 && GPUTRACE_KERNEL_LOG={log} {GPUTRACE} run -q --join -o X -- /bin/sh -c "{inner}"'
        subprocess.run([GPUTRACE, "run", "-q", "--join", "-o", "X", "--", "/bin/sh", "-c", outer], cwd=self.folder,
                       check=True, stdout=subprocess.DEVNULL, env=environment(GPUTRACE_KERNEL_LOG=str(log)), timeout=PATIENCE_S)
        written = next(pathlib.Path(self.folder, "X.gputrace").glob("*.kernel-log")).read_text(encoding="utf-8")
        self.assertEqual((written.count("was read"), written.count("NVRM: Xid")), (2, 2))
        self.assertEqual(len(Recording(pathlib.Path(self.folder, "X.gputrace")).report("errors")["xids"]), 1)
