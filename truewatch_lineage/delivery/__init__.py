"""Delivery of one event: an HTTP POST that never raises, and what its result means."""
