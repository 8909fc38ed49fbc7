# SPDX-License-Identifier: Apache-2.0
"""The figures of the reports, worked out slowly from what happened in a world: docs/terms.md and the headings of
docs/reports/ say what each is. Nothing here knows how gputrace does it. TABLES has a function for each table: its
rows, with the columns that tell them apart and those that are compared."""
import math
import re
import statistics

import spans

GPU_WORK = ("kernel", "graph", "copy", "fill")
SYNCHRONIZES = ("stream synchronize", "context synchronize", "event synchronize")


def percent(part, whole):
    return 100 * part / whole if whole else None


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def median(values):
    values = list(values)
    return statistics.median(values) if values else None


def deviation(values):
    values = list(values)
    return statistics.stdev(values) if len(values) > 1 else None


def nearest_rank(values, share):
    values = sorted(values)
    return values[max(0, math.ceil(share * len(values) / 100) - 1)] if values else None


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def of_kind(rows, kind):
    return [row for row in rows if row["kind"] == kind]


def time_of(rows):
    return sum(row["time"] for row in rows)


def least(values):
    return min(values, default=None)


def most(values):
    return max(values, default=None)


# Report summary


def recording(view):
    work = view.work
    copies = of_kind(work, "copy")
    return [{"duration_ns": spans.length(view.window()), "processes": len(view.processes), "devices": len(view.gpus),
             "kernels": len(of_kind(work, "kernel")), "copies": len(copies),
             "copied_bytes": sum(row["bytes"] for row in copies), "fills": len(of_kind(work, "fill")),
             "api_calls": len(view.calls), "errors": sum(1 for call in view.calls if call["result"] and call["end"]),
             "unfinished": sum(1 for row in work if row["is_unfinished"])}]


def summary_devices(view):
    rows = []
    for gpu in view.gpus:
        busy = spans.length(view.busy(gpu))
        copying = view.running(gpu, ("copy",))
        rows.append({"device": view.world.gpu_name(gpu), "busy_ns": busy,
                     "busy_percent": percent(busy, spans.length(view.window())),
                     "busy_in_use_percent": percent(busy, spans.length(view.in_use(gpu))),
                     "copy_ns": spans.length(copying),
                     "overlap_ns": spans.length(spans.both(copying, view.busy(gpu))),
                     "kernels": sum(1 for row in of_kind(view.timed, "kernel") if row["gpu"] == gpu)})
    return rows


def top_kernels(view):
    return [{key: row[key] for key in ("kernel", "calls", "total_ns", "share_percent")}
            for row in kernels(view) if row["calls"]]


def top_api_calls(view):
    total = sum(call["end"] - call["begin"] for call in view.calls if view.is_timed(call))
    rows = []
    for name, calls in grouped(view.calls, view.world.function).items():
        times = [call["end"] - call["begin"] for call in calls if view.is_timed(call)]
        if times:
            rows.append({"function": name, "calls": len(times), "total_ns": sum(times),
                         "share_percent": percent(sum(times), total)})
    return rows


def host_memory(copy):
    return None if copy["copy"] in ("DtoD", "PtoP") else "pageable" if copy["pageable"] else "pinned"


def per_second(rows):
    time = time_of(rows)
    return sum(row["bytes"] for row in rows) * 1e9 / time if time else None


def summary_copies(view):
    return [{"kind": kind, "host_memory": memory, "calls": len(rows), "bytes": sum(row["bytes"] for row in rows),
             "total_ns": time_of(rows), "achieved_bytes_per_second": per_second(rows)}
            for (kind, memory), rows in grouped(of_kind(view.timed, "copy"),
                                                lambda row: (row["copy"], host_memory(row))).items()]


def processes(view):
    return [{"process": view.world.process_name(number),
             "duration_ns": view.world.processes[number]["last"] - view.world.processes[number]["begin"]}
            for number in view.processes]


def ledger(view):
    world = view.world
    by_call = grouped(of_kind(world.work.values(), "kernel"), lambda row: row["call"])
    launches = [call for call in world.calls.values() if call["function"] == "cuLaunchKernel"]
    good = [call for call in launches if not call["result"]]
    timed = [call for call in good if any(not row["is_unfinished"] for row in by_call.get(call["id"], []))]
    captured = [call for call in good if call["captured"] and call["end"] and call not in timed]
    unfinished = [call for call in good if call not in timed and call not in captured and
                  (call["id"] in by_call or not call["end"])]
    missing = [call for call in good if call["lost"] and call["end"]]
    kernels_there = of_kind(world.work.values(), "kernel")
    classes = {"launches": len(good), "launches_timed": len(timed), "launches_unfinished": len(unfinished),
               "launches_captured": len(captured), "launches_missing": len(missing),
               "launches_refused": len(launches) - len(good),
               "graph_launches": sum(1 for call in world.calls.values() if call["function"] == "cuGraphLaunch"),
               "kernels": len(kernels_there), "kernels_without_call": 0,
               "kernels_unfinished": sum(1 for row in kernels_there if row["is_unfinished"])}
    return [{"class": name, "value": value} for name, value in classes.items()]


# Report kernels


def kernels(view):
    all_kernels = of_kind(view.work, "kernel")
    timed = of_kind(view.timed, "kernel")
    total = time_of(timed)
    firsts = first_launches(view)
    rows = []
    for name, work in grouped(all_kernels, lambda row: row["name"]).items():
        good = [row for row in work if row["is_timed"]]
        times = [row["time"] for row in good]
        later = [row["time"] for row in good if row["id"] not in firsts]
        rows.append({"kernel": name, "calls": len(good), "total_ns": sum(times) if good else None,
                     "share_percent": percent(sum(times), total) if good else None, "mean_ns": mean(times),
                     "median_ns": median(times),
                     "min_ns": least(times), "max_ns": most(times), "deviation_ns": deviation(times),
                     "shapes": len({row["kernel"] for row in good}) or None,
                     "unfinished": sum(1 for row in work if row["is_unfinished"]),
                     "profiled": sum(1 for row in work if row["profiled"]),
                     "first_calls": sum(1 for row in good if row["id"] in firsts), "later_mean_ns": mean(later),
                     "later_median_ns": median(later)})
    return rows


def first_launches(view):
    """Executions that were the first of their function in a process on a GPU."""
    found = set()
    for work in grouped(of_kind(view.timed, "kernel"),
                        lambda row: (row["name"], row["process"], row["gpu"])).values():
        found.add(min(work, key=lambda row: (row["begin"], row["id"]))["id"])
    return found


FAMILIES = {"gemm": "gemm", "axpy": "elementwise", "reduce_sum": "reduction", "softmax": "normalisation",
            "transpose": "copy-like", "tiny": "other"}


def families(view):
    timed = of_kind(view.timed, "kernel")
    total = time_of(timed)
    return [{"family": family, "calls": len(rows), "total_ns": time_of(rows),
             "share_percent": percent(time_of(rows), total), "kernels": len({row["name"] for row in rows})}
            for family, rows in grouped(timed, lambda row: FAMILIES[row["name"]]).items()]


