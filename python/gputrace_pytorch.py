# SPDX-License-Identifier: Apache-2.0
"""Ranges of NVTX for what PyTorch does, in a program that was not written for it.

sitecustomize imports this before the program's first line; nothing happens until the program itself
imports torch, and torch is never imported here. GPUTRACE_PYTORCH says what is then annotated:
words with commas between them.

  ops      torch's own ranges, one for each operation, as torch.autograd.profiler.emit_nvtx makes
           them: "aten::mm, seq = 12, op_id = 34", and those of backward, which have the seq of their
           forward operation
  shapes   the same with the sizes of operands
  modules  "nn.Module: layers.3.mlp" around each call of a module; "nn.Module: layers.3.mlp backward"
           while autograd runs what that call put into its graph; "Optimizer: AdamW.step"

The program must not notice: whatever goes wrong here is swallowed and noted in the recording.
"""
import os
import sys

from gputrace_imports import version_of, when_imported
from gputrace_notes import Notes

# Versions of torch that this was made for; the newest is the last whose sources were read.
OLDEST = (2, 3)
NEWEST = (2, 11)

MODULE = "nn.Module: "
BACKWARD = " backward"
OPTIMIZER = "Optimizer: "

# Names that wrappers of torch put into the path of a module, which say nothing about the model.
WRAPPERS = frozenset(("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"))
PARALLEL = frozenset(("DataParallel", "DistributedDataParallel"))

MOST_TENSORS = 64  # of a module's result that are looked at
TAGGED = "gputrace"  # in the metadata of a node of autograd that has its range

# Code that says it is from a file of this name is left alone by torch.compile, which would look
# into it, find what it cannot compile, and fail where the program wants a whole graph.
SKIPPED = "<frozen importlib gputrace>"


def is_compiling():
    """Replaced by torch's own, which torch.compile knows: in what it compiles hooks do nothing."""
    return False


notes = Notes("PyTorch's ")


class Ranges:
    """The calls of NVTX that torch brings."""

    def __init__(self, torch):
        nvtx = torch._C._nvtx  # not there: torch was built without CUDA
        self.push = nvtx.rangePushA
        self.pop = nvtx.rangePop
        self.start = nvtx.rangeStartA
        self.end = nvtx.rangeEnd


# ---- modules ----


class Region:
    """Nodes that a module put into autograd's graph. As a hook of them it is told before each runs.

    Backward has no call of the module that a range could be pushed around: the range of a region is
    started by the first node of it on a thread and ended by the first of another, or at the end of
    the backward pass; started and ended, not pushed, as nodes have ranges of their own around them.
    """

    __slots__ = ("modules", "text")

    def __init__(self, modules, text):
        self.modules = modules
        self.text = text

    def __call__(self, gradients):
        if is_compiling():
            return None
        return self.modules.node_begins(self)


class Frame:
    """A call of a module that has not returned yet."""

    __slots__ = ("module", "region", "sequence", "outer")

    def __init__(self, module, region, sequence, outer):
        self.module = module  # its id
        self.region = region
        self.sequence = sequence  # of the first node of autograd that it makes
        self.outer = outer  # region that was open, with its range


class Paths:
    """Paths of modules: their names in the module that was called from outside of any."""

    def __init__(self, weakref):
        self.weakref = weakref
        self.known = {}  # by id: a weak reference, and what belongs to it
        self.roots = {}  # by name: how many

    def get(self, module):
        entry = self.known.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def put(self, module, what):
        number = id(module)

        def gone(reference):
            entry = self.known.get(number)
            if entry is not None and entry[0] is reference:
                del self.known[number]

        self.known[number] = (self.weakref(module, gone), what)

    def of_root(self, root):
        """Pairs of each module below and its path. The first root's have no name before them."""
        name = type(root).__name__
        count = self.roots[name] = self.roots.get(name, 0) + 1
        title = name if count == 1 else "%s#%d" % (name, count)
        before = title + "." if sum(self.roots.values()) > 1 else ""
        parallel = name in PARALLEL
        yield root, title
        for path, module in root.named_modules():
            parts = [part for part in path.split(".") if part not in WRAPPERS]
            if parallel and parts and parts[0] == "module":
                parts = parts[1:]
            if module is not root:
                yield module, before + ".".join(parts) if parts else title


