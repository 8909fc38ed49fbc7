#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what gputrace run --pytorch brings into programs in Python, with a stub of torch beside this file.

    tests/python/check_pytorch.py GPUTRACE [GROUP...]    groups: Bringing Modules Operations Recorded Run
"""
import json
import subprocess
import sys
import unittest

from case import FAKES, GPUTRACE, HERE, NEW, PYTHONS, Case


class Bringing(Case):
    """The program finds its Python as it would without us."""

    LOOK = ("import sys\n"
            "print([entry for entry in sys.path if 'python.zip' in entry], 'sitecustomize' in sys.modules)\n"
            "print([finder for finder in sys.meta_path if type(finder).__module__.startswith('gputrace')])\n")

    def test_leaves_nothing_behind_where_there_is_no_sitecustomize(self):
        for python, number in PYTHONS.items():
            with self.subTest(number):
                plain = self.python("-c", self.LOOK, python=python, brought=False)
                done = self.python("-c", self.LOOK, python=python, words="")
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (plain.returncode, plain.stdout, plain.stderr))

    def test_gives_way_to_the_program_s_own(self):
        self.write("own/sitecustomize.py", "import sys\nsys.own = __name__, __file__\nVALUE = 7\n")
        ask = "import sys, sitecustomize; print('%s %s %s' % (sys.own[0], sitecustomize.VALUE, sitecustomize.__file__))"
        for python, number in PYTHONS.items():
            with self.subTest(number):
                plain = self.python("-c", ask, python=python, path=["nowhere", "own"], brought=False)
                done = self.python("-c", ask, python=python, path=["nowhere", "own"])
                self.assertIn("sitecustomize 7", done.stdout)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (plain.returncode, plain.stdout, plain.stderr))

    def test_leaves_the_faults_of_the_program_s_own_to_it(self):
        for text in ("raise ValueError('mine')", "import not_there", "1 +"):
            self.write("own/sitecustomize.py", text + "\n")
            for python, number in PYTHONS.items():
                with self.subTest(number, text=text):
                    plain = self.python("-c", "print(1)", python=python, path=["own"], brought=False)
                    done = self.python("-c", "print(1)", python=python, path=["own"])
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (plain.returncode, plain.stdout, plain.stderr))

    def test_leaves_usercustomize_alone(self):
        self.write("own/usercustomize.py", "print('user')\n")
        plain = self.python("-c", "print(1)", path=["own"], brought=False)
        self.assertEqual(self.python("-c", "print(1)", path=["own"]).stdout, plain.stdout)

    def test_does_nothing_without_site_or_in_an_isolated_python(self):
        for flag in ("-S", "-I", "-E"):
            with self.subTest(flag):
                done = self.python(flag, "-c", "import sys; print('gputrace_pytorch' in sys.modules)")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))

    def test_reaches_a_virtual_environment_and_the_program_s_children(self):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        self.stub("-c", "import subprocess, sys\n"
                        f"subprocess.run([sys.executable, {str(HERE / 'model.py')!r}], check=True)\n",
                  python=self.folder / "venv" / "bin" / "python")
        self.assertIn("nn.Module: first.proj", self.texts("push"))

    def test_tells_of_no_torch_where_there_is_none(self):
        for python in NEW:
            done = self.python("-c", "import importlib.util as u\nprint(u.find_spec('torch'))\nimport torch", python=python)
            self.assertEqual((done.returncode, done.stdout), (1, "None\n"))
            self.assertIn("No module named 'torch'", done.stderr)
            self.assertNotIn("gputrace", done.stderr)

    def test_sees_torch_when_it_is_imported_and_no_sooner(self):
        self.write("main.py", "import importlib.util\nspec = importlib.util.find_spec('torch')\n"
                              "import sys\nassert 'torch' not in sys.modules\nimport torch\n"
                              "assert 'exec_module' not in vars(torch.__spec__.loader)\n"
                              "assert torch.__loader__ is torch.__spec__.loader\n" + self.LOOK)
        for python in NEW:
            self.assertTrue(self.stub("main.py", python=python).endswith("[]\n"))
            self.assertEqual(len(self.notes()), 1)
            self.assertIn("PyTorch 2.11.0+cu130 in Python 3.", self.notes()[0])
            self.assertIn("modules and optimizers have ranges", self.notes()[0])
            next(self.folder.glob("*.notes")).unlink()

    def test_leaves_a_torch_that_fails_to_the_program(self):
        done = self.python("-c", "import torch", path=[HERE], STUB_VERSION="fails")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: libcudart.so.13", done.stderr)
        self.assertEqual(self.notes(), [])


class Modules(Case):
    def run_model(self, **how):
        self.assertEqual(self.stub(HERE / "model.py", **how), "trained\n")

    def test_have_ranges_with_their_paths_forward(self):
        for python in NEW:
            self.run_model(python=python)
            forward = [event[1:] for event in self.events("MainThread") if event[1] != "op"]
            names = ["Net", "first", "first.proj", "second", "second.proj"]
            self.assertEqual([text for what, text in forward if what == "push"],
                             (["nn.Module: " + name for name in names] + ["Optimizer: AdamW.step"]) * 2)
            self.assertEqual(len([text for what, text in forward if what == "pop"]), 12)
            self.assertNotIn(["pop", "NOTHING"], forward)

    def test_own_each_node_of_backward_that_their_calls_made(self):
        """Each of the calls' own operations, those around calls of others among them."""
        self.run_model()
        owner, owners = None, []
        for what, text in (event[1:] for event in self.events("device")):
            if what == "start":
                owner = text
            elif what == "end":
                self.assertEqual(owner, text)
                owner = None
            else:
                owners.append((text, owner))
        layer = "nn.Module: {} backward"
        one = [("lossBackward", None)]
        for name in ("second", "first"):
            linear = layer.format(name + ".proj")
            one += [("addBackward", layer.format(name)), ("addmmBackward", linear), ("tBackward", linear),
                    ("weightBackward", linear), ("normBackward", layer.format(name))]
            if name == "second":
                one += [("geluBackward", layer.format("Net"))]
        self.assertEqual(owners, (one + [("inputBackward", layer.format("first"))]) * 2)

    def test_are_closed_when_a_call_or_a_backward_pass_fails(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import torch, model\n"
                   "class Bad(model.Layer):\n"
                   "    def forward(self, x):\n        self.proj(x); raise ValueError('mine')\n"
                   "class Stop(model.Layer):\n"
                   "    def forward(self, x):\n        raise KeyboardInterrupt\n"
                   "for kind in Bad, Stop:\n"
                   "    net = model.Net(); net.second = kind()\n"
                   "    try:\n        model.step(net, torch.optim.AdamW())\n"
                   "    except (ValueError, KeyboardInterrupt) as error:\n        print(type(error).__name__)\n"
                   "out = model.Net()(torch.Tensor(model.AccumulateGrad('input')))['hidden']\n"
                   "def fail(gradients):\n    raise ValueError('backward')\n"
                   "out.grad_fn.next_functions[0][0].register_prehook(fail)\n"
                   "try:\n    out.backward()\nexcept ValueError as error:\n    print(error)\n")
        self.assertEqual(self.stub("main.py"), "ValueError\nKeyboardInterrupt\nbackward\n")
        self.assertEqual(self.texts("pop", "MainThread").count("NOTHING"), 0)
        depth = 0
        for _, what, text in self.events("MainThread"):
            depth += {"push": 1, "pop": -1}.get(what, 0)
        # What KeyboardInterrupt left open is found by nobody as long as no call around it returns.
        self.assertLessEqual(depth, 2)

    def test_are_named_as_their_wrappers_hide(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import torch, model\n"
                   "class DistributedDataParallel(torch.nn.Module):\n"
                   "    def __init__(self, module):\n        super().__init__(); self.module = module\n"
                   "    def forward(self, x):\n        return self.module(x)\n"
                   "class OptimizedModule(torch.nn.Module):\n"
                   "    def __init__(self, module):\n        super().__init__(); self._orig_mod = module\n"
                   "    def forward(self, x):\n        return self._orig_mod(x)\n"
                   "DistributedDataParallel(OptimizedModule(model.Net()))(torch.Tensor())\n"
                   "model.Layer()(torch.Tensor())\n")
        self.stub("main.py")
        name = "DistributedDataParallel"
        self.assertEqual(self.texts("push"), ["nn.Module: " + text for text in
                         (name, name, name, "first", "first.proj", "second", "second.proj", "Layer", "Layer.proj")])

    def test_do_nothing_in_what_is_compiled(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import torch, model\ntorch.compiler.compiling = True\n"
                   "model.step(model.Net(), torch.optim.AdamW())\n")
        self.stub("main.py")
        self.assertEqual(self.texts("push") + self.texts("start"), [])

    def test_are_no_hooks_that_torch_warns_of(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import torch\nfrom torch.nn.modules import module\n"
                   "print(len(module._global_forward_hooks), bool(module._has_any_global_hook()))\n"
                   "module.register_module_forward_pre_hook(lambda module, inputs: None)\n"
                   "print(bool(module._has_any_global_hook()))\n")
        self.assertEqual(self.stub("main.py"), "1 False\nTrue\n")

    def test_are_code_that_torch_compile_leaves_alone_but_for_the_hooks(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import torch\n"
                   "own = sys.modules['gputrace_pytorch']\n"
                   "hidden = lambda function: function.__code__.co_filename.startswith('<frozen importlib')\n"
                   "print([hidden(kind) for kind in (own.Modules.entered, own.Modules.left, own.Paths.put,\n"
                   "                                 own.Notes.add, own.Operations.on)])\n"
                   "print([hidden(kind) for kind in (own.before_forward, own.after_forward, own.before_step,\n"
                   "                                 own.after_step, own.Region.__call__)])\n")
        self.assertEqual(self.stub("main.py"), f"{[True] * 5}\n{[False] * 5}\n")

    def test_let_the_program_go_on_when_nvtx_fails(self):
        self.run_model(STUB_FAIL="push")
        self.assertEqual(sorted(note.split(":")[0] for note in self.notes()),
                         ["PyTorch 2.11.0+cu130 in Python 3.%d" % sys.version_info[1], "PyTorch's modules",
                          "PyTorch's optimizers"])
        self.assertIn("RuntimeError: no NVTX today", "".join(self.notes()))

    def test_of_a_torch_without_cuda_are_missing_and_noted(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import gputrace_pytorch, torch\n"
                   "sys.path.insert(1, '.')\nimport model\nmodel.step(model.Net(), torch.optim.AdamW())\n")
        self.write("torch_of_cpu/torch/__init__.py", "__version__ = '2.11.0+cpu'\nclass _C:\n    pass\n")
        done = self.python("-c", "import torch; print(torch.__version__)", path=["torch_of_cpu"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "2.11.0+cpu\n", ""))
        self.assertEqual(len(self.notes()), 1)
        self.assertIn("ranges are missing: AttributeError", self.notes()[0])

    def test_of_another_version_are_tried_and_noted(self):
        for number in ("1.13.1", "3.0.0a0+git1", "strange"):
            self.run_model(STUB_VERSION=number)
            self.assertIn("nn.Module: first.proj", self.texts("push"))
        self.assertEqual(len([note for note in self.notes() if "is not among the versions" in note]), 3)


