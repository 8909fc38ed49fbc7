# SPDX-License-Identifier: Apache-2.0
"""Modules are recorded as they are loaded, and kept where that is asked for.

Covers SOURCE(modules).
"""
import json
import pathlib
import signal
import subprocess
import tempfile

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, SECOND, SOURCE, environment, tool
from recordings import Recording


class Modules(Case):
    """Modules as they are loaded, with a cubin of nvcc's, and what is kept of them."""

    CUBIN = SOURCE / "tests" / "cubins" / "sample_90.cubin"
    SMALL = SOURCE / "tests" / "cubins" / "sample_75.cubin"

    # With compilations, whether these are recorded by themselves or not.
    KINDS = "kernel,memcpy,memcpy2,memset,overhead,device,context,stream,jit"

    def modules(self, *words, **keywords):
        run = self.record(*words, program="app_modules", **{"GPUTRACE_KINDS": self.KINDS, **keywords})
        self.assertEqual(run.status, 0, run.stderr)
        return run, run.recording.report("modules")

    def kept(self, run):
        return sorted(run.stem.with_suffix(".gputrace").glob("modules/*"))

    def test_each_loading_with_what_ran_of_it(self):
        run, report = self.modules("--cubin", self.CUBIN, "--times", 3, "--launches", 4,
                                   script="load_ns=2000000")
        rows = report["modules"]
        self.assertEqual(len(rows), run.facts["loaded"])
        self.assertEqual(sum(row["kernels"] for row in rows), run.facts["launches"])
        for row in rows:
            self.assertEqual(row["size_bytes"], self.CUBIN.stat().st_size)
            self.assertEqual((row["arch"], row["functions"], row["functions_used"]), ("sm_90", 4, 2))
            self.assertEqual(row["call"], "cuModuleLoadData")
            self.assertEqual(row["hash"], rows[0]["hash"])
            self.assertEqual(row["jit_ns"], 0)
            self.assertGreaterEqual(row["load_ns"], 2000000)
            self.assertLess(row["load_ns"], PATIENCE_S * SECOND)
            self.assertGreater(row["unloaded_ns"], row["loaded_ns"])
        self.assertEqual(report["processes"][0]["different"], 1)
        loading = {row["call"]: row for row in report["calls"]}["cuModuleLoadData"]
        self.assertEqual(loading["modules"], 3)
        functions = {row["full_name"]: row for row in report["functions"]}
        self.assertEqual({name: row["kernels"] for name, row in functions.items()},
                         {"_Z5scaleIfEvPT_S0_i": 12, "plain": 12})
        self.assertIsNone(functions["plain"]["source"])
        self.assertIsNone(functions["plain"]["constant_bytes"])
        self.assertEqual(self.kept(run), [])
        self.assertEqual(run.recording.ledger["modules_not_kept"], 0)

    def test_lazy_loading_is_paid_for_by_the_first_launch(self):
        run, report = self.modules("--cubin", self.CUBIN, "--times", 2,
                                   script="lazy=1,load_ns=3000000")
        self.assertEqual({row["call"] for row in report["modules"]}, {"cuLaunchKernel"})
        # Two loadings, and each time two functions, of which the first brings the module along.
        waited = {row["call"]: row for row in report["calls"]}["cuLaunchKernel"]
        self.assertEqual((waited["calls"], waited["modules"]), (4, 2))
        self.assertLess(0, waited["functions_ns"])
        self.assertGreaterEqual(waited["load_ns"], 6000000)
        for row in report["modules"]:
            self.assertGreaterEqual(row["load_ns"], 3000000)
            self.assertEqual(row["kernels"], run.facts["launches"] / 2)

    def test_ptx_says_how_long_compiling_it_took(self):
        _, report = self.modules(script="jit_ns=5000000", FAKE_JIT_CUBIN=str(self.CUBIN))
        self.assertEqual(len(report["modules"]), 1)
        row = report["modules"][0]
        self.assertGreaterEqual(row["jit_ns"], 5000000)
        self.assertGreaterEqual(row["load_ns"], row["jit_ns"])
        self.assertEqual([(row["operation"], row["what"], row["count"])
                          for row in report["compilations"]], [("compile", "PTX to cubin", 1)])

    def test_compilations_that_are_not_recorded_are_not_0(self):
        _, report = self.modules("--cubin", self.CUBIN, GPUTRACE_KINDS="kernel,overhead")
        self.assertIsNone(report["modules"][0]["jit_ns"])
        self.assertIsNone(report["processes"][0]["jit_ns"])

    def test_compilations_that_cupti_does_not_record_are_not_0(self):
        run, report = self.modules(script="jit_ns=5000000,enable_fail=jit", FAKE_JIT_CUBIN=str(self.CUBIN))
        self.assertIsNone(report["modules"][0]["jit_ns"])
        self.assertTrue(any("compilations at run time are not recorded" in note
                            for note in run.recording.notes), run.recording.notes)

    def test_kept_once_whoever_loads_it(self):
        run, report = self.modules("--cubin", self.CUBIN, "--times", 3, options=["--keep-modules"])
        name = f"{report['modules'][0]['hash']}.cubin"
        self.assertEqual([path.name for path in self.kept(run)], [name])
        self.assertEqual(self.kept(run)[0].read_bytes(), self.CUBIN.read_bytes())
        self.assertEqual(self.kept(run)[0].stat().st_mode & 0o777, 0o600)
        functions = {row["full_name"]: row for row in report["functions"]}
        self.assertEqual(functions["plain"]["source"], "/src/sample.cu:48")
        self.assertEqual(functions["_Z5scaleIfEvPT_S0_i"]["shared_bytes"], 1024)
        self.assertEqual({row["file"] for row in report["modules"]}, {f"modules/{name}"})
        files = {row["file"]: row["bytes"] for row in
                 json.loads(tool("info", "--json", run.recording.path))["files"]}
        self.assertEqual(files["modules (1 file)"], self.CUBIN.stat().st_size)
        again = subprocess.run([GPUTRACE, "run", "-f", "-o", run.stem, "--", "true"],
                               env=environment(), capture_output=True, text=True,
                               timeout=PATIENCE_S)
        self.assertNotIn("not touched", again.stderr)

    def test_a_killed_process_leaves_what_it_loaded(self):
        run = self.record("--cubin", self.CUBIN, "--times", 2, "--keep", "--die", program="app_modules",
                          options=["--keep-modules"])
        self.assertEqual(run.status, 128 + signal.SIGKILL)
        rows = run.recording.report("modules")["modules"]
        self.assertEqual(len(rows), 2)
        self.assertEqual(len(self.kept(run)), 1)
        for row in rows:
            self.assertEqual((row["functions"], row["call"]), (4, "cuModuleLoadData"))
            self.assertIsNone(row["unloaded_ns"])

    def test_without_api_calls_no_load_time_is_made_up(self):
        _, report = self.modules("--cubin", self.CUBIN, options=["--api", "none"])
        self.assertIsNone(report["modules"][0]["load_ns"])
        self.assertIsNone(report["modules"][0]["call"])
        self.assertIsNone(report["processes"][0]["load_ns"])
        self.assertEqual(report["processes"][0]["not_measured"], 1)

    def test_ranks_of_a_job_keep_it_once(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        for cubin in (self.CUBIN, self.SMALL, self.CUBIN):
            subprocess.run([GPUTRACE, "run", "--join", "--keep-modules", "-o", f"{folder}/X", "--",
                            FAKES / "bin" / "app_modules", "--cubin", cubin], check=True,
                           env=environment(), capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(len(list(pathlib.Path(folder, "X.gputrace").glob("modules/*"))), 2)
        rows = Recording(f"{folder}/X.gputrace").report("modules")["modules"]
        self.assertEqual(sorted(row["arch"] for row in rows), ["sm_75", "sm_90", "sm_90"])
        self.assertTrue(all(row["file"] for row in rows))

    def test_what_is_too_much_is_left_out_and_counted(self):
        run, report = self.modules("--cubin", self.CUBIN, options=["--keep-modules"],
                                   GPUTRACE_KEEP_MODULES="10K")
        self.assertEqual(self.kept(run), [])
        self.assertEqual(run.recording.ledger["modules_not_kept"], 1)
        self.assertTrue(any("they take more than was allowed" in note
                            for note in run.recording.notes), run.recording.notes)
        self.assertEqual(report["modules"][0]["kernels"], run.facts["launches"])
        self.assertIn("1 module that was not kept", run.stderr)

    def test_a_kept_cubin_that_was_changed_is_not_believed(self):
        run, _ = self.modules("--cubin", self.CUBIN, options=["--keep-modules"])
        self.kept(run)[0].write_bytes(self.SMALL.read_bytes())
        recording = Recording(run.recording.path)
        self.assertTrue(any("cannot be read: it is not what was loaded" in note
                            for note in recording.notes), recording.notes)
        self.assertEqual(recording.report("modules")["modules"][0]["functions"], 4)
