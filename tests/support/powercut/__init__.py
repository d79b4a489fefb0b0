"""Simulated power cuts: record what a process does to files, then rebuild what a disk may hold after a cut.

`recorder` runs a child under ``record.c``; `disk` replays its record; `workload` is the child that works on a spool.
"""
