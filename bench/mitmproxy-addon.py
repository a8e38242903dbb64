"""What `broker run` does, as a mitmproxy addon: the real key in place of the placeholder."""

import os

UPSTREAM = ("127.0.0.1", int(os.environ["BENCH_UPSTREAM_PORT"]))
AUTHORIZATION = f"Bearer {os.environ['BENCH_KEY']}"


def server_connect(data):
    data.server.address = UPSTREAM


def request(flow):
    flow.request.headers["authorization"] = AUTHORIZATION