def launch_shapes(view):
    rows = []
    for (shape, gpu), work in grouped(of_kind(view.work, "kernel"), lambda row: (row["kernel"], row["gpu"])).items():
        kernel = view.world.kernels[shape]
        good = [row for row in work if row["is_timed"]]
        if good:
            rows.append({"kernel": kernel["name"], "device": view.world.gpu_name(gpu),
                         "grid": f"{kernel['grid']}x1x1", "block": f"{kernel['threads']}x1x1", "calls": len(good),
                         "total_ns": time_of(good), "mean_ns": mean(row["time"] for row in good)})
    return rows


# Report copies


def copies(view):
    rows = []
    for (gpu, kind, memory, peer), work in grouped(
            of_kind(view.timed, "copy"),
            lambda row: (row["gpu"], row["copy"], host_memory(row), row["peer"])).items():
        rows.append({"device": view.world.gpu_name(gpu), "kind": kind,
                     "from_device": None if peer is None else view.world.gpu_name(gpu),
                     "to_device": None if peer is None else view.world.gpu_name(peer),
                     "source": memory if kind == "HtoD" else "device",
                     "destination": memory if kind == "DtoH" else "device", "calls": len(work),
                     "bytes": sum(row["bytes"] for row in work), "total_ns": time_of(work),
                     "achieved_bytes_per_second": per_second(work)})
    return rows


def fills(view):
    return [{"device": view.world.gpu_name(gpu), "memory": "device", "calls": len(work),
             "bytes": sum(row["bytes"] for row in work), "total_ns": time_of(work),
             "achieved_bytes_per_second": per_second(work)}
            for gpu, work in grouped(of_kind(view.timed, "fill"), lambda row: row["gpu"]).items()]


def sizes(view):
    def size_class(row):
        size = 4 # the first class has all that is smaller
        while size * 4 <= row["bytes"]:
            size *= 4
        return size if row["bytes"] >= 4 else 0

    return [{"device": view.world.gpu_name(gpu), "kind": kind, "host_memory": memory, "from_bytes": size,
             "below_bytes": 4 * size or 4, "calls": len(work), "bytes": sum(row["bytes"] for row in work),
             "total_ns": time_of(work), "mean_ns": mean(row["time"] for row in work),
             "achieved_bytes_per_second": per_second(work)}
            for (gpu, kind, memory, size), work in grouped(
                of_kind(view.timed, "copy"),
                lambda row: (row["gpu"], row["copy"], host_memory(row), size_class(row))).items()]


# Report api


def functions(view):
    whole = 0
    for calls in grouped(view.calls, lambda call: call["thread"]).values():
        done = [call for call in calls if call["end"]]
        if done:
            span = (min(call["begin"] for call in done), max(call["end"] for call in done))
            whole += spans.length(spans.without([span], view.held_up(calls[0]["thread"])))
    rows = []
    for name, calls in grouped(view.calls, view.world.function).items():
        times = [call["end"] - call["begin"] for call in calls if view.is_timed(call)]
        rows.append({"function": name, "calls": len(times), "total_ns": sum(times) if times else None,
                     "thread_percent": percent(sum(times), whole) if times else None, "mean_ns": mean(times),
                     "median_ns": median(times), "min_ns": least(times), "max_ns": most(times),
                     "errors": sum(1 for call in calls if call["result"] and call["end"]),
                     "unfinished": sum(1 for call in calls if not call["end"])})
    return rows


def errors(view):
    failed = [call for call in view.calls if call["result"] and call["end"]]
    return [{"function": name, "code": code, "calls": len(calls),
             "first_time_ns": min(call["begin"] for call in calls) - view.world.begin}
            for (name, code), calls in grouped(failed,
                                               lambda call: (view.world.function(call), call["result"])).items()]


# Report gaps


def gaps_devices(view):
    rows = []
    for gpu in view.gpus:
        if not all_active(view, gpu):
            continue
        window = spans.length(view.window())
        busy = spans.length(view.busy(gpu))
        gaps = view.gaps(gpu)
        used = spans.length(view.in_use(gpu))
        rows.append({"device": view.world.gpu_name(gpu), "busy_ns": busy, "busy_percent": percent(busy, window),
                     "idle_ns": window - busy, "idle_percent": percent(window - busy, window), "span_ns": used,
                     "active_ns": spans.length(view.active(gpu)), "gaps": len(gaps), "gap_ns": spans.length(gaps),
                     "gap_percent": percent(spans.length(gaps), used),
                     "mean_gap_ns": mean(end - begin for begin, end in gaps)})
    return rows


def work_after(view, gpu, gap):
    """The work that began when the gap ended, or, where the window cut it, that began next."""
    later = [row for row in view.world.work.values()
             if row["is_timed"] and row["gpu"] == gpu and row["begin"] >= gap[1]]
    return min(later, key=lambda row: row["begin"]) if later else None


def work_before(view, gpu, gap):
    earlier = [row for row in view.world.work.values()
               if row["is_timed"] and row["gpu"] == gpu and row["end"] <= gap[0]]
    return max(earlier, key=lambda row: row["end"]) if earlier else None


def causes(view, gpu, gap):
    """Activity in the gap of the thread that asked for the work after it: nanoseconds by name."""
    after = work_after(view, gpu, gap)
    before = work_before(view, gpu, gap)
    asking = view.world.calls[after["call"]]
    if before and before["call"] == after["call"]:
        return {"within one graph launch": gap[1] - gap[0]}
    found = {}
    launched = spans.both([gap], [(asking["end"], gap[1])]) if asking["end"] else []
    before_that = spans.without([gap], launched)
    for call in view.world.calls.values():
        if call["thread"] != asking["thread"]:
            continue
        name = view.world.function(call)
        if call["wait"] in SYNCHRONIZES:
            name = "waiting in " + name
        time = spans.length(spans.both(before_that, [(call["begin"], call["end"] or view.world.end)]))
        if time:
            found[name] = found.get(name, 0) + time
    rest = spans.length(before_that) - sum(found.values())
    if rest:
        found["no CUDA call"] = rest
    if launched:
        found["launched but not started"] = spans.length(launched)
    return found


def several_after(view, gpu, gap):
    """Whether several calls asked for what began first after a gap: which one it waited for is open."""
    first = work_after(view, gpu, gap)
    return any(row["is_timed"] and row["gpu"] == gpu and row["begin"] == first["begin"] and row["call"] != first["call"]
               for row in view.world.work.values())


def waited_for(view):
    rows = []
    if any(several_after(view, gpu, gap) for gpu in view.gpus for gap in view.gaps(gpu)):
        return None
    for gpu in view.gpus:
        gaps = view.gaps(gpu)
        total = spans.length(gaps)
        sums = {}
        for gap in gaps:
            for name, time in causes(view, gpu, gap).items():
                count, sofar = sums.get(name, (0, 0))
                sums[name] = (count + 1, sofar + time)
        rows += [{"device": view.world.gpu_name(gpu), "host_call": name, "gaps": count, "total_ns": time,
                  "share_percent": percent(time, total), "mean_ns": time / count}
                 for name, (count, time) in sums.items()]
    return rows


def largest_gaps(view):
    found = [(end - begin, gpu, begin) for gpu in view.gpus for begin, end in view.gaps(gpu)]
    found.sort(key=lambda gap: -gap[0])
    if len(found) > 20 and found[19][0] == found[20][0]:
        return None # which of them are shown is open
    return [{"device": view.world.gpu_name(gpu), "start_time_ns": begin - view.world.begin, "duration_ns": time}
            for time, gpu, begin in found[:20]]


