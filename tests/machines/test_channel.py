"""The bytes of sockets on their way through Dask's connections."""

from __future__ import annotations

import asyncio

import pytest
from distributed.protocol import dumps

from txloop.executors.dask.channel import Channel


class Comm:
    """Keeps what is written, as many bytes as Dask would send."""

    def __init__(self):
        self.sizes = []
        self.written = asyncio.Event()

    async def write(self, batch):
        frames = dumps(batch, context={"compression": "zlib"})
        self.sizes.append(sum(map(len, frames)))
        self.written.set()

    async def read(self):
        await self.written.wait()
        raise OSError

    def abort(self):
        pass


@pytest.mark.parametrize(
    ("count", "compressed"), [(1 << 16, True), ((1 << 16) - 1, False)]
)
def test_what_is_large_is_serialised_and_compressed_by_dask(count, compressed):
    comm = Comm()

    async def carry():
        channel = Channel(comm, print)
        channel.read(1, bytes(count))
        await channel.run()

    asyncio.run(carry())

    (size,) = comm.sizes
    assert compressed == (size < count / 10)