class Modules:
    def __init__(self, torch, ranges):
        import threading
        import weakref

        class State(threading.local):
            def __init__(self):
                self.frames = []
                self.region = None
                self.range = None
                self.task = -1
                self.steps = []

        self.torch = torch
        self.ranges = ranges
        self.state = State()
        self.paths = Paths(weakref.ref)
        self.sequence = torch.autograd._get_sequence_nr
        self.task = torch._C._current_graph_task_id
        self.when_done = torch.autograd.Variable._execution_engine.queue_callback

    def start(self):
        from torch.nn.modules import module as modules
        from torch.optim import optimizer as optimizers

        before = modules.register_module_forward_pre_hook(before_forward)
        after = modules.register_module_forward_hook(after_forward, always_call=True)
        overlook(modules, (before.id, after.id))
        optimizers.register_optimizer_step_pre_hook(before_step)
        optimizers.register_optimizer_step_post_hook(after_step)

    # -- forward --

    def region_of(self, module):
        region = self.paths.get(module)
        if region is None:
            frames = self.state.frames
            if frames:
                # Added after its root was called, or called by a module that does not own it.
                text = "%s.%s" % (frames[-1].region.text, type(module).__name__)
                self.paths.put(module, Region(self, text))
            else:
                for below, path in self.paths.of_root(module):
                    self.paths.put(below, Region(self, path))
            region = self.paths.get(module)
        return region

    def entered(self, module):
        state = self.state
        region = self.region_of(module)
        frame = Frame(id(module), region, self.sequence(), (state.region, state.range))
        self.ranges.push(MODULE + region.text)
        state.frames.append(frame)
        state.region = state.range = None

    def left(self, module, output):
        state = self.state
        number = id(module)
        if not any(frame.module == number for frame in state.frames):
            return
        # Those above were left by what no hook is told of, such as KeyboardInterrupt.
        while state.frames[-1].module != number:
            self.leave(state)
        try:
            self.tag(state.frames, output)
        finally:
            self.leave(state)

    def leave(self, state):
        self.close(state)
        frame = state.frames.pop()
        state.region, state.range = frame.outer
        self.ranges.pop()

    # -- backward --

    def tensors(self, value, found, depth):
        if isinstance(value, self.torch.Tensor):
            found.append(value)
        elif depth < 4 and isinstance(value, (tuple, list)):
            for part in value:
                if len(found) >= MOST_TENSORS:
                    break
                self.tensors(part, found, depth + 1)
        elif depth < 4 and isinstance(value, dict):
            self.tensors(list(value.values()), found, depth + 1)
        elif depth < 4 and hasattr(type(value), "__dataclass_fields__"):
            self.tensors(list(vars(value).values()), found, depth + 1)

    def tag(self, frames, output):
        """Finds the nodes that the results hang on and are not tagged yet, and tags each.

        Nodes are numbered as they are made, so that of the calls that are open the innermost that
        began before a node made it. Tagged nodes are not looked behind again: each node is seen
        once, by the first call that returns after it was made.
        """
        found = []
        self.tensors(output, found, 0)
        pending = [tensor.grad_fn for tensor in found]
        newest = self.sequence()
        while pending:
            node = pending.pop()
            if node is None or TAGGED in node.metadata:
                continue
            number = node._sequence_nr()
            # A node summing gradients has the largest number and runs behind the node before it.
            if number >= newest:
                continue
            owner = None
            for frame in reversed(frames):
                if frame.sequence <= number:
                    owner = frame
                    break
            if owner is None:
                continue
            node.metadata[TAGGED] = True
            node.register_prehook(owner.region)
            pending.extend(pair[0] for pair in node.next_functions)

    def close(self, state):
        if state.range is not None:
            self.ranges.end(state.range)
        state.region = state.range = None

    def node_begins(self, region):
        state = self.state
        try:
            task = self.task()
            if task != state.task:
                state.task = task
                self.when_done(self.done)
            if state.region is region:
                return
            self.close(state)
            state.range = self.ranges.start(MODULE + region.text + BACKWARD)
            state.region = region
        except Exception as error:
            notes.failed("backward", error)

    def done(self):
        """The end of a backward pass, on the thread that ran the last of it."""
        try:
            self.state.task = -1
            self.close(self.state)
        except Exception as error:
            notes.failed("backward", error)

    # -- optimizers --

    def step_begins(self, optimizer):
        self.ranges.push("%s%s.step" % (OPTIMIZER, type(optimizer).__name__))
        self.state.steps.append(id(optimizer))

    def step_ends(self, optimizer):
        """A step that fails is not told of: its range is popped with the next one's."""
        steps = self.state.steps
        if id(optimizer) not in steps:
            return
        while steps.pop() != id(optimizer):
            self.ranges.pop()
        self.ranges.pop()


def overlook(modules, own):
    """From 2.8 on torch warns of modules that are compiled while there are such hooks, whose they ever are."""
    tables = [table for name, table in sorted(vars(modules).items())
              if name.startswith("_global_") and isinstance(table, dict) and "hooks" in name]

    def _has_any_global_hook():
        return any(number not in own for table in tables for number in table)

    if hasattr(modules, "_has_any_global_hook"):
        modules._has_any_global_hook = _has_any_global_hook


