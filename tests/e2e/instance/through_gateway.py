"""Deadlines, limits and leaving clients, through the gateway."""

import time

from instances import Gateway, Instance


class Both:
    """An instance and a gateway in front of it."""

    def __init__(self, folder, options):
        self.instance = Instance(folder, options)
        self.folder = self.instance.folder

    def __enter__(self):
        self.instance.wait_ready()
        self.gateway = Gateway(self.folder, self.instance.port)
        try:
            self.gateway.start_and_wait()
        except RuntimeError:
            self.__exit__()
            raise
        return self.instance, self.gateway

    def __exit__(self, *_):
        self.gateway.stop()
        self.instance.program.stop()


def check_timeout(checks, state, instance, call, seconds, begun):
    """The call ends by its deadline and the blocks come back; `begun`: tokens came before."""
    call.done()
    took = call.ended - call.began
    whole = f"{call.status} after {took:.2f} s: {call.error()}"
    checks.check(f"request_timeout_seconds ends a request that is {state}, on time",
                 seconds - 0.1 <= took <= seconds + 0.5, whole)  # fmt: skip
    checks.check(f"... {state}: {'an error event' if begun else '504'} names the key",
                 call.status == (200 if begun else 504)
                 and "request_timeout_seconds" in call.error(), whole)  # fmt: skip
    ended = time.monotonic()
    alone = instance.wait("the end of one", lambda load: load["running"] + load["waiting"] < 2)
    if alone["running"] == 0:
        instance.wait_idle()
        freed = time.monotonic() - ended
        checks.check(f"... {state}: its blocks are free at once", freed < 0.25, f"{freed:.2f} s")


def decodes(checks, folder):
    with Both(folder, {"server": {"request_timeout_seconds": 1}}) as (instance, gateway):
        call = gateway.ask(output_tokens=2000)
        check_timeout(checks, "decoding", instance, call, 1, True)


def waits(checks, folder):
    """The one that waits is older than the one that runs, which was more urgent."""
    options = {"server": {"request_timeout_seconds": 1}, "model": {"max_batch_size": 1},
               "scheduler": {"scheduler_policy": "priority"}}  # fmt: skip
    with Both(folder, options) as (instance, gateway):
        first = gateway.ask(output_tokens=2000).wait_token()
        waiting = gateway.ask(output_tokens=2000, stream=False, priority=9)
        instance.wait("one waits", lambda load: load["waiting"] == 1)
        time.sleep(0.4)  # the next one's deadline is to be that much later
        urgent = gateway.ask(output_tokens=2000, priority=1)
        instance.wait("two wait", lambda load: load["waiting"] == 2)
        first.leave()
        urgent.wait_token()
        waiting.done()
        checks.check("the urgent one still runs", urgent.thread.is_alive())
        check_timeout(checks, "queued", instance, waiting, 1, False)
        urgent.done()
        instance.wait_idle()
        computed = instance.metric("vllm:request_queue_time_seconds_count")
        checks.check("... queued: it was never computed", computed == 2, f"{computed} were")


def prefills(checks, folder):
    """A prompt of 6,000 tokens in pieces of 64, slowed down, is far from its first token."""
    options = {"server": {"request_timeout_seconds": 1},
               "model": {"speed": 0.2}, "scheduler": {"max_num_batched_tokens": 64}}  # fmt: skip
    with Both(folder, options) as (instance, gateway):
        call = gateway.ask(prompt_tokens=6000)
        instance.wait("it runs", lambda load: load["running"] == 1)
        check_timeout(checks, "in its prefill", instance, call, 1, False)
        checks.check("... in its prefill: no token was made",
                     instance.metric("vllm:generation_tokens_total") == 0)  # fmt: skip


def preempted(checks, folder):
    """Two answers outgrow 63 blocks; the later one loses its blocks and waits for the earlier."""
    options = {"server": {"request_timeout_seconds": 2},
               "model": {"kv_blocks": 64, "speed": 2.5}}  # fmt: skip
    with Both(folder, options) as (instance, gateway):
        first = gateway.ask(prompt_tokens=100, output_tokens=850).wait_token()
        later = gateway.ask(prompt_tokens=100, output_tokens=850).wait_token()
        instance.wait("one has lost its blocks",
                      lambda load: load["running"] == 1 and load["waiting"] == 1)  # fmt: skip
        checks.check("a sequence is preempted when blocks run out",
                     instance.metric("vllm:num_preemptions_total") >= 1)  # fmt: skip
        check_timeout(checks, "preempted", instance, later, 2, True)
        first.done()
        instance.wait_idle()


def one_too_many(checks, folder):
    options = {"server": {"max_concurrent_requests": 256}, "model": {"speed": 2}}
    with Both(folder, options) as (instance, gateway):
        calls = [gateway.ask(output_tokens=120, stream=i % 2 == 0) for i in range(256)]
        instance.wait("256 are there", lambda load: load["running"] + load["waiting"] == 256)
        extra = gateway.ask(output_tokens=4).done()
        took = extra.ended - extra.began
        checks.check("the 257th of 256 concurrent requests is refused at once with 429",
                     extra.status == 429 and took < 0.5,
                     f"{extra.status}, {took:.2f} s")  # fmt: skip
        checks.check("... with retry-after", extra.fields.get("retry-after", "").isdigit(),
                     str(extra.fields))  # fmt: skip
        statuses = [call.done().status for call in calls]
        whole = all(call.timings()["predicted_n"] == 120 for call in calls if call.status == 200)
        checks.check("... and the other 256 are answered whole",
                     statuses == [200] * 256 and whole,
                     str({status: statuses.count(status) for status in statuses}))  # fmt: skip
        checks.check("... the instance counts one refusal",
                     instance.metric("headway_engine_refused_total") == 1)  # fmt: skip
        instance.wait_idle()


def leaves_the_queue(checks, folder):
    with Both(folder, {"model": {"max_batch_size": 1}}) as (instance, gateway):
        runs = gateway.ask(prompt_tokens=16, output_tokens=100).wait_token()
        leaver = gateway.ask(prompt_tokens=500)
        instance.wait("one waits", lambda load: load["waiting"] == 1)
        leaver.leave()
        load = instance.wait("the queue is empty", lambda load: load["waiting"] == 0)
        checks.check("a client that leaves in the queue takes its request out at once",
                     load["running"] == 1, str(load))  # fmt: skip
        runs.done()
        instance.wait_idle()
        ran = runs.timings()
        expected = ran["prompt_n"] + ran["predicted_n"] - 1  # the last one is not computed
        computed = instance.metric("vllm:iteration_tokens_total_sum")
        checks.check("... which never reaches prefill", computed == expected,
                     f"{computed} tokens were computed, not {expected}")  # fmt: skip
        aborts = instance.metric("vllm:request_success_total", finished_reason="abort")
        checks.check("... and is counted as an abort", aborts == 1, str(aborts))


PARTS = [decodes, waits, prefills, preempted, one_too_many, leaves_the_queue]
