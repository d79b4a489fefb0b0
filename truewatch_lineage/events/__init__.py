"""Events: read, masked, matched, renamed, trimmed, written and checked.

The story of one event is told by :mod:`truewatch_lineage.pipeline`; here are its steps, each a module:
``serialise`` (objects to trees, trees to bytes), ``model`` (what it is about), ``redact``, ``match``,
``mapping``, ``trim`` and ``validate``. A tree is the event as plain JSON values, and no step changes the tree
it was given.
"""
