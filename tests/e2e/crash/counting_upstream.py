"""An upstream that keeps the list of what it has served, by the gateway's request id."""

import asyncio
import threading

TOKEN = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench",'
    b'"choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}\n\n'
)
FINISH = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
BODY = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    % (len(BODY), BODY)
)
TOKENS = 5
TOKEN_GAP_S = 0.02
SLOW_S = 1.0


def chunk(payload):
    return b"%x\r\n%s\r\n" % (len(payload), payload)


class CountingUpstream:
    """Serves in a thread of its own until stop(). The field x-crash-kind chooses the answer:
    `stream` (100 ms of tokens), `slow` (after a second), else at once."""

    def __init__(self):
        self.asked = []  # ids of attempts, in the order in which they came
        self.served = set()  # of those, the ones answered in full
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=self.run, args=(started,), daemon=True).start()
        if not started.wait(5):
            raise RuntimeError("the upstream did not start")

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024)
        )
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = parse_fields(head)
                await reader.readexactly(int(fields.get("content-length", 0)))
                attempt = fields.get("x-request-id", "")
                self.asked.append(attempt)
                await self.answer(writer, fields.get("x-crash-kind", ""))
                self.served.add(attempt)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    @staticmethod
    async def answer(writer, kind):
        if kind == "stream":
            writer.write(STREAM_HEAD)
            for _ in range(TOKENS):
                writer.write(chunk(TOKEN))
                await writer.drain()
                await asyncio.sleep(TOKEN_GAP_S)
            writer.write(chunk(FINISH) + b"0\r\n\r\n")
        else:
            if kind == "slow":
                await asyncio.sleep(SLOW_S)
            writer.write(ANSWER)
        await writer.drain()


def parse_fields(head):
    fields = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        if ":" in line:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
    return fields
