"""Helpers of the tests: servers, processes and events; checked by mypy like the package itself."""
