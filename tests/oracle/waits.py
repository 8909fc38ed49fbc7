# SPDX-License-Identifier: Apache-2.0
"""Waits that the program could do without, and what streams held back: tables avoidable and dependencies (docs/reports/waits.md)."""
import spans
from figures import AT_ONCE_NS, awaited_work, grouped, host_waits

SMALL_BYTES = 4096
NEVER = float("inf")
PLAIN = ("stream synchronize", "context synchronize", "event synchronize")
COPIES_OF_THE_HOST = ("HtoD", "DtoH")


def ended_in(view, call):
    """The last of the awaited work that ended in a wait; None: none did."""
    ended = [work for work in awaited_work(view, call)
             if work["end"] is not None and call["begin"] < work["end"] <= call["end"]]
    return max(ended, key=lambda work: (work["end"], work["id"])) if ended else None


def was_done(view, call):
    """It returned at once, as the work that it waited for had been done."""
    return call["end"] - call["begin"] < AT_ONCE_NS and all(
        work["end"] is not None and work["end"] <= call["begin"] for work in awaited_work(view, call))


def last_of(work):
    return max(work, key=lambda row: (row["end"], row["id"]))["id"] if work else None


def earlier_waits(view, call):
    return [other for other in view.world.calls.values()
            if other["thread"] == call["thread"] and other["wait"] in PLAIN + ("blocking copy",) and other["end"] and
            other["begin"] < call["begin"]]


def is_nothing_new(view, call):
    if not was_done(view, call):
        return False
    awaited = awaited_work(view, call)
    if not awaited:
        return True
    if call["wait"] not in PLAIN:
        return False
    return any(last_of(awaited) == last_of([work for work in awaited_work(view, other) if work["end"] is not None])
               for other in earlier_waits(view, call) if not other["result"])


def next_call(view, call):
    """The next one of the thread, but for records of events; None: there is none."""
    later = [other for other in view.world.calls.values()
             if other["thread"] == call["thread"] and other["begin"] > call["begin"] and other["wait"] != "event record"]
    return min(later, key=lambda other: other["begin"]) if later else None


def subject(view, call):
    """Subject of a wait: two with the same one wait for the same."""
    stream = view.record_of(call)["stream"] if call["wait"] == "event synchronize" else call["stream"]
    gpu = view.world.streams[stream]["gpu"]
    return call["thread"], call["wait"], gpu, None if call["wait"] == "context synchronize" else stream


def copied_since_the_wait_before(view, call, gpu):
    before = max((other["end"] for other in earlier_waits(view, call)
                  if other["wait"] in PLAIN and subject(view, other) == subject(view, call)), default=0)
    process = view.world.process_of_call(call)
    return any(work["kind"] == "copy" and work["copy"] in COPIES_OF_THE_HOST and work["gpu"] == gpu and
               work["process"] == process and view.world.calls[work["call"]]["wait"] != "blocking copy" and before < view.world.calls[work["call"]]["begin"] < call["end"]
               for work in view.world.work.values())


def why(view, call):
    if call["result"]:
        return None
    if is_nothing_new(view, call):
        return "nothing new"
    last = ended_in(view, call)
    if not last:
        return None
    is_own = view.world.calls[last["call"]]["thread"] == call["thread"]
    if last["kind"] == "copy" and is_own and last["copy"] == "DtoH" and last["bytes"] <= SMALL_BYTES:
        return "small read"
    if last["kind"] == "copy" and is_own and last["copy"] == "HtoD" and last["pageable"]:
        return "pageable copy"
    if call["wait"] not in PLAIN:
        return None
    following = next_call(view, call)
    asked = [work for work in view.world.work.values() if following and work["call"] == following["id"]]
    if not asked or copied_since_the_wait_before(view, call, asked[0]["gpu"]):
        return None
    return "then more work" if asked[0]["stream"] == last["stream"] else "then other stream"


WHYS = ("small read", "pageable copy", "nothing new", "then more work", "then other stream")


def avoidable(view):
    waiting = [call for call in host_waits(view) if call["wait"] != "blocking free"]
    return [{"why": reason, "function": function, "calls": len(calls),
             "blocked_ns": sum(call["end"] - call["begin"] for call in calls)}
            for (reason, function), calls in grouped(
                waiting, lambda call: (why(view, call), view.world.function(call))).items() if reason]


def before(view, stream, moment):
    """Work that a stream had been asked for before."""
    return [work for work in view.world.work.values()
            if work["stream"] == stream and view.world.calls[work["call"]]["begin"] < moment]


def behind(view, stream, moment):
    """The first work that a stream was asked for after; None: there is none."""
    later = [work for work in view.world.work.values()
             if work["stream"] == stream and view.world.calls[work["call"]]["begin"] > moment]
    return min(later, key=lambda work: (view.world.calls[work["call"]]["begin"], work["begin"] or 0)) if later else None


def held_by(view, call):
    """(from stream, to stream, stretch in which it held work back or None) of a wait; None: it is linked to nothing."""
    record = view.record_of(call)
    awaited, waiting = before(view, record["stream"], record["begin"]), behind(view, call["stream"], call["begin"])
    if not awaited or not waiting or record["stream"] == call["stream"]:
        return None
    last = max(awaited, key=lambda work: (work["end"] or 0, work["id"]))
    earlier = [NEVER if work["is_unfinished"] else work["end"] for work in before(view, call["stream"], call["begin"])]
    could = max([call["begin"], view.world.calls[waiting["call"]]["begin"], *earlier])
    stretch = (could, last["end"]) if last["end"] and last["end"] > could else None
    return record["stream"], call["stream"], stretch


def dependencies(view):
    world = view.world
    if view.filters or any(work["kind"] == "graph" for work in world.work.values()):
        return None # waits before and behind graphs that were recorded as a whole are linked to what comes next
    linked = [held_by(view, call) for call in view.calls if call["wait"] == "stream wait event"]
    rows = []
    for (one, other), found in grouped([row for row in linked if row], lambda row: row[:2]).items():
        stretches = [row[2] for row in found if row[2]]
        rows.append({"from_stream": str(world.streams[one]["number"]), "to_stream": str(world.streams[other]["number"]),
                     "calls": len(found), "held": len(stretches),
                     "held_ns": spans.length(spans.united(stretches)),
                     "max_held_ns": max((end - begin for begin, end in stretches), default=0)})
    return rows


TABLES = {("waits", "avoidable_by_reason"): (avoidable, ("why", "function")),
          ("waits", "dependencies"): (dependencies, ("from_stream", "to_stream"))}
