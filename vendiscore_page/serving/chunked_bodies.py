"""The HTTP protocol of the server, which refuses bodies in many short chunks.

It imports nothing of the library, because the server sends the page before the library is imported.
"""

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# The server takes about 20 microseconds for a chunk of any size, and serves nobody else meanwhile.
# A client that streams its body sends longer chunks, except for a few.
SHORT_CHUNK = 1_000  # bytes
MAX_SHORT_CHUNKS = 5_000  # of one body
_MANY_CHUNKS = (
    f"The body has more than {MAX_SHORT_CHUNKS:,} chunks of fewer than {SHORT_CHUNK:,} bytes; send "
    f"it with a Content-Length, or in longer chunks."
)


class _Connection(h11.Connection):  # type: ignore[misc]  # Any, as h11 may be missing
    """A connection that counts the short chunks of each body."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER)
        self._n_short = 0

    @property
    def has_many_chunks(self) -> bool:
        return self._n_short > MAX_SHORT_CHUNKS

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._n_short = 0
        elif isinstance(event, h11.Data) and event.chunk_start and event.chunk_end:
            self._n_short += len(event.data) < SHORT_CHUNK
            if self.has_many_chunks:
                raise h11.RemoteProtocolError(_MANY_CHUNKS)
        return event


class Protocol(H11Protocol):  # type: ignore[misc]
    """The protocol of uvicorn with a limit of short chunks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Connection()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(_MANY_CHUNKS if self.conn.has_many_chunks else msg)
        else:  # the response has begun
            self.transport.close()