class Operations(Case):
    def test_are_torch_s_own_ranges_on_all_threads(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import threading, torch\n"
                   "thread = threading.Thread(target=torch.operation, args=('mm',), name='other')\n"
                   "thread.start(); thread.join()\n")
        for words, shapes in (("ops", False), ("shapes", True), ("ops,shapes", True)):
            for python in NEW:
                self.stub("main.py", words=words, python=python)
                self.assertEqual([event for event in self.events() if event[0] != "MainThread"],
                                 [["at its edge", "enable", f"NVTX {shapes}"], ["other", "op", "mm"],
                                  ["at its edge", "disable", "NVTX"]])
                self.assertEqual(self.texts("enable", "MainThread"), [f"NVTX {shapes}"])
                self.assertEqual(self.texts("push"), [])

    def test_are_off_while_the_program_uses_a_profiler_of_its_own(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import torch\n"
                   "with torch.autograd.profiler.profile():\n    torch.operation('mm')\n")
        self.stub("main.py", words="ops")
        # At the end, ours is turned off before the stub writes its log.
        self.assertEqual([event[1:] for event in self.events("MainThread")],
                         [["enable", "NVTX False"], ["disable", "NVTX"], ["enable", "KINETO False"], ["op", "mm"],
                          ["disable", "KINETO"], ["enable", "NVTX False"], ["disable", "NVTX"]])

    def test_and_modules_go_together(self):
        self.assertEqual(self.stub(HERE / "model.py", words="ops,modules"), "trained\n")
        self.assertIn("nn.Module: first.proj", self.texts("push"))
        self.assertIn("operations and modules and optimizers have ranges", self.notes()[0])