def gap_sizes(view):
    rows = []
    for gpu in view.gpus:
        gaps = view.gaps(gpu)
        total = spans.length(gaps)
        for size, some in grouped(gaps, lambda gap: 10 ** (len(str(gap[1] - gap[0])) - 1)).items():
            rows.append({"device": view.world.gpu_name(gpu), "from_ns": size, "below_ns": 10 * size,
                         "gaps": len(some), "total_ns": spans.length(some),
                         "share_percent": percent(spans.length(some), total)})
    return rows


def found_idle(view, kernel):
    """Whether all work that started before it on its GPU had ended when its call was entered."""
    asked = view.world.calls[kernel["call"]]["begin"]
    return not any(row["gpu"] == kernel["gpu"] and row["is_timed"] and row is not kernel and
                   row["begin"] < kernel["begin"] and row["end"] > asked for row in view.world.work.values())


def launch_latency(view):
    rows = []
    for number in view.processes:
        mine = [row for row in of_kind(view.timed, "kernel") if row["process"] == number and row["node"] is None]
        for words, some in (("all", mine), ("found device idle", [row for row in mine if found_idle(view, row)])):
            times = [row["begin"] - view.world.calls[row["call"]]["begin"] for row in some]
            if times:
                rows.append({"process": view.world.process_name(number), "launches": words, "calls": len(times),
                             "share_percent": percent(len(times), len(mine)), "min_ns": min(times),
                             "p50_ns": nearest_rank(times, 50), "p90_ns": nearest_rank(times, 90),
                             "p99_ns": nearest_rank(times, 99), "max_ns": max(times), "mean_ns": mean(times)})
    return rows


# Report streams


def stream_spans(view, number, kinds):
    ran = [row for row in view.world.work.values() if row["is_timed"] and row["stream"] == number]
    gpu = view.world.streams[number]["gpu"]
    return view.running(gpu, kinds, ran)


def used_streams(view, gpu):
    return [number for number, row in view.world.streams.items()
            if row["gpu"] == gpu and stream_spans(view, number, GPU_WORK)]


def most_streams(view, gpu):
    """Most streams with something running at a moment."""
    ran = [stream_spans(view, number, GPU_WORK) for number in used_streams(view, gpu)]
    moments = [begin for stream in ran for begin, _ in stream]
    return max(sum(any(begin <= moment < end for begin, end in stream) for stream in ran) for moment in moments)


def streams_devices(view):
    rows = []
    for gpu in view.gpus:
        used = used_streams(view, gpu)
        if not used:
            continue
        each = [stream_spans(view, number, GPU_WORK) for number in used]
        several = spans.united(span for i, one in enumerate(each) for other in each[:i] for span in spans.both(one, other))
        copying = view.running(gpu, ("copy",))
        active = view.active(gpu)
        hidden = spans.both(copying, view.busy(gpu))
        rows.append({"device": view.world.gpu_name(gpu), "streams": len(used), "most_at_once": most_streams(view, gpu),
                     "active_ns": spans.length(active), "overlap_ns": spans.length(several),
                     "overlap_percent": percent(spans.length(several), spans.length(active)),
                     "copy_ns": spans.length(copying), "hidden_copy_ns": spans.length(hidden),
                     "hidden_copy_percent": percent(spans.length(hidden), spans.length(copying))})
    return rows


def streams(view):
    rows = []
    for number, stream in view.world.streams.items():
        mine = [row for row in view.timed if row["stream"] == number]
        gpu = stream["gpu"]
        ran = stream_spans(view, number, GPU_WORK)
        if not mine and not (ran and view.chooses_all_of(number)):
            continue
        others = spans.united(span for other in used_streams(view, gpu) if other != number
                              for span in stream_spans(view, other, GPU_WORK))
        busy = spans.length(stream_spans(view, number, ("kernel", "graph")))
        copying = stream_spans(view, number, ("copy",))
        overlap = spans.length(spans.both(ran, others))
        rows.append({"stream": str(stream["number"]), "device": view.world.gpu_name(gpu),
                     "process": view.world.process_name(stream["process"]), "priority": stream["priority"],
                     "kernels": len(of_kind(mine, "kernel")), "copies": len(of_kind(mine, "copy")),
                     "fills": len(of_kind(mine, "fill")), "busy_ns": busy,
                     "busy_percent": percent(busy, spans.length(view.window())), "copy_ns": spans.length(copying),
                     "hidden_copy_ns": spans.length(spans.both(copying, view.busy(gpu))), "overlap_ns": overlap,
                     "overlap_percent": percent(overlap, spans.length(ran))})
    return rows


# Report ranges


def chosen_ranges(view):
    world = view.world
    found = []
    for number, row in world.ranges.items():
        process = world.threads[row["thread"]]["process"]
        if not view.in_time(row["begin"]) or process not in view.processes:
            continue
        inside = set(world.inside(number, row["begin"]))
        if view.ranges_chosen is not None and not inside & view.ranges_chosen:
            continue
        found.append(number)
    return found


def range_figures(view, numbers):
    """Figures of some ranges together."""
    world = view.world
    rows = [world.ranges[number] for number in numbers]
    mine = [work for work in view.timed if world.ranges_of_work(work) & set(numbers)]
    ended = [row for row in rows if row["end"]]
    walls = [row["end"] - row["begin"] for row in ended]
    quiet = work_span = gpu_time = idle = busy = 0
    asked_about = [view.filters["gpu"]] if "gpu" in view.filters else world.gpus
    active = spans.united(span for gpu in asked_about for span in all_active(view, gpu))
    shown = 0
    for row in ended:
        wall = [(row["begin"], min(row["end"], view.to) if "to" in view.filters else row["end"])]
        shown += spans.length(wall)
        quiet += spans.length(spans.without(spans.without(wall, active), view.not_measured()))
        busy += spans.length(spans.both(wall, spans.united((work["begin"], work["end"]) for work in view.timed
                                                           if row["id"] in world.ranges_of_work(work))))
    for gpu in world.gpus:
        gpu_time += spans.length(spans.united((work["begin"], work["end"]) for work in mine if work["gpu"] == gpu))
        for number in numbers:
            span = span_of(view, number, gpu)
            work_span += spans.length(span)
            idle += spans.length(spans.without(spans.without(span, all_active(view, gpu)), view.not_measured()))
    copied = of_kind(mine, "copy")
    kernels_there = of_kind(mine, "kernel")
    return {"ranges": len(rows), "wall_ns": sum(walls) if walls else None, "mean_ns": mean(walls),
            "median_ns": median(walls), "min_ns": least(walls), "max_ns": most(walls),
            "p95_ns": nearest_rank(walls, 95), "quiet_percent": percent(quiet, shown), "gpu_ns": gpu_time,
            "span_ns": work_span or None, "busy_percent": percent(busy, shown),
            "idle_ns": idle if work_span else None, "kernels": len(kernels_there),
            "captured": sum(1 for work in kernels_there if not world.ranges_of_launch(work) & set(numbers)),
            "copies": len(copied), "copied_bytes": sum(work["bytes"] for work in copied),
            "fills": len(of_kind(mine, "fill")), "open": len(rows) - len(ended)}


