"""The faults of an access, each as a stub that has it, and what the check must say of it."""

import dataclasses
import gzip
import json
import time
from typing import Callable, Optional

import stub
from stub import chunk, error, healthy, page, send

KEY = "sk-test-4f9a7c21d0b8e6"
WAIT_S = 1  # --timeout of the cases that let it pass


@dataclasses.dataclass
class Case:
    name: str
    codes: set
    handler: Optional[Callable] = healthy
    exit: int = 1
    base: str = "http://127.0.0.1:{port}/v1"
    key: Optional[str] = KEY
    model: Optional[str] = "stub-model"
    dialect: str = "chat"
    arguments: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)  # values with {port}, {closed}
    tls: str = ""  # which certificate the stub has
    raw: bool = False
    names: bool = False  # with names.c before the resolver
    faults: Optional[set] = None  # who must be named, where that is not plain from the code
    says: tuple = ()  # (field of the first finding, text that must be in it; {port} filled)


CASES = []


def case(name, codes, **fields):
    """Notes a case; as a decorator, of the handler below it."""
    codes = {codes} if isinstance(codes, str) else set(codes)
    if "handler" in fields or fields.pop("sound", False):
        CASES.append(Case(name, codes, **fields))
        return None

    def keep(handler):
        CASES.append(Case(name, codes, handler, **fields))
        return handler

    return keep


def only_at(path, conn, request, otherwise):
    """A sound API at `path`; elsewhere what `otherwise` gives."""
    if request.path.startswith(path + "/"):
        request.target = "/v1" + request.target[len(path):]
        return healthy(conn, request)
    return otherwise(conn)


def not_found(conn):
    return send(conn, 404, {"detail": "Not Found"})


def with_key(conn, request, accepted, form="authorization"):
    """A sound API for those who bring `accepted` exactly so."""
    if request.headers.get(form) != accepted:
        return error(conn, 401, "Incorrect API key provided", "authentication_error",
                     "invalid_api_key")  # fmt: skip
    return healthy(conn, request)


def plain(answer):
    """A handler that sends `answer` to what is not streamed, and is sound else."""
    def handle(conn, request):
        if request.streamed:
            return healthy(conn, request)
        return send(conn, 200, answer) if isinstance(answer, dict) else answer(conn)
    return handle


def streamed(answer):
    """A handler that is sound but for streams, which `answer` writes."""
    def handle(conn, request):
        return answer(conn, request) if request.streamed else healthy(conn, request)
    return handle


# The base URL.

case("no scheme", "url_invalid", sound=True, exit=2, base="127.0.0.1:{port}/v1",
     says=(("title", "http://"),))  # fmt: skip
case("a blank in the URL", "url_invalid", sound=True, exit=2, base="http://127.0.0.1:{port} /v1")
case("a port that is none", "url_invalid", sound=True, exit=2, base="http://127.0.0.1:99999/v1")
case("a user in the URL", "url_user", sound=True, exit=2,
     base="http://me:secret@127.0.0.1:{port}/v1")  # fmt: skip
case("no API at this path, whatever is tried", "url_wrong_path",
     handler=lambda conn, request: not_found(conn), base="http://127.0.0.1:{port}/api/llm",
     says=(("change", "/api/llm/v1/chat/completions"),))  # fmt: skip


