# SPDX-License-Identifier: Apache-2.0
"""Joules, worked out slowly by docs/design/energy.md. Worlds are shorter than a second, so that power alone counts."""
import spans
from figures import chosen_ranges, grouped, mean, percent, step_groups

GAP = 10 # times the usual step: nobody sampled


def readings(world, gpu):
    """The one of several processes that sampled longest is believed, of the others what they saw when it was not there."""
    mine = grouped([row for row in world.readings.values() if row["gpu"] == gpu], lambda row: row["process"])
    covers, found = [], []
    for rows in sorted(mine.values(), key=lambda rows: (rows[0]["at"] - rows[-1]["at"], rows[0]["process"])):
        found += [row for row in rows if not any(begin <= row["at"] <= end for begin, end in covers)]
        covers.append((rows[0]["at"], rows[-1]["at"]))
    return sorted((row["at"], row["power"] / 1e3) for row in found if row["power"] is not None)


def at_rank(values):
    return sorted(values)[(len(values) + 1) // 2 - 1]


def ran(world, gpu, chosen=lambda work: True):
    return spans.united((work["begin"], work["end"]) for work in world.work.values()
                        if work["is_timed"] and work["gpu"] == gpu and work["begin"] < work["end"] and chosen(work))


def within(what, step):
    return spans.length(spans.both(what, [(step["begin"], step["end"])]))


class Board:
    """Power of a GPU over time."""

    def __init__(self, view, gpu):
        self.gpu = gpu
        self.held = view.not_measured()
        self.active = spans.united(ran(view.world, gpu) + self.held)
        self.samples = readings(view.world, gpu)
        pairs = list(zip(self.samples, self.samples[1:]))
        usual = at_rank([later - at for (at, _), (later, _) in pairs]) if pairs else 0
        self.steps = [{"begin": at, "end": later, "joules": (power + next_power) / 2 * (later - at) / 1e9}
                      for (at, power), (later, next_power) in pairs if 0 < later - at <= GAP * usual]
        self.interval = at_rank([step["end"] - step["begin"] for step in self.steps]) if self.steps else 0
        for step in self.steps:
            step["mean"] = step["joules"] * 1e9 / (step["end"] - step["begin"])
            step["active"] = within(self.active, step)
        self._find_quiet()
        for step in self.steps:
            self._model(step)
        self._cap()

    def _find_quiet(self):
        quiet = [step for place, step in enumerate(self.steps) if step["active"] == 0 and
                 not (place and self.steps[place - 1]["end"] == step["begin"] and self.steps[place - 1]["active"])]
        time = sum(step["end"] - step["begin"] for step in quiet)
        self.quiet = sum(step["joules"] for step in quiet) * 1e9 / time if quiet else None
        self.most_quiet = max((step["mean"] for step in quiet), default=0)

    def _model(self, step):
        length = step["end"] - step["begin"]
        stands_out = step["mean"] > self.most_quiet and 100 * step["active"] >= length
        step["quiet_watts"] = self.quiet if step["active"] and stands_out and self.quiet is not None else step["mean"]
        step["least"] = 0 if self.quiet is None else min(self.quiet, step["mean"])
        step["watts"] = (step["joules"] * 1e9 - step["quiet_watts"] * (length - step["active"])) / step["active"] \
            if step["active"] else 0

    def _cap(self):
        most = max((step["watts"] for step in self.steps if 2 * step["active"] >= step["end"] - step["begin"]), default=0)
        for step in self.steps:
            if most and step["watts"] > most:
                step["watts"] = most
                step["quiet_watts"] = (step["joules"] * 1e9 - most * step["active"]) / (
                    step["end"] - step["begin"] - step["active"])

    def told(self, time):
        return sum(within(time, step) for step in self.steps)

    def active_joules(self, time):
        """Joules of time in which something runs."""
        return sum(within(time, step) * step["watts"] for step in self.steps) / 1e9

    def joules(self, time):
        """Active and quiet joules of any time."""
        return (self.active_joules(spans.both(time, self.active)),
                sum(within(spans.without(time, self.active), step) * step["quiet_watts"] for step in self.steps) / 1e9)

    def most_joules(self, time):
        """All but the least of the rest of the steps that the time has a part in."""
        return sum(step["joules"] - step["least"] * (step["end"] - step["begin"] - within(time, step)) / 1e9
                   for step in self.steps if within(time, step))


def boards(view):
    if not hasattr(view, "boards"):
        view.boards = {gpu: Board(view, gpu) for gpu in view.world.gpus}
    return view.boards


def several(view, gpu):
    """When several pieces of work ran at once."""
    mine = [work for work in view.world.work.values() if work["is_timed"] and work["gpu"] == gpu]
    return spans.united(part for i, one in enumerate(mine) for other in mine[:i]
                        for part in spans.both([(one["begin"], one["end"])], [(other["begin"], other["end"])]))


def devices(view):
    rows = []
    known = bool(view.world.work)
    for gpu in view.gpus:
        board = boards(view)[gpu]
        window = view.window()
        active, quiet = board.joules(window)
        told = board.told(window)
        sampled = bool(board.steps)
        split = known and told > 0
        rows.append({
            "device": view.world.gpu_name(gpu), "joules": active + quiet if told else None,
            "mean_watts": (active + quiet) * 1e9 / told if told else None,
            "peak_watts": max((power for at, power in board.samples if any(begin <= at <= end for begin, end in window)),
                              default=None),
            "active_joules": active if split else None,
            "shared_joules": board.active_joules(spans.both(window, several(view, gpu))) if split else None,
            "quiet_joules": quiet if split else None, "untold_joules": 0.0 if told else None,
            "quiet_watts": board.quiet if known else None,
            "covered_percent": percent(told, spans.length(window)) if sampled else None,
            "covered_ns": told if sampled else None, "source": "power" if sampled else None})
    return rows


def share(view, work):
    """Figures of some work, and whether all of it ran alone and was sampled."""
    numbers = {row["id"] for row in work}
    sums = {"joules": 0.0, "shared_joules": 0.0, "at_most_joules": 0.0, "gpu_ns": 0, "told": 0, "alone": 0}
    for gpu, board in boards(view).items():
        own = ran(view.world, gpu, lambda row: row["id"] in numbers)
        others = spans.united(ran(view.world, gpu, lambda row: row["id"] not in numbers) + board.held)
        alone = spans.without(own, others)
        sums["joules"] += board.active_joules(alone)
        sums["shared_joules"] += board.active_joules(spans.both(own, others))
        sums["at_most_joules"] += board.most_joules(own)
        sums["gpu_ns"] += spans.length(own)
        sums["told"] += board.told(own)
        sums["alone"] += board.told(alone)
    row = {column: sums[column] if sums["told"] else None for column in ("joules", "shared_joules", "at_most_joules")}
    return {**row, "alone_watts": sums["joules"] * 1e9 / sums["alone"] if sums["alone"] else None, "gpu_ns": sums["gpu_ns"],
            "told_percent": percent(sums["told"], sums["gpu_ns"])}, sums["alone"] == sums["gpu_ns"]


def work(view):
    others = {"copy": "(copies)", "fill": "(fills)", "graph": "(whole graphs)"}
    rows = [{"work": name, **share(view, rows)[0]}
            for name, rows in grouped(view.timed, lambda row: others.get(row["kind"]) or row["name"]).items()]
    return [row for row in rows if row["gpu_ns"]]


def ranges(view):
    rows = []
    for path, numbers in grouped(chosen_ranges(view), view.world.path).items():
        figures, whole = share(view, [row for row in view.timed if view.world.ranges_of_work(row) & set(numbers)])
        if figures["gpu_ns"]:
            rows.append({"range": path, "ranges": len(numbers), **figures,
                         "each_joules": figures["joules"] / len(numbers) if whole else None})
    return rows


def step_joules(view, number, process):
    world = view.world
    row = world.ranges[number]
    wall = spans.without([(row["begin"], row["end"])], view.not_measured())
    used = [gpu for gpu in world.gpus if ran(world, gpu, lambda work: work["process"] == process)]
    total = 0
    for gpu in used:
        board = boards(view)[gpu]
        if spans.both([(row["begin"], row["end"])], ran(world, gpu, lambda work: work["process"] != process)) or \
                board.told(wall) < spans.length(wall) or not spans.length(wall):
            return None
        total += sum(board.joules(wall))
    return total if used else None


def steps(view):
    found = step_groups(view)
    if found is None:
        return None
    longest, groups = found
    rows = []
    interval = max(board.interval for board in boards(view).values())
    for process, numbers in groups.items():
        joules = {number: step_joules(view, number, process) for number in numbers}
        told = {number: value for number, value in joules.items() if value is not None}
        walls = [view.world.ranges[number]["end"] - view.world.ranges[number]["begin"] for number in told]
        apart = told and min(walls) >= interval
        rows.append({"steps": len(numbers), "told": len(told), "mean_joules": mean(told.values()),
                     "min_joules": min(told.values()) if apart else None,
                     "max_joules": max(told.values()) if apart else None,
                     "mean_watts": sum(told.values()) * 1e9 / sum(walls) if told else None,
                     "process": view.world.process_name(process), "range": longest[0]})
    return rows


TABLES = {
    ("energy", "devices"): (devices, ("device",)),
    ("energy", "work"): (work, ("work",)),
    ("energy", "ranges"): (ranges, ("range",)),
    ("energy", "steps"): (steps, ("process",)),
}
