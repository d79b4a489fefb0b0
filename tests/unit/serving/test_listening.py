"""Where a server listens, and how many connections there is room for."""

from __future__ import annotations

import contextlib
import resource

import pytest

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.serving.server import listen, room_for, url_of


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "http://127.0.0.1"), ("0.0.0.0", "http://127.0.0.1"), ("::1", "http://[::1]")]
)
def test_its_url_is_one_that_can_be_opened(host, shown):
    """An address that stands for all is no address to go to."""
    with contextlib.closing(listen("127.0.0.1", 0, owner="gateway")) as listener:
        assert url_of(host, listener) == f"{shown}:{listener.getsockname()[1]}"
        assert url_of(host, listener, scheme="https").startswith("https://")


def test_a_taken_port_is_told_with_its_fix():
    """It is the most usual fault."""
    with contextlib.closing(listen("127.0.0.1", 0, owner="gateway")) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=f"The gateway can't listen: port {port} on 127.0.0.1 is taken"):
            listen("127.0.0.1", port, owner="gateway")


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be():
    """Most shells start programs with 1,024; other files are open too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (600, hard))
        assert room_for(100, spare=7, owner="gateway") == 100
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 619
        if hard == resource.RLIM_INFINITY or hard > 4000:
            assert room_for(3000, owner="gateway") == 3000
        assert room_for(10**9, owner="gateway") < 10**9 or hard == resource.RLIM_INFINITY
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
