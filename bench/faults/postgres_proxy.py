"""A door in front of Postgres that can be shut in the ways in which networks shut doors."""

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Literal

Mode = Literal["pass", "refuse", "reset", "blackhole"]
CHUNK_BYTES = 64 * 1024


class PostgresProxy:
    """Listens on 127.0.0.1 and passes on to a unix socket.

    refuse: nobody listens. reset: connections are cut with RST, new ones too. blackhole: what is sent arrives nowhere,
    and nothing comes back; new connections are taken and left alone.
    """

    def __init__(self, unix_socket: str, port: int) -> None:
        self._unix_socket = unix_socket
        self._port = port
        self._mode: Mode = "pass"
        self._open = asyncio.Event()
        self._open.set()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def switch(self, mode: Mode) -> None:
        self._mode = mode
        self._open.clear() if mode == "blackhole" else self._open.set()
        if mode in ("refuse", "reset"):
            for writer in tuple(self._writers):
                _reset(writer)
        if mode == "refuse" and self._server is not None:
            self._server.close()
            self._server = None
        elif mode != "refuse" and self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mode == "reset":
            _reset(writer)
            return
        self._writers.add(writer)
        await self._open.wait()
        with suppress(OSError, asyncio.CancelledError):
            back_reader, back_writer = await asyncio.open_unix_connection(self._unix_socket)
            self._writers.add(back_writer)
            await asyncio.gather(self._pipe(reader, back_writer), self._pipe(back_reader, writer))
        _close(writer)

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await self._open.wait()
                writer.write(data)
                await writer.drain()
        _close(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    with suppress(OSError):  # it may be closed already
        if connection is not None and connection.family == socket.AF_INET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _close(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, RuntimeError):
        writer.close()