@unittest.skipUnless(FAKES.is_dir(), "the fakes are not built")
class Recorded(Case):
    """From the hooks to the report, with a CUDA of our own (tests/fakes)."""

    def test_kernels_belong_to_modules_forward_and_backward(self):
        done = subprocess.run([GPUTRACE, "run", "--pytorch", "modules", "--telemetry", "off", "-o", "x", sys.executable,
                               HERE / "model.py"], cwd=self.folder, capture_output=True, text=True, check=False,
                              env=self.clean(LD_LIBRARY_PATH=str(FAKES), FAKE_CUPTI="", STUB_LOG=str(self.log),
                                             STUB_LIBRARY=str(FAKES / "nvtx_torch.so")))
        self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
        info = subprocess.run([GPUTRACE, "info", "x"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertIn("modules and optimizers have ranges", info.stdout)
        said = subprocess.run([GPUTRACE, "report", "x", "ops", "--json"], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        rows = {(row["module"], row["direction"]): row for row in json.loads(said)["nn_modules"]}
        forward = {name: rows[name, "forward"] for name in ("Net", "first", "first.proj", "second.proj")}
        self.assertEqual({name: (row["calls"], row["launches"]) for name, row in forward.items()},
                         {"Net": (2, 2), "first": (2, 4), "first.proj": (2, 4), "second.proj": (2, 4)})
        # Linear: addmm, t and what adds up the weight's gradient; layer: add, norm, and of the first one the input.
        self.assertEqual({name: rows[name, "backward"]["launches"] for name in ("Net", "first", "first.proj", "second")},
                         {"Net": 2, "first": 6, "first.proj": 6, "second": 4})
        self.assertEqual(rows["AdamW.step", None]["launches"], 2)
        inside = sum(row["own_ns"] for (name, direction), row in rows.items() if direction == "backward")
        self.assertEqual(rows["Net", "backward"]["inclusive_ns"], inside)


class Run(Case):
    def gputrace(self, *command, **more):
        return subprocess.run([str(word) for word in (GPUTRACE,) + command], cwd=self.folder, text=True,
                              env=self.clean(**more), capture_output=True, check=False)

    def test_brings_its_file_by_pythonpath_and_keeps_the_program_s(self):
        done = self.gputrace("run", "--pytorch=modules", "-o", "x", "printenv", "PYTHONPATH", "GPUTRACE_PYTORCH")
        self.assertEqual(done.stdout, f"{self.folder.resolve()}/x.gputrace/python.zip\nmodules\n")
        done = self.gputrace("run", "--pytorch=autograd-shapes-nvtx", "printenv", "PYTHONPATH", "GPUTRACE_PYTORCH",
                             PYTHONPATH="a::b")
        self.assertEqual(done.stdout, f"{self.folder.resolve()}/printenv.gputrace/python.zip:a::b\nshapes\n")
        self.assertFalse(list(self.folder.glob("*.gputrace")))

    def test_changes_neither_output_nor_status(self):
        self.write("main.py", f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
                   "import model, torch\nmodel.step(model.Net(), torch.optim.AdamW())\n"
                   "print('out'); print('err', file=sys.stderr); sys.exit(7)\n")
        done = self.gputrace("run", "--pytorch", "ops,modules", sys.executable, "main.py")
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"))
        self.assertTrue(done.stderr.startswith("err\n"), done.stderr)
        self.assertNotIn("--pytorch", done.stderr)

    def test_says_when_no_torch_was_seen(self):
        for command in ([sys.executable, "-c", ""], [sys.executable, "-I", "-c", ""], ["true"]):
            done = self.gputrace("run", "--pytorch", "modules", *command)
            self.assertEqual(done.returncode, 0)
            self.assertIn("--pytorch: no process imported torch", done.stderr)

    def test_refuses_words_that_are_none(self):
        for word in ("layers", "ops,", ",ops", "opsx", "ops,ops,ops,ops,ops,ops,ops,ops,ops,modules"):
            done = self.gputrace("run", "--pytorch", word, "true")
            self.assertEqual(done.returncode, 2, word)
            self.assertIn("--pytorch takes ops, shapes and modules", done.stderr)
        self.assertFalse(list(self.folder.glob("*.gputrace")))

    def test_is_refused_without_ranges(self):
        done = self.gputrace("run", "--pytorch", "ops", "--no-nvtx", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--pytorch and --no-nvtx exclude each other", done.stderr)

    def test_is_refused_where_no_path_can_be_written(self):
        done = self.gputrace("run", "--pytorch", "ops", "-o", "a:b", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a colon", done.stderr)
        self.assertFalse(list(self.folder.glob("*.gputrace")))


if __name__ == "__main__":
    unittest.main()
