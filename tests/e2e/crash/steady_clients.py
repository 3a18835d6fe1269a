"""Clients at a steady rate that remember what they asked and what they got."""

import asyncio
import itertools
import time

from stand import ask, subjects

KINDS = ("plain", "plain", "stream", "plain", "plain", "stream", "plain", "slow", "plain", "plain")


class Asked:
    """One request of a client."""

    def __init__(self, call_id, kind):
        self.id = call_id  # the client's own, sent as x-request-id
        self.kind = kind
        self.sent = False
        self.finished_at = None  # monotonic seconds of the whole answer's last byte
        self.status = None


class SteadyClients:
    """Sends `rate` requests a second over kept connections, open loop."""

    def __init__(self, port, rate, label, kinds=KINDS):
        self.port = port
        self.rate = rate
        self.label = label
        self.kinds = kinds
        self.asked = []
        self.idle = []

    async def run(self, seconds):
        """Sends for so long, then waits for what is still open; connections that break are fine."""
        begun = time.monotonic()
        tasks = []
        for number in itertools.count():
            due = begun + number / self.rate
            if due > begun + seconds:
                break
            await asyncio.sleep(max(0, due - time.monotonic()))
            one = Asked(f"{self.label}-{number}", self.kinds[number % len(self.kinds)])
            self.asked.append(one)
            tasks.append(asyncio.create_task(self.ask(one)))
        await asyncio.gather(*tasks)
        for _, writer in self.idle:
            writer.close()

    async def ask(self, one):
        try:
            reader, writer = await self.connection()
            body = ask.chat_body(subjects.MODEL, one.kind == "stream")
            fields = [("x-request-id", one.id), ("x-crash-kind", one.kind)]
            writer.write(ask.chat_request(subjects.KEY, body, fields))
            one.sent = True
            one.status = await read_answer(reader)
            one.finished_at = time.monotonic()
            self.idle.append((reader, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass

    async def connection(self):
        if self.idle:
            return self.idle.pop()
        return await asyncio.open_connection("127.0.0.1", self.port)


async def read_answer(reader):
    """Reads one whole answer; gives its status. Raises when it is cut."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(b" ", 2)[1])
    if b"transfer-encoding: chunked" in head:
        size = 1
        while size:
            size = int(await reader.readuntil(b"\r\n"), 16)
            await reader.readexactly(size + 2)
    else:
        length = head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]
        await reader.readexactly(int(length))
    return status
