#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/rollout do on this machine what they would do on a node: rollout.py BUILD [CLASS...]

The programs run on the fakes. No Slurm, no cluster and no Docker is needed, and none is tried here.
"""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
RECIPES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "rollout"
PROGRAM = [BUILD / "fakes" / "bin" / "app_work", "--launches", "10"]


def version():
    return re.search(r"CMAKE_PROJECT_VERSION:STATIC=(\S+)", (BUILD / "CMakeCache.txt").read_text())[1]


class Case(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.top = pathlib.Path(top.name)

    @staticmethod
    def environment(**variables):
        """That of a task without gputrace."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("GPUTRACE_", "SLURM", "RECORD_GPU", "CUDA_INJECTION", "NVTX_INJECTION"))}
        return kept | {"LD_LIBRARY_PATH": str(BUILD / "fakes")} | variables

    def run_program(self, environment):
        done = subprocess.run(PROGRAM, env=environment, cwd=self.top, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def recordings(self):
        return sorted(path.name for path in self.top.glob("*.gputrace"))

    def calls(self, recording):
        """How many kernels ran by the recording, which must be whole, and the processes that launched them."""
        done = subprocess.run([BUILD / "bin" / "gputrace", "report", "--json", self.top / recording], capture_output=True,
                              text=True, check=True)
        said = json.loads(done.stdout)["recording"][0]
        self.assertEqual(said["ledger"], "complete")
        return said["kernels"], said["processes"]


class TaskProlog(Case):
    def prolog(self, prefix=BUILD):
        """The script as a site edits it."""
        text = (RECIPES / "slurm-task-prolog.sh").read_text()
        for name, value in (("prefix", prefix), ("folder", self.top)):
            text, count = re.subn(rf"^{name}=\S+", f"{name}={value}", text, flags=re.MULTILINE)
            self.assertEqual(count, 1, name)
        path = self.top / "prolog.sh"
        path.write_text(text)
        return path

    def begin(self, prefix=BUILD, **variables):
        """As Slurm: the environment of the task, and what it prints before."""
        task = self.environment(SLURM_JOB_ID="17", SLURM_LOCALID="0", SLURMD_NODENAME="node7", **variables)
        done = subprocess.run(["sh", self.prolog(prefix)], env=task, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        printed = []
        for line in done.stdout.splitlines():
            word, rest = line.split(" ", 1)
            self.assertIn(word, ("export", "print"))
            if word == "export":
                name, value = rest.split("=", 1)
                task[name] = value
            else:
                printed.append(rest)
        return task, printed

    def recording(self):
        return f"job-17-{os.uname().nodename}.gputrace"

    def test_records_all_tasks_of_a_node_in_one_recording(self):
        for local in ("0", "1"):
            task, printed = self.begin(RECORD_GPU="all")
            self.assertEqual(printed, [])
            self.run_program(task | {"SLURM_LOCALID": local})
        self.assertEqual(self.recordings(), [self.recording()])
        self.assertEqual(self.calls(self.recording()), (20, 2))

    def test_records_the_first_task_of_a_node(self):
        for local in ("0", "1"):
            task = self.environment(SLURM_JOB_ID="17", SLURM_LOCALID=local, RECORD_GPU="node")
            said = subprocess.run(["sh", self.prolog()], env=task, capture_output=True, text=True, check=True).stdout
            self.assertEqual("CUDA_INJECTION64_PATH" in said, local == "0", said)

    def test_records_nothing_where_nobody_asks(self):
        task, printed = self.begin()
        self.assertEqual((task, printed), (self.environment(SLURM_JOB_ID="17", SLURM_LOCALID="0", SLURMD_NODENAME="node7"), []))
        self.run_program(task)
        self.assertEqual(self.recordings(), [])

    def test_can_be_switched_off_by_a_setting(self):
        task, _ = self.begin(RECORD_GPU="all", GPUTRACE_DISABLE="1")
        self.run_program(task)
        self.assertEqual(self.recordings(), [])

    def test_leaves_the_name_to_who_gave_one(self):
        task, _ = self.begin(RECORD_GPU="all", GPUTRACE_OUTPUT=f"{self.top}/rank-%q{{SLURM_LOCALID}}")
        self.run_program(task)
        self.assertEqual(len(list(self.top.glob("rank-0*/*.capture"))), 1)

    def test_says_why_it_does_not_record(self):
        task, printed = self.begin(RECORD_GPU="yes")
        self.assertEqual(printed, ["gputrace: not recorded, RECORD_GPU is yes and neither all nor node"])
        self.assertNotIn("CUDA_INJECTION64_PATH", task)
        task, printed = self.begin(prefix=self.top, RECORD_GPU="all")
        self.assertEqual(printed, [f"gputrace: not recorded, node7 has no {self.top}/lib/libgputrace-injection.so"])
        self.assertNotIn("CUDA_INJECTION64_PATH", task)


@unittest.skipUnless(yaml, "Python has no yaml")
class Manifest(Case):
    def setUp(self):
        super().setUp()
        job = yaml.safe_load((RECIPES / "kubernetes.yaml").read_text())
        self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
        self.pod = job["spec"]["template"]["spec"]
        [self.carrier], [self.program] = self.pod["initContainers"], self.pod["containers"]

    def places(self, container):
        """Folders of the container on this machine: its volumes, and the image's tree."""
        volumes = {volume["name"] for volume in self.pod["volumes"]}
        places = {"/opt/gputrace": self.top / "image"}
        for mount in container["volumeMounts"]:
            self.assertIn(mount["name"], volumes)
            places[mount["mountPath"]] = self.top / mount["name"]
        return places

    @staticmethod
    def here(text, places):
        for inside, outside in places.items():
            text = re.sub(rf"^{inside}(?=/|$)", str(outside), text)
        return text

    def test_records_by_environment_alone(self):
        for volume in self.pod["volumes"]:
            (self.top / volume["name"]).mkdir()
        for name in ("bin/gputrace", "lib/libgputrace-injection.so"):
            path = self.top / "image" / name
            path.parent.mkdir(parents=True)
            shutil.copy(BUILD / name, path)
        places = self.places(self.carrier)
        subprocess.run([self.here(word, places) for word in self.carrier["command"]], check=True)

        places = self.places(self.program)
        task = self.environment()
        for variable in self.program["env"]:
            # Kubernetes has the pod's name for the one that has no value of its own.
            self.assertTrue("value" in variable or variable["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name")
            task[variable["name"]] = self.here(variable.get("value", "train-0-x7k2p"), places)
        for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
            self.assertTrue(task[name].startswith(f"{self.top}/gputrace/"))
        self.run_program(task)
        self.assertEqual(self.calls("recordings/train-0-x7k2p.gputrace"), (10, 1))

    def test_has_the_image_of_the_recipe(self):
        text = (RECIPES / "Dockerfile").read_text()
        config = (BUILD / "CPackConfig.cmake").read_text()
        tarball = re.search(r'CPACK_PACKAGE_FILE_NAME "([^"]+)"', config)[1] + ".tar.gz"
        self.assertTrue(fnmatch.fnmatchcase(tarball, re.search(r"^ADD (\S+) /$", text, re.MULTILINE)[1]), tarball)
        tree = re.search(r"^COPY --from=\w+ /gputrace-\*/ (\S+)/$", text, re.MULTILINE)[1]
        self.assertEqual([word.startswith(f"{tree}/") for word in self.carrier["command"][2:-1]], [True, True])
        self.assertEqual(self.carrier["image"], f"gputrace:{version()}")


class Page(Case):
    def test_names_packages_of_this_version(self):
        named = re.findall(r"gputrace[-_:](\d+\.\d+\.\d+)", (RECIPES / "README.md").read_text())
        self.assertGreaterEqual(len(named), 4)
        self.assertEqual(set(named), {version()})


unittest.main()