def span_of(view, number, gpu):
    """From the first start to the last end of what was launched in a range, on a GPU."""
    mine = [work for work in view.timed if work["gpu"] == gpu and number in view.world.ranges_of_launch(work)]
    return [(min(work["begin"] for work in mine), max(work["end"] for work in mine))] if mine else []


def all_active(view, gpu):
    return spans.united((row["begin"], row["end"]) for row in view.world.work.values()
                        if row["is_timed"] and row["gpu"] == gpu)


def of_gpus(column):
    return column in ("quiet_percent", "busy_percent", "captured", "kernels", "copies", "copied_bytes", "fills") or \
        column.startswith(("gpu_", "idle_"))


def known_alone(view, row):
    """Where no GPU did anything, nothing of GPUs is known."""
    return row if view.world.work else {column: None if of_gpus(column) else value for column, value in row.items()}


def ranges(view):
    return [{"range": path, **known_alone(view, range_figures(view, numbers))}
            for path, numbers in grouped(chosen_ranges(view), view.world.path).items()]


def marks(view):
    world = view.world

    def around(mark):
        """Ranges of its thread, and those of other threads that these are for."""
        own = world.open_on(mark["thread"], mark["at"])
        return world.inside(own[-1], mark["at"]) if own else []

    chosen = [row for row in world.marks.values()
              if view.in_time(row["at"]) and world.threads[row["thread"]]["process"] in view.processes and
              (view.ranges_chosen is None or set(around(row)) & view.ranges_chosen)]
    return [{"mark": name, "marks": len(rows), "first_time_ns": min(row["at"] for row in rows) - world.begin,
             "last_time_ns": max(row["at"] for row in rows) - world.begin}
            for name, rows in grouped(chosen, lambda row: row["name"]).items()]


# Report waits

HOST_WAITS = ("stream synchronize", "context synchronize", "event synchronize", "blocking copy", "blocking free")
AT_ONCE_NS = 20000
CLOCK_BOUND_NS = 50 # so much the clocks of host and GPU may differ, as record.c says


def waits(view):
    rows = []
    for kind, calls in grouped([call for call in view.calls if call["wait"]], lambda call: call["wait"]).items():
        times = [call["end"] - call["begin"] for call in calls if call["end"]]
        rows.append({"kind": kind, "calls": len(calls), "host_waits": "yes" if kind in HOST_WAITS else "no",
                     "total_ns": sum(times) if times else None, "mean_ns": mean(times), "median_ns": median(times),
                     "max_ns": most(times), "failed": sum(1 for call in calls if call["result"] and call["end"]),
                     "unfinished": len(calls) - len(times)})
    return rows


def host_waits(view):
    return [call for call in view.calls if call["wait"] in HOST_WAITS and call["end"]]


def awaited_gpu(view, call):
    """The GPU that a call waited for."""
    if call["wait"] == "blocking free":
        return view.world.blocks[call["block"]]["gpu"]
    streams = view.awaited_streams(call)
    return view.world.streams[streams[0]]["gpu"] if streams else None


def awaited_work(view, call):
    """All that was on the streams that a call waited for, when it was entered."""
    world = view.world
    if call["wait"] == "event synchronize":
        record = view.record_of(call)
        streams, before = [record["stream"]], record["begin"]
    else:
        streams, before = view.awaited_streams(call), call["begin"]
    return [work for work in world.work.values() if work["stream"] in streams and
            (world.calls[work["call"]]["begin"] < before or work["call"] == call["id"])]


def is_at_once(view, call):
    if call["wait"] == "blocking free" or call["end"] - call["begin"] >= AT_ONCE_NS:
        return False # which work a free waited for is not known
    return all(work["end"] is not None and work["end"] <= call["begin"] for work in awaited_work(view, call))


def meanwhile_of(view, calls):
    """What GPUs did while the host waited for them: (kernels, nothing but copies and fills, nothing)."""
    busy = copying = idle = 0
    for call in calls:
        gpu = awaited_gpu(view, call)
        if gpu is None:
            continue
        span = spans.without([(call["begin"], call["end"])], view.not_measured())
        ran, active = all_busy(view, gpu), all_active(view, gpu)
        busy += spans.length(spans.both(span, ran))
        copying += spans.length(spans.both(span, spans.without(active, ran)))
        idle += spans.length(spans.without(span, active))
    return busy, copying, idle


def all_busy(view, gpu):
    return spans.united((row["begin"], row["end"]) for row in view.world.work.values()
                        if row["is_timed"] and row["gpu"] == gpu and row["kind"] in ("kernel", "graph"))


def blocked(view):
    rows = []
    for name, calls in grouped(host_waits(view), view.world.function).items():
        busy, _, idle = meanwhile_of(view, calls)
        times = [call["end"] - call["begin"] for call in calls]
        known = any(awaited_gpu(view, call) is not None for call in calls)
        rows.append({"function": name, "calls": len(calls), "blocked_ns": sum(times), "idle_ns": idle if known else None,
                     "at_once": sum(1 for call in calls if is_at_once(view, call)) if known else None,
                     "busy_ns": busy if known else None, "max_ns": max(times)})
    return rows


def all_host_waits(view, gpu):
    """For a GPU, whatever the filter, those that began first before others."""
    calls = [call for call in view.world.calls.values() if call["wait"] in HOST_WAITS and call["end"]]
    return sorted((call for call in calls if awaited_gpu(view, call) == gpu), key=lambda call: call["begin"])


def emptied_by(view, gpu):
    """The waits in which a GPU ran out of work, and what came next was asked for after them: {gap: the first of them}. Time not
    measured ends a gap, and begins none."""
    world = view.world
    found = {}
    calls = all_host_waits(view, gpu)
    work = [row for row in world.work.values() if row["is_timed"] and row["gpu"] == gpu]
    held = view.not_measured()
    active = spans.united(all_active(view, gpu) + held)
    for (begin, end), (following, _) in zip(active, active[1:]):
        if any(end == until for _, until in held):
            continue
        asked = min([world.calls[row["call"]]["begin"] for row in work if row["begin"] == following] +
                    [begin for begin, _ in held if begin == following])
        emptied = [call for call in calls if call["begin"] < end <= call["end"] + CLOCK_BOUND_NS and
                   begin <= call["end"] <= asked]
        if emptied:
            found[end, following] = emptied[0]
    return found


def meanwhile(view):
    rows = []
    for gpu, calls in grouped(host_waits(view), lambda call: awaited_gpu(view, call)).items():
        if gpu is None:
            continue
        busy, copying, idle = meanwhile_of(view, calls)
        total = sum(call["end"] - call["begin"] for call in calls)
        rows.append({"device": view.world.gpu_name(gpu), "calls": len(calls), "blocked_ns": total, "busy_ns": busy,
                     "copying_ns": copying, "idle_ns": idle, "idle_percent": percent(idle, total)})
        if all(row["begin"] != row["end"] for row in view.world.work.values() if row["is_timed"]):
            gaps = [gap for gap, call in emptied_by(view, gpu).items() if call in calls]
            rows[-1]["emptied"] = len(gaps)
            rows[-1]["gap_ns"] = spans.length(gaps)
    return rows


