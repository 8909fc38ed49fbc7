# SPDX-License-Identifier: Apache-2.0
"""A strict reader of Prometheus' text format, by its grammar and by what node_exporter's textfile collector wants of a file.

Written from the description of the format, not from the code that writes it. parse(text) returns {name: Metric}; a Wrong says what is wrong.
"""
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
ESCAPES = {"\\": "\\", "n": "\n", '"': '"'}
UNITS = ("_seconds_total", "_bytes_total", "_joules_total", "_total", "_bytes", "_info", "_running", "_status", "_recorded", "_paused")


class Wrong(Exception):
    pass


class Metric:
    def __init__(self, name, text):
        self.name, self.help, self.type, self.series = name, text, None, {}

    def values(self, *labels):
        """{values of these labels: value}, where they tell all series apart; of one label they are no tuples."""
        found = {}
        for key, value in self.series.items():
            known = dict(key)
            place = tuple(known.get(label) for label in labels)
            place = place[0] if len(labels) == 1 else place
            if place in found:
                raise Wrong(f"{self.name}: two series with {place}")
            found[place] = value
        return found

    def only(self):
        value, = self.series.values()
        return value


def read_value(line, at):
    """The value that begins behind the quote at `at` - 1, and where what follows begins."""
    value = ""
    while line[at:at + 1] != '"':
        if at >= len(line):
            raise Wrong(f"a value does not end: {line}")
        if line[at] == "\\":
            if line[at + 1:at + 2] not in ESCAPES:
                raise Wrong(f"no escape: {line[at:at + 2]}")
            value += ESCAPES[line[at + 1]]
            at += 2
        else:
            value += line[at]
            at += 1
    return value, at + 1


def read_labels(line, at):
    labels = {}
    if line[at:at + 1] != "{":
        return labels, at
    at += 1
    while True:
        name = LABEL.match(line, at)
        if not name or name[0].startswith("__") or name[0] in labels:
            raise Wrong(f"no label, or one that was there, at {line[at:]}")
        if line[name.end():name.end() + 2] != '="':
            raise Wrong(f"a label without a value: {line}")
        labels[name[0]], at = read_value(line, name.end() + 2)
        if not labels[name[0]]:
            raise Wrong(f"a label whose value is empty is no label: {line}")
        if line[at:at + 1] == "}":
            return labels, at + 1
        if line[at:at + 1] != ",":
            raise Wrong(f"no comma between labels: {line}")
        at += 1


def read_sample(line):
    name = NAME.match(line)
    if not name:
        raise Wrong(f"no metric: {line}")
    labels, at = read_labels(line, name.end())
    # A time behind the value makes node_exporter leave out the whole file.
    if line[at:at + 1] != " " or not NUMBER.fullmatch(line[at + 1:]):
        raise Wrong(f"no value, or something behind it: {line}")
    return name[0], labels, float(line[at + 1:])


def read_comment(line, metrics, name):
    """HELP, then TYPE, each once; nothing else. The name of the metric that follows."""
    what = re.fullmatch(r"# (HELP|TYPE) ([^ ]+) (.*)", line)
    if not what or not NAME.fullmatch(what[2]):
        raise Wrong(f"neither HELP nor TYPE: {line}")
    if what[1] == "HELP":
        if what[2] in metrics:
            raise Wrong(f"{what[2]} is described twice, or its series are not together")
        if re.search(r"\\(?![\\n])", what[3]):
            raise Wrong(f"no escape of HELP: {line}")
        metrics[what[2]] = Metric(what[2], what[3])
        return what[2]
    if what[2] != name or metrics[name].type or metrics[name].series:
        raise Wrong(f"TYPE is not right behind its HELP: {line}")
    if what[3] not in ("counter", "gauge"):
        raise Wrong(f"no type of ours: {line}")
    metrics[name].type = what[3]
    return name


def check_metric(metric):
    if not metric.type or not metric.series:
        raise Wrong(f"{metric.name} has no type or no series")
    if (metric.type == "counter") != metric.name.endswith("_total"):
        raise Wrong(f"{metric.name} is a {metric.type}")
    if not metric.name.startswith("gputrace_") or not metric.name.endswith(UNITS):
        raise Wrong(f"{metric.name} is no name of ours, or has no unit")
    if any(value < 0 for value in metric.series.values()):
        raise Wrong(f"{metric.name} is below 0")


def parse(text):
    metrics, name = {}, None
    if isinstance(text, bytes):
        text = text.decode("utf-8", "strict")
    if not text.endswith("\n"):
        raise Wrong("the last line does not end")
    for line in text[:-1].split("\n"):
        if line.startswith("#"):
            name = read_comment(line, metrics, name)
            continue
        found, labels, value = read_sample(line)
        if found != name:
            raise Wrong(f"a series apart from its metric: {line}")
        key = frozenset(labels.items())
        if key in metrics[name].series:
            raise Wrong(f"a series twice: {line}")
        metrics[name].series[key] = value
    for metric in metrics.values():
        check_metric(metric)
    return metrics
