# SPDX-License-Identifier: Apache-2.0
"""A world as world.json tells it, and what a filter chooses of it, by the rules of docs/terms.md."""
import json
import pathlib
import re

import spans

GPU_NAME = "NVIDIA H200"
SEQUENCE = re.compile(r"(.*), seq = (\d+)")


class World:
    def __init__(self, folder):
        told = json.loads((pathlib.Path(folder) / "world.json").read_text())
        self.seed = told["seed"]
        self.features = told["features"]
        self.own_threads = False # as with --set threads=own
        self.gpus = list(range(told["gpus"]))
        self.kernels = {row["id"]: row for row in told["kernels"]}
        for table in ("processes", "threads", "streams", "ranges", "marks", "calls", "work", "execs", "blocks", "readings"):
            setattr(self, table, {row["id"]: row for row in told[table]})
        for work in self.work.values():
            self._look_at_work(work)
        self.begin = min(row["begin"] for row in self.processes.values())
        for number, process in self.processes.items():
            process["last"] = process["end"] or self._last_known(number)
        self.end = max(row["last"] for row in self.processes.values())

    def _look_at_work(self, work):
        stream = self.streams[work["stream"]]
        work["gpu"] = stream["gpu"]
        work["process"] = stream["process"]
        work["is_unfinished"] = work["end"] is None
        work["is_timed"] = work["end"] is not None and not work["profiled"]
        work["time"] = work["end"] - work["begin"] if work["is_timed"] else None
        if work["profiled"]: # its record ends when the program goes on
            work["lasted"] = work["end"] - work["begin"]
            work["end"] = work["held_to"]
            work["begin"] = work["end"] - work["lasted"] if work["lasted"] else work["held_from"]
        if work["kernel"] is not None:
            work["name"] = self.kernels[work["kernel"]]["name"]

    def process_of_call(self, call):
        return self.threads[call["thread"]]["process"]

    def _last_known(self, number):
        moments = [self.processes[number]["begin"]]
        for call in self.calls.values():
            if self.process_of_call(call) == number:
                moments += [call["begin"], call["end"] or 0]
        for work in self.work.values():
            if work["process"] == number:
                moments.append(work["end"] or 0)
        for row in self.ranges.values():
            if self.threads[row["thread"]]["process"] == number:
                moments += [row["begin"], row["end"] or 0]
        moments += [row["at"] for row in self.readings.values() if row["process"] == number]
        for row in self.marks.values():
            if self.threads[row["thread"]]["process"] == number:
                moments.append(row["at"])
        return max(moments)

    # Names as reports show them

    def gpu_name(self, gpu):
        return f"{gpu}: {GPU_NAME}"

    def process_name(self, number):
        process = self.processes[number]
        return f"{process['name']} ({process['pid']})"

    def thread_name(self, number):
        thread = self.threads[number]
        return f"{thread['name']} ({thread['tid']})"

    def function(self, call):
        return re.sub(r"_(v\d+|ptsz|ptds)$", "", call["function"])

    # Ranges

    def range_end(self, row):
        """When it was over; an open one lasts as long as its process is known."""
        return row["end"] or self.processes[self.threads[row["thread"]]["process"]]["last"] + 1

    def open_on(self, thread, moment):
        return [row["id"] for row in self.ranges.values()
                if row["thread"] == thread and row["begin"] <= moment < self.range_end(row)]

    def path(self, number):
        names = []
        while number is not None:
            names.insert(0, self.ranges[number]["name"].replace("/", "\\/"))
            number = self.ranges[number]["parent"]
        return "/".join(names)

    def is_of_program(self, number):
        """Ranges of frameworks tell of operations; all others are the program's."""
        return self.ranges[number]["sequence"] is None

    def ranges_of_call(self, call):
        return set(self.chain_of_call(call))

    def chain_of_call(self, call, sure=False):
        """Ranges that a call was made inside, the innermost first: of its own thread, then of those that it works for
        (docs/reports/ranges.md). sure: nothing by time alone."""
        own = self.open_on(call["thread"], call["begin"])
        if own:
            return self.inside(own[-1], call["begin"], sure)
        return self.inside_first_open(*self.work_for(call["thread"], call["begin"]), call["begin"], sure)

    def inside(self, number, moment, sure=False):
        """A range that is open at a moment, and all that are around it then, on other threads too."""
        found = [around for around in self.around(number) if self.range_end(self.ranges[around]) > moment]
        return found + self.inside_first_open(*self.range_is_for(found[-1]), moment, sure) if found else []

    def inside_first_open(self, number, by_time, moment, sure):
        if by_time and sure:
            return []
        while number is not None and self.range_end(self.ranges[number]) <= moment:
            number = self.ranges[number]["parent"]
        return [] if number is None else self.inside(number, moment, sure)

    def range_is_for(self, number):
        """The range of another thread that an operation is for, and whether that is by time alone."""
        row = self.ranges[number]
        if self.own_threads or any(self.is_of_program(around) for around in self.around(number)):
            return None, False
        if "is_for" not in row:
            row["is_for"] = self._range_is_for(row)
        return row["is_for"]

    def _range_is_for(self, row):
        if row["parent"] is not None:
            outer, by_time = self.range_is_for(row["parent"])
            if outer is not None and self.range_end(self.ranges[outer]) > row["begin"]:
                return outer, by_time
        tied = self.by_sequence(row)
        return (tied, False) if tied is not None else self.work_for(row["thread"], row["begin"])

    def by_sequence(self, row):
        """The range open, when an operation of the backward pass began, on the thread that ran its forward one."""
        if "Backward" not in row["name"]:
            return None
        process = self.threads[row["thread"]]["process"]
        forward = [other for other in self.ranges.values()
                   if other["sequence"] == row["sequence"] and "Backward" not in other["name"] and
                   other["begin"] < row["begin"] and self.threads[other["thread"]]["process"] == process]
        if not forward:
            return None
        thread = max(forward, key=lambda other: other["begin"])["thread"]
        found = [] if thread == row["thread"] else self.open_on(thread, row["begin"])
        return found[-1] if found else None

    def work_for(self, thread, moment):
        """The range that work of a thread without ranges is for, and whether that is by time alone."""
        if self.own_threads:
            return None, False
        tied = sorted((row["begin"], number) for number, row in self.ranges.items()
                      if row["thread"] == thread and self.by_sequence(row) is not None)
        before = [self.by_sequence(self.ranges[number]) for begin, number in tied if begin <= moment]
        after = [self.by_sequence(self.ranges[number]) for begin, number in tied if begin > moment]
        if before and after and before[-1] == after[0]:
            return before[-1], False
        return self.by_time(thread, moment), True

    def by_time(self, thread, moment):
        """The innermost of the program's ranges on the one other thread that has any open."""
        process = self.threads[thread]["process"]
        others = [[number for number in self.open_on(other, moment) if self.is_of_program(number)]
                  for other, row in self.threads.items() if row["process"] == process and other != thread]
        others = [ranges for ranges in others if ranges]
        return others[0][-1] if len(others) == 1 else None

    def around(self, number):
        """A range and those that it is in, the innermost first."""
        found = []
        while number is not None:
            found.append(number)
            number = self.ranges[number]["parent"]
        return found

    def innermost(self, call):
        """The innermost range that a call was made in, of its own thread before those that it works for."""
        own = self.open_on(call["thread"], call["begin"])
        if own:
            return own[-1]
        number, _ = self.work_for(call["thread"], call["begin"])
        return number

    def ranges_of_launch(self, work):
        if "launched_in" not in work:
            work["launched_in"] = self.ranges_of_call(self.calls[work["call"]])
        return work["launched_in"]

    def ranges_of_work(self, work):
        """Ranges of its launch, and those in which its node was captured."""
        if "belongs_to" not in work:
            found = set(self.ranges_of_launch(work))
            if work["node"] is not None:
                node = self.execs[work["exec"]]["nodes"][work["node"]]
                found |= self.ranges_of_call(self.calls[node["call"]])
            work["belongs_to"] = found
        return work["belongs_to"]