def events(view):
    if view.filters:
        return None # they stay with their process
    rows = []
    for process, calls in grouped([call for call in view.calls if call["event"] is not None],
                                  view.world.process_of_call).items():
        records = [call for call in calls if call["wait"] == "event record"]
        rows.append({"process": view.world.process_name(process), "events": len({call["event"] for call in calls}),
                     "records": len(records), "waits": len(calls) - len(records), "queries": 0})
    return rows


# Report memory


def block_lives(view, blocks):
    """When each of some blocks was there: (from, to or None, bytes)."""
    calls = view.world.calls
    return [(calls[row["made"]]["end"], calls[row["freed"]]["begin"] if row["freed"] is not None else None,
             row["bytes"]) for row in blocks if not calls[row["made"]]["result"]]


def block_figures(view, blocks):
    lives = block_lives(view, blocks)

    def held(moment):
        return sum(size for begin, end, size in lives if begin <= moment and (end is None or end > moment))

    moments = sorted({begin for begin, _, _ in lives})
    peak = max((held(moment) for moment in moments), default=0)
    kept = [life for life in lives if life[1] is None]
    seconds = spans.length(view.window()) / 1e9
    frees = len(lives) - len(kept)
    return {"peak_bytes": peak,
            "peak_time_ns": next((moment - view.world.begin for moment in moments if held(moment) == peak), None),
            "now_bytes": sum(size for _, _, size in kept), "allocations": len(lives),
            "allocated_bytes": sum(size for _, _, size in lives), "largest_bytes": most([life[2] for life in lives] or [0]),
            "frees": frees, "calls_per_second": (len(lives) + frees) / seconds,
            "allocated_bytes_per_second": sum(size for _, _, size in lives) / seconds, "kept": len(kept),
            "kept_bytes": sum(size for _, _, size in kept)}


MEMORY_BYTES = 150000000000


def memory_devices(view):
    rows = []
    if view.filters:
        return None
    blocks = [row for row in view.world.blocks.values() if row["gpu"] is not None]
    for gpu, some in grouped(blocks, lambda row: row["gpu"]).items():
        figures = block_figures(view, some)
        failed = sum(1 for row in some if view.world.calls[row["made"]]["result"])
        rows.append({"device": view.world.gpu_name(gpu), **figures, "failed": failed,
                     "peak_percent": percent(figures["peak_bytes"], MEMORY_BYTES)})
    return rows


def memory_kinds(view):
    if view.filters:
        return None
    rows = []
    for (gpu, process), some in grouped(view.world.blocks.values(), lambda row: (row["gpu"], row["process"])).items():
        if any(not view.world.calls[row["made"]]["result"] for row in some):
            rows.append({"memory": "pinned memory" if gpu is None else "device memory",
                         "device": None if gpu is None else view.world.gpu_name(gpu),
                         "process": view.world.process_name(process), **block_figures(view, some)})
    return rows


def failures(view):
    if view.filters:
        return None
    calls = view.world.calls
    rows = []
    for row in view.world.blocks.values():
        call = calls[row["made"]]
        if not call["result"]:
            continue
        live = [life for life in block_lives(view, [other for other in view.world.blocks.values()
                                                    if other["gpu"] == row["gpu"]])
                if life[0] < call["begin"] and (life[1] is None or life[1] > call["begin"])]
        rows.append({"time_ns": call["begin"] - view.world.begin, "size_bytes": row["bytes"],
                     "call": view.world.function(call),
                     "live_bytes": sum(life[2] for life in live) if row["gpu"] is not None else None,
                     "device": None if row["gpu"] is None else view.world.gpu_name(row["gpu"])})
    return rows


# Report graphs


def share(view):
    rows = []
    timed = of_kind(view.timed, "kernel")
    for words, inside in (("in graphs", True), ("one by one", False)):
        work = [row for row in view.timed if (row["exec"] is not None) == inside]
        mine = of_kind(work, "kernel")
        rows.append({"asked_for": words, "kernels": len(mine), "kernels_percent": percent(len(mine), len(timed)),
                     "kernel_ns": time_of(mine), "kernel_ns_percent": percent(time_of(mine), time_of(timed)),
                     "copies": len(of_kind(work, "copy")), "fills": len(of_kind(work, "fill"))})
    return rows


FIRST_GRAPH = 5
FIRST_EXEC = 105


def graph_runs(view):
    if view.filters:
        return None
    world = view.world
    rows = []
    for number, row in world.execs.items():
        launches = [call for call in world.calls.values() if call["exec"] == number and
                    call["function"] == "cuGraphLaunch"]
        ran = grouped([work for work in view.timed if work["exec"] == number], lambda work: work["call"])
        by_node = [works for works in ran.values() if works[0]["kind"] == "kernel"]
        whole = [works for works in ran.values() if works[0]["kind"] == "graph"]
        if not ran or (by_node and whole):
            continue # of those that were sampled the doc leaves open which launches a figure is of
        spans_of = [(min(work["begin"] for work in works), max(work["end"] for work in works))
                    for works in ran.values()]
        active = [spans.length(spans.united((work["begin"], work["end"]) for work in works)) for works in ran.values()]
        entry = {"exec": str(FIRST_EXEC + number), "process": world.process_name(row["process"]),
                 "launches": len(launches), "launch_ns": mean(call["end"] - call["begin"] for call in launches if call["end"]),
                 "span_ns": mean(end - begin for begin, end in spans_of)}
        if by_node:
            entry.update({"busy_ns": mean(active), "gap_ns": mean(end - begin - time for (begin, end), time
                                                                  in zip(spans_of, active)),
                          "total_ns": sum(active)})
        rows.append(entry)
    return rows


def graph_execs(view):
    if view.filters:
        return None
    world = view.world
    return [{"exec": str(FIRST_EXEC + number), "process": world.process_name(row["process"]), "nodes": len(row["nodes"]),
             "instantiate_ns": world.calls[row["instantiate"]]["end"] - world.calls[row["instantiate"]]["begin"],
             "uploads": 0, "updates": 0, "sets": 0}
            for number, row in world.execs.items() if world.calls[row["instantiate"]]["end"]]


def graph_nodes(view):
    if view.filters:
        return None
    rows = []
    for (number, node), work in grouped([row for row in view.timed if row["node"] is not None],
                                        lambda row: (row["exec"], row["node"])).items():
        launches = {row["call"] for row in view.timed if row["exec"] == number and row["node"] is not None}
        rows.append({"exec": str(FIRST_EXEC + number), "node": str(0x9000 + 8 * number + node), "type": "kernel",
                     "runs": len(work), "per_launch": len(work) / len(launches),
                     "mean_ns": mean(row["time"] for row in work), "total_ns": time_of(work),
                     "kernel": work[0]["name"]})
    return rows


# Report ops


def operation_of(view, call):
    """The innermost operation of PyTorch that a call was made in: its range, or None. Nothing by time alone."""
    return next((number for number in view.world.chain_of_call(call, sure=True)
                 if not view.world.is_of_program(number)), None)


def operation_name(row):
    """(its name, forward or backward) by the text of its range."""
    name = row["name"].split(",")[0]
    return name, "backward" if "Backward" in name else "forward"


