# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/run-gpu-tests: a file for each topic, and order.py with the list of all in the order they run.

A test is a function of the bench (support/bench.py) that returns figures, or raises Failed with the fact that does not hold.
"""