# The hooks are functions of this module that torch.compile can look through: it sees what they do
# while it compiles, which is nothing.
modules = None


def before_forward(module, inputs):
    if is_compiling():
        return None
    try:
        modules.entered(module)
    except Exception as error:
        notes.failed("modules", error)
    return None


def after_forward(module, inputs, output):
    if is_compiling():
        return None
    try:
        modules.left(module, output)
    except Exception as error:
        notes.failed("modules", error)
    return None


def before_step(optimizer, arguments, keywords):
    if is_compiling():
        return None
    try:
        modules.step_begins(optimizer)
    except Exception as error:
        notes.failed("optimizers", error)
    return None


def after_step(optimizer, arguments, keywords):
    if is_compiling():
        return None
    try:
        modules.step_ends(optimizer)
    except Exception as error:
        notes.failed("optimizers", error)
    return None


# ---- operations ----


class Operations:
    """torch's own ranges, on every thread of Python's that begins from now on, and this one.

    As emit_nvtx does, without its torch.cuda.synchronize(), which would start CUDA here. A thread
    has one profiler at a time: while the program uses one of its own, ours is off.
    """

    def __init__(self, torch, shapes):
        import atexit
        import threading
        from torch.autograd import profiler

        self.profiler = profiler
        self.enable = profiler._enable_profiler
        self.disable = profiler._disable_profiler
        self.config = lambda: profiler.ProfilerConfig(
            profiler.ProfilerState.NVTX, shapes, False, False, False, False,
            profiler._ExperimentalConfig())
        self.here = threading.local()
        self.threads = threading
        self.at_exit = atexit.register

    def on(self):
        try:
            if not getattr(self.here, "on", False):
                self.enable(self.config(), set())
                self.here.on = True
        except Exception as error:
            notes.failed("operations", error)

    def off(self):
        try:
            if getattr(self.here, "on", False):
                self.here.on = False
                self.disable()
        except Exception as error:
            notes.failed("operations", error)

    def give_way(self):
        """The program's profilers ask the module for these two functions by name."""
        enable, disable = self.enable, self.disable

        def _enable_profiler(*arguments, **keywords):
            self.off()
            self.here.theirs = True
            return enable(*arguments, **keywords)

        def _disable_profiler(*arguments, **keywords):
            try:
                return disable(*arguments, **keywords)
            finally:
                if getattr(self.here, "theirs", False):
                    self.here.theirs = False
                    self.on()

        self.profiler._enable_profiler = _enable_profiler
        self.profiler._disable_profiler = _disable_profiler

    def follow_threads(self):
        begin = self.threads.Thread._bootstrap_inner

        def _bootstrap_inner(thread):
            self.on()
            try:
                begin(thread)
            finally:
                self.off()

        self.threads.Thread._bootstrap_inner = _bootstrap_inner

    def start(self):
        self.enable(self.config(), set())
        self.here.on = True
        self.at_exit(self.off)
        self.give_way()
        self.follow_threads()


def skipped(code):
    """The same code as from a file that torch.compile leaves alone, with what is defined inside."""
    return code.replace(co_filename=SKIPPED, co_consts=tuple(
        skipped(part) if isinstance(part, type(code)) else part for part in code.co_consts))


def hide():
    for kind in Notes, Ranges, Frame, Paths, Modules, Operations:
        for function in vars(kind).values():
            if hasattr(function, "__code__"):
                function.__code__ = skipped(function.__code__)


def annotate(torch, words):
    """Turns these on; returns those that are on in the end, in words for the note."""
    global is_compiling, modules

    done = []
    hide()
    ranges = Ranges(torch)
    is_compiling = torch.compiler.is_compiling
    if "ops" in words or "shapes" in words:
        Operations(torch, "shapes" in words).start()
        done.append("operations with shapes" if "shapes" in words else "operations")
    if "modules" in words:
        modules = Modules(torch, ranges)
        modules.start()
        done.append("modules and optimizers")
    return " and ".join(done)


def imported(torch):
    try:
        words = os.environ.get("GPUTRACE_PYTORCH", "").split(",")
        version = version_of(torch)
        if not OLDEST <= version <= NEWEST:
            notes.add("PyTorch %s is not among the versions that --pytorch was made for (%d.%d to "
                      "%d.%d): its ranges may be missing or wrong"
                      % ((getattr(torch, "__version__", "of no version"),) + OLDEST + NEWEST))
        what = annotate(torch, words)
        notes.add("PyTorch %s in Python %d.%d: %s have ranges"
                  % ((torch.__version__,) + tuple(sys.version_info[:2]) + (what,)))
    except Exception as error:
        notes.failed("ranges are missing", error)


def wait():
    """Called by sitecustomize, from the archive in the recording's folder."""
    when_imported("torch", imported)