def host_of_operations(view, numbers):
    """On their threads: time in which one of these was the operation begun last, what of it was in calls, and in which any was
    open. Those that never ended are left out of all three."""
    world = view.world
    ended = {number: (row["begin"], row["end"]) for number, row in world.ranges.items()
             if row["sequence"] is not None and row["end"]}
    own_wall = own_api = wall = 0
    for thread, there in grouped([number for number in ended], lambda number: world.ranges[number]["thread"]).items():
        later = lambda number: [ended[other] for other in there if ended[other][0] > ended[number][0] or
                                ended[other][0] == ended[number][0] and other > number]
        own = spans.united(span for number in there if number in numbers
                           for span in spans.without([ended[number]], spans.united(later(number))))
        own_wall += spans.length(own)
        own_api += spans.length(spans.both(own, in_calls(view, thread)))
        wall += spans.length(spans.united(ended[number] for number in there if number in numbers))
    if not numbers & ended.keys():
        return {"own_wall_ns": None, "own_api_ns": None, "wall_ns": None}
    return {"own_wall_ns": own_wall, "own_api_ns": own_api if world.calls else None, "wall_ns": wall}


def ops(view):
    world = view.world
    if view.filters or world.execs:
        return None # of what graphs run calls are launches
    inner = {work["id"]: operation_of(view, world.calls[work["call"]]) for work in view.timed}
    within = {work["id"]: set() if inner[work["id"]] is None else
              set(world.chain_of_call(world.calls[work["call"]], sure=True)) for work in view.timed}
    total = time_of(view.timed)
    by_name = grouped([row for row in world.ranges.values() if row["sequence"] is not None], operation_name)
    rows = []
    for (name, direction), ranges_there in by_name.items():
        numbers = {row["id"] for row in ranges_there}
        own = [work for work in view.timed if inner[work["id"]] in numbers]
        inside = {work["id"]: within[work["id"]] & numbers for work in view.timed}
        each = [sum(work["time"] for work in view.timed if number in inside[work["id"]]) for number in numbers]
        rows.append({"op": name, "direction": direction, "calls": len(numbers), "own_ns": time_of(own),
                     "share_percent": percent(time_of(own), total),
                     "inclusive_ns": time_of([work for work in view.timed if inside[work["id"]]]),
                     "mean_ns": mean(each), "median_ns": median(each), "min_ns": least(each), "max_ns": most(each),
                     "launches": len(own), "launches_each": len(own) / len(numbers), **host_of_operations(view, numbers)})
    return rows


# The same in other reports


def overlaps(view):
    rows = []
    if "kernel" in view.filters or "range" in view.filters:
        return None # which pairs are shown is open
    chosen = {number for number in view.world.streams if view.chooses_all_of(number)}
    for gpu in view.gpus:
        used = used_streams(view, gpu)
        for i, one in enumerate(used):
            for other in used[:i]:
                first, second = (stream_spans(view, number, GPU_WORK) for number in (one, other))
                time = spans.length(spans.both(first, second))
                if time and {one, other} & chosen:
                    rows.append({"overlap_ns": time, "percents": both_percents(percent(time, spans.length(first)),
                                                                               percent(time, spans.length(second)))})
    return rows if len(rows) <= 20 else None


def both_percents(one, other):
    """Which of two streams is the one is open."""
    return " ".join(sorted((f"{one:.3f}", f"{other:.3f}")))


def first_launch_figures(view):
    firsts = first_launches(view)
    rows = []
    for name, work in grouped(of_kind(view.timed, "kernel"), lambda row: row["name"]).items():
        first = [row["time"] for row in work if row["id"] in firsts]
        later = [row["time"] for row in work if row["id"] not in firsts]
        rows.append({"kernel": name, "first_calls": len(first), "first_ns": mean(first),
                     "later_median_ns": median(later)})
    return rows


def shapes_on_gpus(view):
    """Rows of the tables that have one for each launch shape on each GPU."""
    return [{key: row[key] for key in ("kernel", "device", "grid", "block", "calls", "total_ns")}
            for row in launch_shapes(view)]


def counted_kernels(view):
    """Kernels that ended; how long profiled ones ran is what their counters say."""
    return [{**row, "time": row["lasted"] if row["profiled"] else row["time"]}
            for row in of_kind(view.work, "kernel") if not row["is_unfinished"]]


def kernels_on_gpus(view):
    return [{"kernel": name, "device": view.world.gpu_name(gpu), "calls": len(work), "total_ns": time_of(work)}
            for (name, gpu), work in grouped(counted_kernels(view), lambda row: (row["name"], row["gpu"])).items()]


def kernel_times(view):
    if view.filters:
        return None # the path goes over other work, too
    return [{"kernel": name, "calls": len(work), "total_ns": time_of(work)}
            for name, work in grouped(of_kind(view.timed, "kernel"), lambda row: row["name"]).items()]


def gpu_times(view):
    return [{"device": view.world.gpu_name(gpu), "total_ns": time_of(work)}
            for gpu, work in grouped(counted_kernels(view), lambda row: row["gpu"]).items()]


def path_lengths(view):
    """From the first to the last thing known of a process; its path explains all of it."""
    if view.filters:
        return None
    return [{"process": view.world.process_name(number)} for number in view.processes
            if any(view.world.process_of_call(call) == number for call in view.calls)]


def each_range(view):
    world = view.world
    rows = []
    for path, numbers in grouped(chosen_ranges(view), world.path).items():
        figures_of = {number: range_figures(view, [number]) for number in numbers}
        gpu = [figures_of[number]["gpu_ns"] for number in numbers]
        idle = [figures_of[number]["idle_ns"] or 0 for number in numbers]
        walls = [figures_of[number]["wall_ns"] for number in numbers if figures_of[number]["wall_ns"] is not None]
        rows.append({"range": path, "ranges": len(numbers),
                     "kernels": mean(figures_of[number]["kernels"] for number in numbers), "gpu_mean_ns": mean(gpu),
                     "gpu_median_ns": median(gpu), "gpu_min_ns": min(gpu), "gpu_max_ns": max(gpu),
                     "gpu_p95_ns": nearest_rank(gpu, 95), "gpu_deviation_ns": deviation(gpu),
                     "idle_mean_ns": mean(idle), "idle_median_ns": median(idle), "idle_max_ns": max(idle),
                     "wall_mean_ns": mean(walls), "wall_median_ns": median(walls), "wall_deviation_ns": deviation(walls)})
    return [known_alone(view, row) for row in rows]


def blocked_ranges(view):
    """Waits of the host by the innermost range around them."""
    rows = []
    innermost = {}
    for call in host_waits(view):
        number = view.world.innermost(call)
        if number is not None:
            innermost.setdefault(view.world.path(number), []).append(call)
    for path, calls in innermost.items():
        times = [call["end"] - call["begin"] for call in calls]
        busy, _, idle = meanwhile_of(view, calls)
        rows.append({"range": path, "calls": len(calls), "blocked_ns": sum(times), "max_ns": max(times),
                     "busy_ns": busy, "idle_ns": idle})
    return rows if len(rows) <= 20 else None


