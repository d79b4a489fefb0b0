"""Finds what is wrong with Spark's settings for OpenLineage's listener, before a job runs with them.

``sources`` reads a file of any format into scopes of settings, ``rules`` holds every trap against them, ``report``
shows what was found. No value of a setting is ever shown: any of them may be a token in the wrong place.
"""
