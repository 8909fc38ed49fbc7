# SPDX-License-Identifier: Apache-2.0
"""Kernels that finished right before the end have times, in whatever way the program ends without its exit handlers."""
import pathlib
import subprocess
import tempfile
import time

from case import Case
from programs import BUILD, FAKES, GPUTRACE, PATIENCE_S, environment
from recordings import Recording

EXECS = ("execv", "execve", "execvp", "execvpe", "fexecve", "execl", "execlp", "execle", "exec-in-thread")
# Of app_ends: ends that the preloaded library catches, ...
CAUGHT = ("_exit", "_Exit", "quick_exit", "abort", "handler", "vfork", "failed", *EXECS)
# ... and those that nothing catches.
DEATHS = ("term", "kill")
# CUPTI is asked for times by what is tested alone.
ALONE = {"GPUTRACE_FLUSH_INTERVAL": "1h"}


class Last(Case):
    """Each program launches on some threads, and its kernels have finished when it ends."""

    LAUNCHES = 100

    def run_ends(self, way, *words, threads=1, options=None, **extra):
        """(output, messages, status) of the program; recorded unless options is None."""
        self.path = pathlib.Path(tempfile.mkdtemp(dir=self.folder), "X.gputrace")
        before = [] if options is None else [GPUTRACE, "run", "--no-export", "--quiet", "-o", self.path, *options, "--"]
        done = subprocess.run([*before, FAKES / "bin" / "app_ends", str(threads), str(self.LAUNCHES), way, *words],
                              env=environment(**{**ALONE, **extra}), capture_output=True, text=True, timeout=PATIENCE_S,
                              check=False)
        status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        return done.stdout, done.stderr, status

    def check_end(self, way, *words, threads=1, options=(), timed=True, **extra):
        """The program says the same as alone, the ledger is exact, and all kernels have times, or none."""
        with self.subTest(f"{way} {words} {threads} {options}"):
            self.assertEqual(self.run_ends(way, *words, threads=threads, options=options, **extra),
                             self.run_alone(way, *words, threads=threads, **extra))
            launches = threads * self.LAUNCHES
            self.check_ledger(Recording(self.recorded), launches, unfinished=0 if timed else launches)

    def run_alone(self, *words, **keywords):
        self.recorded = self.path
        return self.run_ends(*words, **keywords)


class LastKernels(Last):
    def test_ends_that_are_caught(self):
        for way in CAUGHT:
            self.check_end(way, threads=4 if way in ("_exit", "execl", "abort") else 1)

    def test_ends_that_are_caught_on_many_threads(self):
        for way in ("_Exit", "quick_exit", "exec-in-thread", "vfork"):
            self.check_end(way, threads=4)

    def test_without_the_preload(self):
        """Nothing else is different: the kernels are known by name."""
        for way in ("_exit", "quick_exit", "abort", "execve", "vfork"):
            for threads in 1, 4:
                self.check_end(way, threads=threads, options=("--no-preload",), timed=False)

    def test_deaths_after_a_wait(self):
        """A wait for the GPU has the times fetched, with nobody to catch the end."""
        for way in DEATHS + ("_exit",):
            for threads in 1, 4:
                self.check_end(way, "sync", "linger", threads=threads, options=("--no-preload",))

    def test_deaths_without_a_wait(self):
        for way in DEATHS:
            self.check_end(way, timed=False)
            self.check_end(way, "sync", "linger", timed=False, GPUTRACE_WAIT_FLUSH="off")

    def test_the_child_of_vfork_leaves_its_parents_recording_alone(self):
        """It calls exec with the memory of the parent: a fetch from there would show when the parent is killed."""
        for threads in 1, 4:
            self.check_end("vfork-kill", threads=threads, timed=False)

    def test_forked_workers(self):
        """CUDA starts in the child of a fork, which ends as workers do."""
        for way in "_exit", "execv", "abort":
            for threads in 1, 4:
                self.check_end(way, "fork", threads=threads)
        self.check_end("_exit", "fork", options=("--no-preload",), timed=False)
        self.check_end("kill", "fork", "sync", "linger", threads=4, options=("--no-preload",))

    def test_a_program_that_closes_all_descriptors(self):
        for way in "_exit", "execl":
            self.check_end(way, "close", threads=4)

    def test_a_program_with_a_library_preloaded_by_itself(self):
        """Its library comes behind ours and is called as it is without."""
        own = {"LD_PRELOAD": str(FAKES / "own_ends.so")}
        if "san" in BUILD.name:
            self.skipTest("a sanitizer wants to be first itself")
        for way, said in (("_exit", "own _exit\n"), ("execve", "own execve\n")):
            self.assertIn(said, self.run_ends(way, **own)[0])
            self.check_end(way, **own)

    def test_a_hung_fetch_holds_up_the_end_for_a_fifth_of_a_second(self):
        for way in "_exit", "execv":
            begin = time.monotonic()
            self.run_ends(way, options=("--no-preload",), FAKE_CUPTI="flush_hang=1")
            without_s, begin = time.monotonic() - begin, time.monotonic()
            self.run_ends(way, options=(), FAKE_CUPTI="flush_hang=1")
            held_s = time.monotonic() - begin
            self.assertGreater(held_s, 0.2)
            self.assertLess(held_s - without_s, 1.2)  # a busy machine
            self.check_ledger(Recording(self.path), self.LAUNCHES, unfinished=self.LAUNCHES)