class View:
    """Rows that a filter leaves. Filters: from, to (moments since the recording began), process, gpu, stream, kernel, range."""

    def __init__(self, world, **filters):
        self.world = world
        self.filters = filters
        self.from_ = world.begin + filters.get("from_", 0)
        self.to = min(world.begin + filters["to"] if "to" in filters else world.end, world.end)
        self.has_window = "from_" in filters or "to" in filters
        self.ranges_chosen = self._choose_ranges() if "range" in filters else None
        self.work = [work for work in world.work.values() if self._chooses_work(work)]
        self.timed = [work for work in self.work if work["is_timed"]]
        self.calls = [call for call in world.calls.values() if self._chooses_call(call)]
        self.gpus = [gpu for gpu in world.gpus if self._shows_gpu(gpu)]
        self.processes = [number for number in world.processes if self._shows_process(number)]
        self._window = None

    def in_time(self, begin):
        """Without --to the last moment is in the window, too."""
        return not self.has_window or begin is not None and self.from_ <= begin and ("to" not in self.filters or
                                                                                     begin < self.to)

    def _choose_ranges(self):
        name = self.filters["range"]
        of_path = {number for number in self.world.ranges if self.world.path(number) == name}
        return of_path or {number for number, row in self.world.ranges.items() if row["name"] == name}

    def _chooses_work(self, work):
        f = self.filters
        if not self.in_time(work["begin"]):
            return False
        return self._suits(work) and ("process" not in f or work["process"] == f["process"])

    def _suits(self, work):
        """But for time and process."""
        f = self.filters
        if "gpu" in f and work["gpu"] != f["gpu"]:
            return False
        if "stream" in f and self.world.streams[work["stream"]]["number"] != f["stream"]:
            return False
        if "kernel" in f and (work["kind"] != "kernel" or work["name"] != f["kernel"]):
            return False
        return "range" not in f or bool(self.world.ranges_of_work(work) & self.ranges_chosen)

    def _chooses_call(self, call):
        f = self.filters
        if not self.in_time(call["begin"]):
            return False
        if "process" in f and self.world.process_of_call(call) != f["process"]:
            return False
        in_range = "range" not in f or bool(self.world.ranges_of_call(call) & self.ranges_chosen)
        if in_range and not {"gpu", "stream", "kernel"} & set(f):
            return True
        asked = [work for work in self.world.work.values() if work["call"] == call["id"]]
        return any(self._suits(work) for work in asked) or in_range and self._waits_for_chosen(call)

    def _waits_for_chosen(self, call):
        if not call["wait"]:
            return False
        return any(self._chooses_stream(stream) for stream in self.awaited_streams(call))

    def record_of(self, call):
        """The record that a wait for an event is about: the last one before it."""
        return max((other for other in self.world.calls.values() if other["wait"] == "event record" and
                    other["event"] == call["event"] and other["begin"] < call["begin"]),
                   key=lambda other: other["begin"])

    def awaited_streams(self, call):
        """Streams that a call waits for, or is made on."""
        world = self.world
        if call["wait"] == "event synchronize":
            return [self.record_of(call)["stream"]]
        if call["wait"] == "context synchronize":
            gpu = world.streams[call["stream"]]["gpu"]
        elif call["wait"] == "blocking free":
            gpu = world.blocks[call["block"]]["gpu"]
        else:
            return [call["stream"]]
        return [number for number, row in world.streams.items()
                if (row["process"], row["gpu"]) == (world.process_of_call(call), gpu)]

    def _chooses_stream(self, number):
        stream = self.world.streams[number]
        f = self.filters
        if "gpu" in f and stream["gpu"] != f["gpu"] or "stream" in f and stream["number"] != f["stream"]:
            return False
        return "kernel" not in f or any(work["stream"] == number and self._suits(work)
                                        for work in self.world.work.values())

    def chooses_all_of(self, number):
        """Whether all work of a stream is chosen, but for time."""
        stream = self.world.streams[number]
        return not {"kernel", "range"} & set(self.filters) and self._chooses_stream(number) and (
            "process" not in self.filters or stream["process"] == self.filters["process"])

    def _shows_gpu(self, gpu):
        """Shows those of the chosen ones that the chosen process has used."""
        f = self.filters
        if "gpu" in f and gpu != f["gpu"]:
            return False
        return "process" not in f or any((row["process"], row["gpu"]) == (f["process"], gpu)
                                         for row in self.world.streams.values())

    def _shows_process(self, number):
        return "process" not in self.filters or number == self.filters["process"]

    # Time

    def window(self):
        """The moments that count."""
        if self._window is None:
            window = [(self.from_, self.to)] if self.from_ < self.to else []
            if "range" in self.filters:
                window = spans.both(window, self._range_window())
            self._window = spans.without(window, self.not_measured())
        return self._window

    def _range_window(self):
        """A chosen range was open, or a GPU between the first start and the last end of what was launched in it, or work ran
        whose node was captured in it."""
        found = []
        for number in self.ranges_chosen:
            row = self.world.ranges[number]
            process = self.world.threads[row["thread"]]["process"]
            found.append((row["begin"], row["end"] or self.world.processes[process]["last"]))
            for gpu in self.gpus:
                mine = [work for work in self.world.work.values() if work["is_timed"] and work["gpu"] == gpu and
                        number in self.world.ranges_of_launch(work)]
                if mine:
                    found.append((min(work["begin"] for work in mine), max(work["end"] for work in mine)))
            found += [(work["begin"], work["end"]) for work in self.world.work.values()
                      if work["is_timed"] and work["gpu"] in self.gpus and work["node"] is not None and
                      number in self.world.ranges_of_work(work)]
        return spans.united(found)

    def not_measured(self):
        return spans.united((self.world.calls[work["call"]]["begin"], work["held_to"])
                            for work in self.world.work.values() if work["profiled"])

    def held_up(self, thread):
        """When gputrace held a thread up for a kernel that it ran several times."""
        calls = self.world.calls
        return spans.united((calls[work["call"]]["begin"], calls[work["call"]]["end"] or work["held_to"])
                            for work in self.world.work.values()
                            if work["profiled"] and calls[work["call"]]["thread"] == thread)

    def is_timed(self, call):
        """Calls that returned, but for those that were held up."""
        return call["end"] and not any(work["profiled"] and work["call"] == call["id"]
                                       for work in self.world.work.values())

    def in_use(self, gpu):
        """From the first start to the last end of the work of a GPU in the recording."""
        work = [work for work in self.world.work.values() if work["is_timed"] and work["gpu"] == gpu]
        if not work:
            return []
        span = (min(row["begin"] for row in work), max(row["end"] for row in work))
        return spans.both([span], self.window())

    def running(self, gpu, kinds, work=None):
        """When work of these kinds ran on a GPU, in the window; all work, whoever asked for it, unless it is given."""
        work = self.world.work.values() if work is None else work
        ran = spans.united((row["begin"], row["end"]) for row in work
                           if row["is_timed"] and row["gpu"] == gpu and row["kind"] in kinds)
        return spans.both(ran, self.window())

    def busy(self, gpu):
        return self.running(gpu, ("kernel", "graph"))

    def active(self, gpu):
        return self.running(gpu, ("kernel", "graph", "copy", "fill"))

    def gaps(self, gpu):
        """Stretches without work; work that took no time at all ends one, too."""
        moments = {row["begin"] for row in self.world.work.values()
                   if row["is_timed"] and row["gpu"] == gpu and row["begin"] == row["end"]}
        found = []
        for begin, end in spans.without(self.in_use(gpu), self.active(gpu)):
            cuts = [begin, *sorted(moment for moment in moments if begin < moment < end), end]
            found += list(zip(cuts, cuts[1:]))
        return found