def waited_on(view):
    def what(call):
        stream = view.record_of(call)["stream"] if call["wait"] == "event synchronize" else call["stream"]
        if call["wait"] in ("context synchronize", "blocking free"):
            stream = None
        return call["thread"], call["wait"], stream, call["event"]

    rows = []
    for (thread, kind, stream, event), calls in grouped(host_waits(view), what).items():
        total = sum(call["end"] - call["begin"] for call in calls)
        rows.append({"thread": view.world.thread_name(thread), "kind": kind, "calls": len(calls), "total_ns": total,
                     "max_ns": max(call["end"] - call["begin"] for call in calls),
                     "thread_percent": percent(spans.length(spans.both(
                         spans.united((call["begin"], call["end"]) for call in calls), view.window())),
                                               spans.length(view.window()))})
    return rows if len(rows) <= 20 else None


# Report advice: rules whose thresholds and estimates its page states whole

MILLISECOND = 1000000


def left_alone(view):
    """Nothing ran for half of the time in use, half of that in gaps over 1 ms."""
    for gpu in view.gpus:
        used, gaps = spans.length(view.in_use(gpu)), view.gaps(gpu)
        long = [gap for gap in gaps if gap[1] - gap[0] >= MILLISECOND]
        if used and 2 * spans.length(gaps) >= used and 2 * spans.length(long) >= spans.length(gaps):
            yield view.world.gpu_name(gpu), spans.length(long)


def late_start(view):
    """Nothing to do for the first 30 percent of the recording."""
    for gpu in view.gpus:
        used = view.in_use(gpu)
        before = spans.without(view.window(), [(used[0][0], view.to)]) if used else []
        if used and 10 * spans.length(before) >= 3 * spans.length(view.window()):
            yield view.world.gpu_name(gpu), None


def failed_calls(view):
    if any(call["result"] and call["end"] for call in view.calls):
        yield None, None


def out_of_memory(view):
    for gpu in view.gpus:
        if any(row["gpu"] == gpu and view.world.calls[row["made"]]["result"] for row in view.world.blocks.values()):
            yield view.world.gpu_name(gpu), None


RULES = {"left_alone": left_alone, "late_start": late_start, "failed_calls": failed_calls, "out_of_memory": out_of_memory}


def kernels_by_stream(view):
    world = view.world
    return [{"stream": str(number), "calls": len(work), "total_ns": time_of(work)}
            for number, work in grouped(of_kind(view.timed, "kernel"),
                                        lambda row: world.streams[row["stream"]]["number"]).items()]


def kernels_by_range(view):
    """Kernels by the path of the innermost range that they were asked for in; in none: no name."""
    world = view.world

    def innermost(work):
        number = world.innermost(world.calls[work["call"]])
        return "(in no range)" if number is None else world.path(number)

    if any(work["node"] is not None for work in view.timed):
        return None # asked for in two places
    return [{"range": path, "calls": len(work), "total_ns": time_of(work)}
            for path, work in grouped(of_kind(view.timed, "kernel"), innermost).items()]


# Report steps


def step_groups(view):
    """Steps of each process in order of their begin, and their path; None: not worked out here."""
    world = view.world
    if any(re.search(r"\d", row["name"]) for row in world.ranges.values()):
        return None  # names that differ in numbers alone may be one
    numbers = [number for number in chosen_ranges(view) if world.ranges[number]["end"] and
               (view.ranges_chosen is None or number in view.ranges_chosen)]
    least_count = 5 if view.ranges_chosen is None else 1
    if view.ranges_chosen is None:
        numbers = [number for number in numbers if world.is_of_program(number)]
    paths = {path: rows for path, rows in grouped(numbers, world.path).items() if len(rows) >= least_count}
    took = {path: sum(world.ranges[number]["end"] - world.ranges[number]["begin"] for number in rows) for path, rows in paths.items()}
    longest = [path for path in took if took[path] == max(took.values())]
    if len(longest) > 1:
        return None
    rows = sorted(paths[longest[0]], key=lambda number: world.ranges[number]["begin"]) if longest else []
    return longest, grouped(rows, lambda number: world.threads[world.ranges[number]["thread"]]["process"])


def in_calls(view, thread):
    return spans.united((call["begin"], call["end"] or view.world.end) for call in view.world.calls.values() if call["thread"] == thread)


def peak_during(view, process, begin, end):
    lives = block_lives(view, [row for row in view.world.blocks.values() if row["gpu"] is not None and row["process"] == process])
    return max(sum(size for there, gone, size in lives if there <= moment and (gone is None or gone > moment))
               for moment in [begin, *(there for there, _, _ in lives if begin < there <= end)])


def step_figures(view, number, process):
    world = view.world
    row, figures = world.ranges[number], range_figures(view, [number])
    shown = [(row["begin"], min(row["end"], view.to) if "to" in view.filters else row["end"])]
    length = spans.length(shown)
    return {"start_time_ns": row["begin"] - world.begin, "wall_ns": row["end"] - row["begin"], "shown": length,
            "busy_ns": round((figures["busy_percent"] or 0) * length / 100), "quiet_ns": round((figures["quiet_percent"] or 0) * length / 100),
            "host_ns": spans.length(spans.without(shown, in_calls(view, row["thread"]))), "gpu_ns": figures["gpu_ns"],
            "kernels": figures["kernels"], "copies": figures["copies"], "copied_bytes": figures["copied_bytes"],
            "peak_bytes": peak_during(view, process, row["begin"], row["end"])
            if any(not world.calls[block["made"]]["result"] for block in world.blocks.values()) else None}


def known_steps(view, row):
    if not view.world.work:
        row.update({column: None for column in ("busy_percent", "quiet_percent", "busy_ns", "quiet_ns", "gpu_ns", "kernels", "copies",
                                                "copied_bytes") if column in row})
    return row


def steps_by_process(view):
    """Path, process and figures of its steps; None: not worked out here."""
    found = step_groups(view)
    if found is None:
        return None
    longest, groups = found
    return [(longest[0], process, [step_figures(view, number, process) for number in numbers]) for process, numbers in groups.items()]


def each_step(view):
    groups = steps_by_process(view)
    return None if groups is None else [
        known_steps(view, {"step": place + 1, "times": row["wall_ns"] / math.floor(median([other["wall_ns"] for other in figures])),
                           "process": view.world.process_name(process), **{name: row[name] for name in row if name != "shown"}})
        for _, process, figures in groups for place, row in enumerate(figures)]


def steps(view):
    groups = steps_by_process(view)
    if groups is None:
        return None
    rows = []
    for path, process, figures in groups:
        walls = [row["wall_ns"] for row in figures]
        shown = sum(row["shown"] for row in figures)
        rows.append(known_steps(view, {
            "steps": len(figures), "mean_ns": mean(walls), "deviation_ns": deviation(walls), "median_ns": median(walls),
            "p95_ns": nearest_rank(walls, 95), "min_ns": min(walls), "max_ns": max(walls),
            "busy_percent": percent(sum(row["busy_ns"] for row in figures), shown),
            "quiet_percent": percent(sum(row["quiet_ns"] for row in figures), shown),
            "host_percent": percent(sum(row["host_ns"] for row in figures), shown),
            "kernels": mean(row["kernels"] for row in figures), "process": view.world.process_name(process), "range": path}))
    return rows


# Report startup

STARTUP_PARTS = (("loading code", ()), ("making graphs", ("cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate")),
                 ("allocating memory", ("cudaMalloc", "cudaFree", "cudaHostAlloc")),
                 ("copying and filling", ("cudaMemcpy", "cudaMemset")), ("launching", ("cuLaunchKernel", "cuGraphLaunch")),
                 ("other CUDA calls", ("cudaEventRecord", "cudaStreamWaitEvent")), ("waiting for a GPU", ("",)))


