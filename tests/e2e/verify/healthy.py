"""Sound endpoints that look odd and are not: nothing may be said of them."""

import time

import stub
from stub import chunk, healthy, send

KEY = "sk-test-4f9a7c21d0b8e6"


def odd_pieces(conn, request):
    """A middle layer cuts the stream anywhere, also inside characters and line ends."""
    if not request.streamed:
        return healthy(conn, request)
    data = b"".join(stub.chat_events([" eins", " zw\u00f6lf", " \u4e09"] * 8))
    stub.begin_stream(conn)
    at, piece = 0, 0
    while at < len(data):
        length = 1 + piece % 11
        chunk(conn, data[at:at + length])
        at, piece = at + length, piece + 1
        if piece % 30 == 0:
            time.sleep(0.004)
    return stub.end_stream(conn)


def crlf_and_comments(conn, request):
    """CRLF, comments, pings, and data without the blank behind its colon."""
    if not request.streamed:
        return healthy(conn, request)
    events = [b": hello\r\n\r\n", b"event: ping\r\ndata: {}\r\n\r\n"]
    events += [data.replace(b"data: ", b"data:").replace(b"\n", b"\r\n")
               for data in stub.chat_events()]  # fmt: skip
    return stub.stream(conn, events)


def no_done(conn, request):
    """finish_reason ends a chat stream; [DONE] need not come."""
    if not request.streamed:
        return healthy(conn, request)
    return stub.stream(conn, list(stub.chat_events())[:-1])


def hidden_reasoning(conn, request):
    """All tokens of the limit went into reasoning that is not shown."""
    usage = {"prompt_tokens": 9, "completion_tokens": 24,
             "completion_tokens_details": {"reasoning_tokens": 24}}  # fmt: skip
    if not request.streamed:
        return send(conn, 200, stub.chat_answer(usage=usage, choices=[
            {"index": 0, "finish_reason": "length",
             "message": {"role": "assistant", "content": ""}}]))  # fmt: skip
    return stub.stream(conn, [stub.event(stub.chat_chunk({"role": "assistant", "content": ""})),
                              stub.event(stub.chat_chunk({}, "length")),
                              stub.event("[DONE]")])  # fmt: skip


def other_token_limit(conn, request):
    """Newer OpenAI models refuse max_tokens and name the field that they want."""
    if "max_tokens" in request.body:
        return stub.error(conn, 400, "Unsupported parameter: 'max_tokens' is not supported with "
                          "this model. Use 'max_completion_tokens' instead.")  # fmt: skip
    return healthy(conn, request)


def slow_prefill(conn, request):
    """A long wait, then tokens one by one."""
    time.sleep(0.4)
    if not request.streamed:
        return healthy(conn, request)
    return stub.stream(conn, gap_s=0.003)


def keeps_open(conn, request):
    """The connection stays open behind the final event; there is no last chunk."""
    if not request.streamed:
        return healthy(conn, request)
    stub.begin_stream(conn)
    for data in stub.chat_events():
        chunk(conn, data)
        time.sleep(0.002)
    return time.sleep(2)


def no_key_needed(conn, request):
    return healthy(conn, request)


ODD = [odd_pieces, crlf_and_comments, no_done, hidden_reasoning, other_token_limit, slow_prefill,
       keeps_open, no_key_needed]  # fmt: skip
