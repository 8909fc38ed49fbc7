# SPDX-License-Identifier: Apache-2.0
"""Stretches of time as lists of (begin, end) in order, none of which touch: what is true in them, and for how long."""


def united(spans):
    """All moments that are in one of them."""
    result = []
    for begin, end in sorted(spans):
        if begin >= end:
            continue
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return result


def both(left, right):
    """All moments that are in both."""
    found = [(max(a, c), min(b, d)) for a, b in left for c, d in right if max(a, c) < min(b, d)]
    return united(found)


def without(left, right):
    """All moments of left that are not in right."""
    result = []
    for begin, end in left:
        for c, d in right:
            if d <= begin or c >= end:
                continue
            if c > begin:
                result.append((begin, c))
            begin = max(begin, d)
        if begin < end:
            result.append((begin, end))
    return result


def length(spans):
    return sum(end - begin for begin, end in spans)