def startup_ends(view):
    """By process: when its start-up ends, its walls of steps, their median and the number of the steady one; None: not worked
    out here."""
    found = step_groups(view)
    if found is None or view.filters:
        return None
    world, ends = view.world, {}
    for process in view.processes:
        steps = found[1].get(process, [])
        walls = [world.ranges[number]["end"] - world.ranges[number]["begin"] for number in steps]
        kernels = [row["begin"] for row in of_kind(world.work.values(), "kernel")
                   if not row["is_unfinished"] and world.streams[row["stream"]]["process"] == process]
        middle = math.floor(median(walls)) if walls else None
        steady = next((place for place, wall in enumerate(walls) if wall - middle <= middle // 5), len(walls) - 1) if walls else None
        begin = world.ranges[steps[steady]]["begin"] if steps else min(kernels, default=world.processes[process]["last"])
        ends[process] = begin, walls, middle, steady
    return found[0], ends


def startups(view):
    found = startup_ends(view)
    if found is None:
        return None
    return [{"startup_ns": end - view.world.processes[process]["begin"], "before_ns": None, "steps": steady,
             "first_step_ns": walls[0] if walls else None, "median_ns": middle, "process": view.world.process_name(process)}
            for process, (end, walls, middle, steady) in found[1].items()]


def startup_parts(view):
    found = startup_ends(view)
    if found is None:
        return None
    world, rows = view.world, []
    for process, (end, _, _, _) in found[1].items():
        begin = world.processes[process]["begin"]
        calls = sorted((call for call in world.calls.values()
                        if world.threads[call["thread"]]["process"] == process and call["begin"] < end),
                       key=lambda call: (call["begin"], call["id"]))
        parts = {"making contexts": calls[:1]}
        for call in calls[1:]:
            part = next(part for part, names in STARTUP_PARTS if any(call["function"].startswith(name) for name in names) and
                        (part != "waiting for a GPU" or "Synchronize" in call["function"]))
            parts.setdefault(part, []).append(call)
        left = [(begin, end)]
        for part in ("making contexts", *(part for part, _ in STARTUP_PARTS)):
            there = spans.both(left, spans.united((call["begin"], call["end"] or end) for call in parts.get(part, [])))
            left = spans.without(left, there)
            rows.append((process, part, spans.length(there), len(parts.get(part, []))))
        first = [(begin, calls[0]["begin"])] if calls else []
        rows.append((process, "from cuInit to its first recorded call", spans.length(spans.both(left, first)), None))
        rows.append((process, "in no CUDA call", spans.length(spans.without(left, first)), None))
    return [{"wall_ns": wall, "share_percent": percent(wall, found[1][process][0] - world.processes[process]["begin"]), "calls": count,
             "part": part, "process": world.process_name(process)} for process, part, wall, count in rows if wall]


# (report, table): the function, and the columns that tell its rows apart
TABLES = {
    ("startup", "startup"): (startups, ("process",)),
    ("startup", "parts"): (startup_parts, ("part", "process")),
    ("summary", "recording"): (recording, ()),
    ("summary", "devices"): (summary_devices, ("device",)),
    ("summary", "top_kernels"): (top_kernels, ("kernel",)),
    ("summary", "families"): (families, ("family",)),
    ("summary", "top_api_calls"): (top_api_calls, ("function",)),
    ("summary", "copies"): (summary_copies, ("kind", "host_memory")),
    ("summary", "processes"): (processes, ("process",)),
    ("summary", "ledger"): (ledger, ("class",)),
    ("kernels", "kernels"): (kernels, ("kernel",)),
    ("kernels", "families"): (families, ("family",)),
    ("kernels", "launch_shapes"): (launch_shapes, ("kernel", "device", "grid", "block")),
    ("copies", "copies"): (copies, ("device", "kind", "source", "destination", "to_device")),
    ("copies", "fills"): (fills, ("device", "memory")),
    ("copies", "sizes"): (sizes, ("device", "kind", "host_memory", "from_bytes")),
    ("api", "functions"): (functions, ("function",)),
    ("api", "errors"): (errors, ("function", "code")),
    ("gaps", "devices"): (gaps_devices, ("device",)),
    ("gaps", "waited_for"): (waited_for, ("device", "host_call")),
    ("gaps", "largest_gaps"): (largest_gaps, ("device", "start_time_ns")),
    ("gaps", "gap_sizes"): (gap_sizes, ("device", "from_ns")),
    ("gaps", "launch_latency"): (launch_latency, ("process", "launches")),
    ("streams", "devices"): (streams_devices, ("device",)),
    ("streams", "streams"): (streams, ("stream", "device", "process")),
    ("ranges", "ranges"): (ranges, ("range",)),
    ("ranges", "marks"): (marks, ("mark",)),
    ("streams", "overlaps"): (overlaps, ("overlap_ns", "percents")),
    ("kernels", "first_launches"): (first_launch_figures, ("kernel",)),
    ("occupancy", "occupancy"): (shapes_on_gpus, ("kernel", "device", "grid", "block")),
    ("bandwidth", "kernels"): (kernels_on_gpus, ("kernel", "device")),
    ("bandwidth", "devices"): (gpu_times, ("device",)),
    ("roofline", "kernels"): (kernels_on_gpus, ("kernel", "device")),
    ("critical-path", "kernels"): (kernel_times, ("kernel",)),
    ("critical-path", "paths"): (path_lengths, ("process",)),
    ("ranges", "each"): (each_range, ("range",)),
    ("waits", "blocked_ranges"): (blocked_ranges, ("range",)),
    ("waits", "waited_on"): (waited_on, ("thread", "kind", "total_ns", "max_ns")),
    ("kernels", "by_stream"): (kernels_by_stream, ("stream",)),
    ("kernels", "by_range"): (kernels_by_range, ("range",)),
    ("ops", "ops"): (ops, ("op", "direction")),
    ("waits", "waits"): (waits, ("kind",)),
    ("waits", "blocked"): (blocked, ("function",)),
    ("waits", "meanwhile"): (meanwhile, ("device",)),
    ("waits", "events"): (events, ("process",)),
    ("memory", "devices"): (memory_devices, ("device",)),
    ("memory", "memory"): (memory_kinds, ("memory", "device", "process")),
    ("memory", "failures"): (failures, ("time_ns",)),
    ("graphs", "share"): (share, ("asked_for",)),
    ("graphs", "runs"): (graph_runs, ("exec", "process")),
    ("graphs", "execs"): (graph_execs, ("exec", "process")),
    ("graphs", "nodes"): (graph_nodes, ("exec", "node")),
    ("steps", "steps"): (steps, ("process",)),
    ("steps", "each_step"): (each_step, ("process", "step")),
}

# Tables that show some rows of all: those that are there have to be right, and as many as this or all
TOP = {("summary", "top_kernels"): 5, ("summary", "top_api_calls"): 5, ("steps", "each_step"): 10}
# Tables of which others have classes, columns and rows that are not worked out here
SOME = {("summary", "ledger"), ("kernels", "launch_shapes"), ("graphs", "runs"), ("graphs", "execs"),
        ("bandwidth", "devices"), ("occupancy", "occupancy")}
