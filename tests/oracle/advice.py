# SPDX-License-Identifier: Apache-2.0
"""Rules of report advice, with what following them would bring (docs/reports/advice.md)."""
import spans
from figures import RULES, all_active, all_busy, chosen_ranges, grouped, host_waits, of_kind, span_of


def waiting_host(view):
    """A thread waited for half of the window."""
    for _, calls in grouped(host_waits(view), lambda call: call["thread"]).items():
        waited = spans.both(spans.united((call["begin"], call["end"]) for call in calls), view.window())
        if 2 * spans.length(waited) >= spans.length(view.window()):
            yield None, None
            return


def quiet_stretches(view):
    """In which no GPU ran anything."""
    active = spans.united(span for gpu in view.world.gpus for span in all_active(view, gpu))
    return spans.without(view.window(), active)


def worst_path(view, numbers, lost_in):
    """
    Among paths that lost half of their time, and united over their ranges a tenth of the window, the one that lost most;
    of ranges in one another the innermost that has four fifths of it. Returns the path and its loss; None: there is none.
    """
    lost = {}
    for path, of_path in grouped(numbers, view.world.path).items():
        pieces = [piece for number in of_path for piece in lost_in(number)]
        whole = sum(spans.length(of) for of, _ in pieces)
        time = sum(spans.length(gone) for _, gone in pieces)
        united = spans.length(spans.united(span for _, gone in pieces for span in gone))
        if whole and 2 * time >= whole and 10 * united >= spans.length(view.window()):
            lost[path] = united
    innermost = [path for path, time in lost.items()
                 if not any(other.startswith(path + "/") and 5 * lost[other] >= 4 * time for other in lost)]
    worst = max(innermost, key=lost.get, default=None)
    return worst and (worst, lost[worst])


def worst_quiet(view):
    """While the host was in these ranges no GPU ran anything."""
    quiet = quiet_stretches(view)

    def lost_in(number):
        row = view.world.ranges[number]
        wall = [(row["begin"], row["end"])]
        return [(wall, spans.both(wall, quiet))]

    ended = [number for number in chosen_ranges(view) if view.world.ranges[number]["end"]]
    return worst_path(view, ended, lost_in) if of_kind(view.work, "kernel") else None


def worst_gaps(view):
    """Between the first and the last work of these ranges a GPU was idle."""
    def lost_in(number):
        found = [(gpu, spans.both(span_of(view, number, gpu), view.window())) for gpu in view.world.gpus]
        return [(span, spans.without(span, all_active(view, gpu))) for gpu, span in found if span]

    return worst_path(view, chosen_ranges(view), lost_in)


def quiet_range(view):
    worst = worst_quiet(view)
    if not worst:
        return
    world = view.world
    first = min((work["begin"] for work in world.work.values() if work["is_timed"]), default=None)
    before_all_work = first is None or all(world.ranges[number]["end"] and world.ranges[number]["end"] <= first
                          for number in chosen_ranges(view) if world.path(number) == worst[0])
    yield None, None if before_all_work else worst[1]


def range_gaps(view):
    worst, quiet = worst_gaps(view), worst_quiet(view)
    if worst and not (quiet and quiet[0] == worst[0]): # which says it in other words
        yield None, worst[1]


def alone(view, gpu):
    """
    (is it the default streams alone, copies from and to the host between the first and the last kernel, or graph, that
    ran without one, kernels that ran without a copy); None: too little.
    """
    work = [row for row in view.timed if row["gpu"] == gpu]
    kernels = of_kind(work, "kernel")
    copies = of_kind(work, "copy")
    busy = all_busy(view, gpu)
    if not kernels or not busy:
        return None
    between = [(busy[0][0], busy[-1][1])]
    copying = spans.united((row["begin"], row["end"]) for row in copies)
    of_host = spans.united((row["begin"], row["end"]) for row in copies if row["copy"] not in ("DtoD", "PtoP"))
    copied = spans.length(spans.without(spans.both(of_host, between), busy))
    beside = spans.length(spans.both(copying, busy))
    default = len(work) >= 20 and all(view.world.streams[row["stream"]]["default"] for row in work)
    kernels_alone = spans.length(busy) - beside
    if 10 * copied < spans.length(view.in_use(gpu)) or not kernels_alone:
        return None
    if not default and 10 * beside >= spans.length(copying):
        return None
    return default, min(copied, kernels_alone)


def copies_alone(view):
    for gpu in view.gpus:
        found = alone(view, gpu)
        if found and not found[0]:
            yield view.world.gpu_name(gpu), found[1]


def default_stream(view):
    for gpu in view.gpus:
        found = alone(view, gpu)
        if found and found[0]:
            yield view.world.gpu_name(gpu), found[1]


NEW = {"waiting_host": waiting_host, "copies_alone": copies_alone, "default_stream": default_stream, "quiet_range": quiet_range, "range_gaps": range_gaps}


def advice(view):
    if view.filters or any(row["profiled"] for row in view.world.work.values()):
        return None # rules about idle time are silent then
    return [{"rule": rule, "device": device, "gain_ns": gain} for rule, work_out in {**RULES, **NEW}.items()
            for device, gain in work_out(view)]


WHICH = {*RULES, *NEW}
TABLES = {("advice", "known_rules"): (advice, ("rule", "device"))}