@case("UTM parameters behind the base URL", "url_tracking",
      base="http://127.0.0.1:{port}/v1?utm_source=docs&utm_medium=mail",
      says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
def utm(conn, request):
    return only_at("/v1", conn, request, lambda c: page(c, 404))


@case("UTM parameters of a home page", "url_tracking",
      base="http://127.0.0.1:{port}/?utm_source=newsletter",
      says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
def utm_home(conn, request):
    return only_at("/v1", conn, request, lambda c: page(c, 200))


@case("a fragment behind the base URL", "url_tracking", base="http://127.0.0.1:{port}/v1#keys")
def fragment(conn, request):
    return only_at("/v1", conn, request, lambda c: page(c, 404))


@case("a home page (HTML, 404)", "url_home_page", base="http://127.0.0.1:{port}",
      says=(("not", "model"), ("evidence", "Welcome to Acme")))  # fmt: skip
def home(conn, request):
    return page(conn, 404, "Welcome to Acme")


@case("a home page with the API beside it", "url_home_page", base="http://127.0.0.1:{port}/",
      says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
def home_with_api(conn, request):
    return only_at("/v1", conn, request, lambda c: page(c, 200))


@case("/v1 twice", "url_doubled_v1", base="http://127.0.0.1:{port}/v1/v1",
      says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
def doubled(conn, request):
    if request.path.startswith("/v1/v1"):
        return not_found(conn)
    return only_at("/v1", conn, request, not_found)


@case("no /v1", "url_missing_v1", base="http://127.0.0.1:{port}",
      says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
def missing(conn, request):
    return only_at("/v1", conn, request, not_found)


@case("/v1 for a client that brings its own", "url_extra_v1", dialect="messages",
      says=(("change", "http://127.0.0.1:{port}"),))  # fmt: skip
def extra(conn, request):
    if request.path != "/v1/messages":
        return not_found(conn)
    return messages(conn, request)


@case("a whole endpoint as base URL", "url_endpoint",
      base="http://127.0.0.1:{port}/v1/chat/completions",
      says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
def endpoint(conn, request):
    if request.path.count("/chat/completions") > 1:
        return not_found(conn)
    return only_at("/v1", conn, request, not_found)


@case("a redirect", "url_redirects", says=(("change", "https://elsewhere.test/v1"),))
def redirect(conn, request):
    where = f"https://elsewhere.test{request.target}"
    return send(conn, 301, b"", headers=[("Location", where)])


case("https to a port that speaks http", "url_scheme", sound=True,
     base="https://127.0.0.1:{port}/v1",
     says=(("change", "http://127.0.0.1:{port}/v1"),))  # fmt: skip
case("http to a port that speaks https", "url_scheme", sound=True, tls="good",
     base="http://localhost:{port}/v1",
     says=(("change", "https://localhost:{port}/v1"),))  # fmt: skip


@case("the other protocol", "wrong_dialect", dialect="messages", base="http://127.0.0.1:{port}",
      says=(("title", "openai-chat"),))  # fmt: skip
def other_protocol(conn, request):
    return only_at("/v1", conn, request, not_found)


def messages(conn, request):
    """A sound Anthropic endpoint."""
    if not request.streamed:
        return send(conn, 200, {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "stub-model",
            "content": [{"type": "text", "text": "one, two"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 9, "output_tokens": 4}})  # fmt: skip
    def event(kind, **fields):
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
    events = [event("message_start", message={"id": "msg_1", "type": "message", "role": "assistant",
                                              "content": [], "model": "stub-model",
                                              "usage": {"input_tokens": 9, "output_tokens": 1}}),
              event("content_block_start", index=0, content_block={"type": "text",
                                                                   "text": ""})]  # fmt: skip
    events += [event("content_block_delta", index=0, delta={"type": "text_delta", "text": token})
               for token in stub.TOKENS]  # fmt: skip
    events += [event("content_block_stop", index=0),
               event("message_delta", delta={"stop_reason": "end_turn"},
                     usage={"output_tokens": 24}),
               event("message_stop")]  # fmt: skip
    return stub.stream(conn, events)


# The key.

def strict(conn, request):
    return with_key(conn, request, "Bearer " + KEY)


case("a blank inside the key", "key_blank", handler=strict, key=KEY[:8] + " " + KEY[8:],
     says=(("change", "9"), ("evidence", "the key is taken")))  # fmt: skip
case("a blank before the key", "key_blank", handler=strict, key=" " + KEY,
     says=(("evidence", "the key is taken"),))  # fmt: skip
case("a line break in the key", "key_line_break", handler=strict, key=KEY + "\n",
     says=(("evidence", "the key is taken"), ("not", "no client can send")))  # fmt: skip
case("a key out of a file with CRLF", "key_line_break", handler=strict, key="file:{crlf}")
case("typographic characters in the key", "key_not_ascii", handler=strict, key="\u201c" + KEY)
case("quotation marks around the key", "key_quoted", handler=strict, key=f'"{KEY}"')
case("Bearer in the key", "key_scheme", handler=strict, key="Bearer " + KEY)
case("a place-holder as key", "key_placeholder", handler=strict, key="YOUR_API_KEY")
case("a variable that was not filled in", "key_placeholder", handler=strict, key="$OPENAI_API_KEY")
case("a masked copy of the key", "key_placeholder", handler=strict, key="sk-...d0b8")
case("missing characters in a Headway key", "key_incomplete", handler=strict,
     key="hw-4f9a7c21d0b8e6", says=(("title", "46"),))  # fmt: skip
case("Headway's admin token as key", "key_admin_token", handler=strict, key="hw-admin-4f9a7c21")
case("a key that is not taken", "key_refused", handler=strict, key="sk-test-0000000000",
     says=(("evidence", "Incorrect API key provided"), ("evidence", "sk-test-")))  # fmt: skip
case("no key", "key_missing", handler=strict, key=None)
case("the key in the wrong header", "key_header_form",
     handler=lambda conn, request: with_key(conn, request, KEY, "x-api-key"),
     says=(("change", "x-api-key"),))  # fmt: skip
case("the key in the wrong header, the other way", "key_header_form", dialect="messages",
     base="http://127.0.0.1:{port}",
     handler=lambda conn, request: messages(conn, request)
     if request.headers.get("authorization") == "Bearer " + KEY
     else send(conn, 401, {"type": "error", "error": {"type": "authentication_error",
                                                      "message": "missing token"}}),
     says=(("change", "Authorization: Bearer"),))  # fmt: skip
case("a key that may not do this", "key_forbidden",
     handler=lambda conn, request: error(conn, 403, "this key may not use the model"))  # fmt: skip
case("a used up quota", "quota_exhausted", faults={"key"},
     handler=lambda conn, request: error(conn, 429, "You exceeded your current quota",
                                         "insufficient_quota", "insufficient_quota"))  # fmt: skip
case("no balance left", "quota_exhausted",
     handler=lambda conn, request: error(conn, 402, "Insufficient balance"))  # fmt: skip

# Proxies.

case("a leftover proxy to a dead port", "proxy_unreachable", sound=True,
     environment={"http_proxy": "http://127.0.0.1:{closed}"},
     says=(("title", "http_proxy"), ("evidence", "refused"), ("evidence", "directly"),
           ("change", "NO_PROXY=127.0.0.1")))  # fmt: skip
case("a leftover proxy for https", "proxy_unreachable", sound=True, tls="good",
     base="https://localhost:{port}/v1",
     environment={"HTTPS_PROXY": "http://me:secret@127.0.0.1:{closed}"})  # fmt: skip
case("ALL_PROXY to a dead port", "proxy_unreachable", sound=True,
     environment={"ALL_PROXY": "127.0.0.1:{closed}"})  # fmt: skip
case("a proxy that refuses", "proxy_refuses", sound=True,
     environment={"http_proxy": "http://127.0.0.1:{refusing}"},
     says=(("evidence", "directly"),))  # fmt: skip
case("a proxy that refuses a tunnel", "proxy_refuses", sound=True, tls="good",
     base="https://localhost:{port}/v1",
     environment={"https_proxy": "http://127.0.0.1:{refusing}"})  # fmt: skip
case("a proxy variable that holds no address", "proxy_invalid", sound=True,
     environment={"http_proxy": "ftp://somewhere"})  # fmt: skip
case("a socks proxy", "proxy_unsupported", sound=True, exit=0,
     environment={"ALL_PROXY": "socks5://127.0.0.1:{closed}"})  # fmt: skip
case("a proxy that catches this machine", "proxy_catches_local", sound=True, exit=0,
     environment={"http_proxy": "http://127.0.0.1:{passing}"})  # fmt: skip

# The network.

case("a closed port", "tcp_refused", sound=True, exit=3, base="http://127.0.0.1:{closed}/v1",
     says=(("title", "{closed}"), ("evidence", "container")))  # fmt: skip
case("a host that does not exist", "dns_unknown_name", sound=True, exit=3, names=True,
     base="http://api.none.test:{port}/v1", says=(("title", "api.none.test"),))  # fmt: skip
case("no name server", "dns_unavailable", sound=True, exit=3, names=True,
     base="http://api.down.test:{port}/v1")  # fmt: skip
case("a slow name server", "dns_slow", sound=True, exit=0, names=True,
     base="http://api.slow.test:{port}/v1", says=(("title", "13"),))  # fmt: skip
case("a look-up that takes too long", "dns_unavailable", sound=True, exit=3, names=True,
     base="http://api.slow.test:{port}/v1", arguments=("--connect-timeout", "1"))  # fmt: skip
case("a certificate for another name", "tls_name_mismatch", sound=True, exit=3, tls="other",
     base="https://localhost:{port}/v1", says=(("title", "api.other.test"),))  # fmt: skip
case("an expired certificate", "tls_expired", sound=True, exit=3, tls="expired",
     base="https://localhost:{port}/v1", says=(("title", "2021-01-01"),))  # fmt: skip
case("a certificate that is not valid yet", "tls_not_yet_valid", sound=True, exit=3, tls="future",
     base="https://localhost:{port}/v1", says=(("title", "2090-01-01"),))  # fmt: skip
case("a self-signed certificate", "tls_self_signed", sound=True, exit=3, tls="self",
     base="https://localhost:{port}/v1")  # fmt: skip
case("a certificate of an unknown issuer", "tls_unknown_issuer", sound=True, exit=3,
     tls="stranger", base="https://localhost:{port}/v1",
     says=(("title", "stranger-ca"),))  # fmt: skip
case("https to something else", "tls_not_spoken", raw=True, exit=3,
     base="https://localhost:{port}/v1",
     handler=lambda conn: conn.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"))  # fmt: skip
case("a handshake that never ends", "tls_failed", raw=True, exit=3,
     base="https://localhost:{port}/v1", arguments=("--connect-timeout", "1"),
     handler=lambda conn: time.sleep(3))  # fmt: skip

# HTTP.

case("a connection that is closed", "connection_closed",
     handler=lambda conn, request: None)  # fmt: skip
case("something that is no HTTP", "not_http", raw=True,
     handler=lambda conn: (conn.recv(100), conn.sendall(b"-ERR unknown command 'POST'\r\n")),
     says=(("evidence", "unknown command"),))  # fmt: skip
case("an answer that is cut", "answer_cut",
     handler=lambda conn, request: send(conn, 200, '{"id":"x","choi', length=400))  # fmt: skip
case("time-out before the first byte", "timeout_first_byte", arguments=("--timeout", str(WAIT_S)),
     handler=lambda conn, request: time.sleep(WAIT_S + 2),
     says=(("title", "1 s"), ("evidence", "connected to")))  # fmt: skip


@case("time-out after the first byte", "timeout_body", arguments=("--timeout", str(WAIT_S)),
      says=(("evidence", "7 bytes"), ("evidence", "streamed")))  # fmt: skip
def stall_in_body(conn, request):
    if request.streamed:
        return healthy(conn, request)
    send(conn, 200, '{"id": ', length=400)
    return time.sleep(WAIT_S + 1)


case("a firewall's page", "blocked_by_filter",
     handler=lambda conn, request: page(conn, 403, "Attention Required!"),
     says=(("evidence", "Attention Required!"),))  # fmt: skip
case("a field that is refused", "request_refused",
     handler=lambda conn, request: error(conn, 400, "temperature must be 1"),
     says=(("evidence", "temperature must be 1"),))  # fmt: skip
case("429 with retry-after", "rate_limited",
     handler=lambda conn, request: error(conn, 429, "slow down", "rate_limit_error",
                                         headers=[("Retry-After", "17")]),
     says=(("title", "17 s"),))  # fmt: skip
case("429 without retry-after", "rate_limited_no_wait",
     handler=lambda conn, request: error(conn, 429, "slow down", "rate_limit_error"))  # fmt: skip
case("an overloaded server", "overloaded", faults={"upstream"},
     handler=lambda conn, request: error(conn, 503, "no instance", "server_error"))  # fmt: skip
case("a server that fails", "server_error",
     handler=lambda conn, request: error(conn, 500, "CUDA out of memory", "server_error"),
     says=(("evidence", "CUDA out of memory"),))  # fmt: skip
case("502 of a middle layer", "bad_gateway",
     handler=lambda conn, request: page(conn, 502, "502 Bad Gateway"))  # fmt: skip
case("504 of a middle layer", "bad_gateway",
     handler=lambda conn, request: send(conn, 504, "upstream request timeout",
                                        "text/plain"))  # fmt: skip
case("the gateway's own credential is refused", "channel_credential", faults={"gateway"},
     handler=lambda conn, request: error(conn, 502, "the channel a refused its credential",
                                         "api_error", "channel_credential"))  # fmt: skip

# The model.


@case("an unknown model", "model_unknown", model="gpt4o",
      says=(("change", "gpt-4o, gpt-4o-mini"),))  # fmt: skip
def unknown_model(conn, request):
    if request.method == "GET":
        return healthy(conn, request)
    return error(conn, 404, "The model `gpt4o` does not exist", code="model_not_found")


case("no model named and none listed", "model_missing", model=None,
     handler=lambda conn, request: not_found(conn) if request.method == "GET"
     else error(conn, 400, "model is required"))  # fmt: skip

# The answer.

case("HTML with status 200", "html_in_200", handler=lambda conn, request: page(conn, 200, "Log in"),
     says=(("evidence", "Log in"),))  # fmt: skip
case("text with status 200", "text_in_200",
     handler=lambda conn, request: send(conn, 200, "OK, got it", "text/plain"))  # fmt: skip
case("nothing with status 200", "empty_in_200",
     handler=lambda conn, request: send(conn, 200, ""))  # fmt: skip
case("broken JSON", "json_broken",
     handler=plain(lambda conn: send(conn, 200, '{"choices": [{"message"')))  # fmt: skip
case("an error with status 200", "error_in_200",
     handler=lambda conn, request: send(conn, 200, {"error": {"message": "upstream died",
                                                              "type": "api_error"}}),
     says=(("evidence", "upstream died"),))  # fmt: skip
case("choices: null", "choices_null", handler=plain(stub.chat_answer(choices=None)))
case("choices: []", "choices_empty", handler=plain(stub.chat_answer(choices=[])))
case("no choices", "choices_missing",
     handler=plain({"id": "1", "usage": {"prompt_tokens": 1, "completion_tokens": 2}}))  # fmt: skip
case("no text in the answer", "answer_without_text",
     handler=plain(stub.chat_answer(choices=[{"index": 0, "finish_reason": "stop", "message":
                                              {"role": "assistant", "content": ""}}])))  # fmt: skip
case("an encoding that was not asked for", "coding_unknown",
     handler=plain(lambda conn: send(conn, 200, b"\x00\x01", headers=[("Content-Encoding",
                                                                       "x-own")])))  # fmt: skip

# The stream.

case("streams are refused", "stream_refused",
     handler=streamed(lambda conn, request: error(conn, 400, "streaming is off")),
     says=(("evidence", "streaming is off"),))  # fmt: skip
case("JSON where a stream was asked for", "stream_not_streamed",
     handler=streamed(lambda conn, request: send(conn, 200, stub.chat_answer())))  # fmt: skip
case("a stream of the wrong type", "stream_content_type", exit=0,
     handler=streamed(lambda conn, request:
                      stub.stream(conn, content_type="application/json")))  # fmt: skip


@case("gzip on a stream", "stream_encoded", says=(("title", "gzip"),))
@streamed
def gzipped(conn, request):
    stub.begin_stream(conn, headers=[("Content-Encoding", "gzip")])
    chunk(conn, gzip.compress(b"".join(stub.chat_events())))
    stub.end_stream(conn)


@case("an error inside a stream", "stream_error_event", says=(("evidence", "KV cache is full"),))
@streamed
def error_event(conn, request):
    events = list(stub.chat_events())[:5]
    events.append(stub.event({"error": {"message": "KV cache is full", "type": "server_error"}}))
    stub.stream(conn, events)


@case("comments wrapped as data", "stream_broken_events",
      says=(("evidence", "OPENROUTER PROCESSING"),))  # fmt: skip
@streamed
def wrapped(conn, request):
    stub.stream(conn, [b"data: : OPENROUTER PROCESSING\n\n", *stub.chat_events()])


case("a stream without tokens", "stream_without_tokens",
     handler=streamed(lambda conn, request: stub.stream(conn, stub.chat_events([]))))  # fmt: skip


@case("a stream that breaks off", "stream_cut")
@streamed
def cut(conn, request):
    stub.begin_stream(conn)
    for data in list(stub.chat_events())[:9]:
        chunk(conn, data)


@case("a stream without its final event", "stream_no_end", says=(("not", "max_tokens"),))
@streamed
def no_end(conn, request):
    stub.stream(conn, list(stub.chat_events())[:-2])


@case("a stream that stands still", "stream_stalled", arguments=("--timeout", str(WAIT_S)))
@streamed
def stalled(conn, request):
    stub.begin_stream(conn)
    for data in list(stub.chat_events())[:9]:
        chunk(conn, data)
    time.sleep(WAIT_S + 1)


case("a stream that never begins", "stream_timeout_first", arguments=("--timeout", str(WAIT_S)),
     handler=streamed(lambda conn, request: time.sleep(WAIT_S + 1)))  # fmt: skip


@case("a buffer that holds the whole stream", "stream_one_clump",
      says=(("title", "24 tokens"), ("not", "TTFT")))  # fmt: skip
@streamed
def one_clump(conn, request):
    time.sleep(0.4)  # while tokens would be made
    stub.begin_stream(conn)
    chunk(conn, b"".join(stub.chat_events()))
    stub.end_stream(conn)


@case("a buffer that empties now and then", "stream_clumps", says=(("title", "5 clumps"),))
@streamed
def clumps(conn, request):
    events = list(stub.chat_events())
    stub.begin_stream(conn)
    for at in range(0, len(events), 5):
        chunk(conn, b"".join(events[at:at + 5]))
        time.sleep(0.2)
    stub.end_stream(conn)


case("retries of a middle layer, told in a header", "hidden_retries", exit=0,
     handler=lambda conn, request: healthy(conn, request,
                                           [("x-litellm-attempted-retries", "2")]),
     says=(("title", "3 times"), ("change", "retries to 0")))  # fmt: skip
case("attempts of a proxy, told in a header", "hidden_retries", exit=0,
     handler=lambda conn, request: healthy(conn, request,
                                           [("x-envoy-attempt-count", "2")]))  # fmt: skip

# Two at once: both are named.


@case("no /v1, and a damaged key", {"url_missing_v1", "key_quoted"},
      base="http://127.0.0.1:{port}", key=f"'{KEY}'")  # fmt: skip
def two(conn, request):
    return only_at("/v1", conn, request, not_found) if request.path.startswith("/v1") and \
        request.headers.get("authorization") == "Bearer " + KEY else (
            error(conn, 401, "Incorrect API key provided")
            if request.path.startswith("/v1") else not_found(conn))  # fmt: skip
