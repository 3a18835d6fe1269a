"""Each key of engine.toml: what it changes, seen from outside."""

import json
import time

from stand import ask

from instances import Instance, quantile

TOKEN = "instance-admin-0123456789"


def says_no(folder, options):
    """Whether an instance with these options refuses to start, and what it says."""
    try:
        with Instance(folder, options):
            return False, "it started"
    except RuntimeError as problem:
        return True, str(problem)


def host(checks, folder):
    with Instance(folder, {"server": {"host": "127.0.0.2"}}, host="127.0.0.2") as instance:
        checks.check("host, port: it listens there", instance.get("/health")[0] == 200)
        try:
            ask.request(instance.port, "GET", "/health")
            elsewhere = True
        except OSError:
            elsewhere = False
        checks.check("host: and nowhere else", not elsewhere)


def backend_and_its_file(checks, folder):
    refused, said = says_no(folder, {"model": {"backend": "tpu"}})
    checks.check("backend: another one is refused with what there are",
                 refused and "gpu-model" in said and "llama" in said, said)  # fmt: skip
    refused, said = says_no(folder, {"model": {"backend": "llama", "path": "/no/such.gguf"}})
    checks.check("path: a file that is not there is named", refused and "/no/such.gguf" in said,
                 said)  # fmt: skip
    with Instance(folder, {"model": {"threads": 3}}) as instance:
        checks.check("threads: what the start says", "3 compute threads" in instance.log(),
                     instance.log())  # fmt: skip


def names_and_lengths(checks, folder):
    options = {"model": {"model_id": "ours", "max_tokens": 8, "max_input_len": 50,
                         "max_model_len": 60}}  # fmt: skip
    with Instance(folder, options) as instance:
        models = json.loads(instance.get("/v1/models")[1])
        checks.check("model_id: the name that /v1/models tells",
                     [one["id"] for one in models["data"]] == ["ours"], str(models))  # fmt: skip
        made = instance.ask(output_tokens=2000, stream=False).done()
        checks.check("max_tokens: a larger wish is cut to it",
                     made.timings()["predicted_n"] == 8, str(made.body))  # fmt: skip
        made = instance.ask(output_tokens=None, stream=False).done()
        checks.check("max_tokens: what a request without a wish gets",
                     made.timings()["predicted_n"] == 8, str(made.body))  # fmt: skip
        long = instance.ask(prompt_tokens=55, stream=False).done()
        checks.check("max_input_len: a longer prompt is refused with the numbers",
                     long.status == 400 and "50" in long.error() and "55" in long.error(),
                     f"{long.status} {long.error()}")  # fmt: skip
    options["model"].update(max_tokens=100, on_input_too_long="truncate")
    with Instance(folder, options) as instance:
        cut = instance.ask(prompt_tokens=55, output_tokens=100, stream=False).done()
        checks.check("on_input_too_long: truncate keeps the last max_input_len tokens",
                     cut.timings()["prompt_n"] == 50, str(cut.body))  # fmt: skip
        checks.check("max_model_len: prompt and answer end there",
                     cut.timings()["predicted_n"] == 10, str(cut.body))  # fmt: skip


def memory(checks, folder):
    sizes = {}
    for ratio in (0.5, 0.9):
        with Instance(folder, {"model": {"kv_cache_ratio": ratio}}) as instance:
            sizes[ratio] = instance.load()["kv_blocks"]
    checks.check("kv_cache_ratio: more of the memory has more blocks",
                 sizes[0.9] > 1.5 * sizes[0.5] > 0, str(sizes))  # fmt: skip
    with Instance(folder, {"model": {"kv_blocks": 11}}) as instance:
        checks.check("kv_blocks: so many, one of them never used",
                     instance.load()["kv_blocks"] == 10, str(instance.load()))  # fmt: skip
        big = instance.ask(prompt_tokens=170, stream=False).done()
        checks.check("kv_blocks: what can never fit is refused with the numbers",
                     big.status == 400 and "170" in big.error() and "159" in big.error(),
                     f"{big.status} {big.error()}")  # fmt: skip


def watermark(checks, folder):
    """20 blocks: the first takes 10, the second needs 7, and half are to be kept free."""
    seen = {}
    for share in (0.0, 0.5):
        options = {"model": {"kv_blocks": 21}, "scheduler": {"watermark": share}}
        with Instance(folder, options) as instance:
            first = instance.ask(prompt_tokens=150, output_tokens=100).wait_token()
            second = instance.ask(prompt_tokens=100, output_tokens=4).done()
            seen[share] = (second.timings()["held_by"], first.thread.is_alive())
            first.leave()
    checks.check("watermark: the second is held by blocks until the first has ended",
                 seen[0.5] == ("blocks", False) and seen[0.0][1], str(seen))  # fmt: skip


def group_by_length(checks, folder):
    seen = {}
    for on in (False, True):
        options = {"scheduler": {"group_by_length": on, "group_by_length_factor": 2.0}}
        with Instance(folder, options) as instance:
            long = instance.ask(prompt_tokens=1000, output_tokens=60).wait_token()
            short = instance.ask(output_tokens=4).done()
            seen[on] = (short.timings()["held_by"], long.thread.is_alive())
            long.leave()
    checks.check("group_by_length: a short one does not run beside a long one",
                 seen[True] == ("group", False) and seen[False][1], str(seen))  # fmt: skip
    options["scheduler"]["group_by_length_factor"] = 500.0
    with Instance(folder, options) as instance:
        long = instance.ask(prompt_tokens=1000, output_tokens=60).wait_token()
        instance.ask(output_tokens=4).done()
        checks.check("group_by_length_factor: it does with a larger factor",
                     long.thread.is_alive())  # fmt: skip
        long.leave()


def steps_of_prompt(folder, scheduler):
    """Steps that a prompt of 1,000 tokens and one token of answer take."""
    with Instance(folder, {"scheduler": scheduler}) as instance:
        instance.ask(prompt_tokens=1000, output_tokens=1).done()
        return instance.metric("vllm:iteration_tokens_total_count")


def steps(checks, folder):
    found = [steps_of_prompt(folder, one) for one in (
        {}, {"max_num_batched_tokens": 128}, {"long_prefill_token_threshold": 100})]  # fmt: skip
    checks.check("max_num_batched_tokens, long_prefill_token_threshold: pieces of a prompt",
                 found == [1, 8, 10], str(found))  # fmt: skip
    options = {"scheduler": {"enable_chunked_prefill": False, "max_num_batched_tokens": 512}}
    with Instance(folder, options) as instance:
        long = instance.ask(prompt_tokens=600, stream=False).done()
        checks.check("enable_chunked_prefill: off, a prompt above the budget is refused with why",
                     long.status == 400 and "512" in long.error()
                     and "chunk" in long.error(), f"{long.status} {long.error()}")  # fmt: skip


def policies(checks, folder):
    refused, said = says_no(folder, {"scheduler": {"policy": "static"}})
    checks.check("policy: another one is refused with what there is",
                 refused and "continuous_batching" in said, said)  # fmt: skip
    order = {}
    for policy in ("fcfs", "priority"):
        options = {"model": {"max_batch_size": 1}, "scheduler": {"scheduler_policy": policy}}
        with Instance(folder, options) as instance:
            first = instance.ask(output_tokens=60).wait_token()
            later = instance.ask(output_tokens=8, priority=9)
            instance.wait("one waits", lambda load: load["waiting"] == 1)
            urgent = instance.ask(output_tokens=8, priority=1)
            instance.wait("two wait", lambda load: load["waiting"] == 2)
            for call in (first, later, urgent):
                call.done()
            order[policy] = urgent.ended < later.ended
    checks.check("scheduler_policy: by arrival, or the lower priority first",
                 order == {"fcfs": False, "priority": True}, str(order))  # fmt: skip


def prefix_caching(checks, folder):
    found = {}
    for on in (False, True):
        with Instance(folder, {"scheduler": {"enable_prefix_caching": on}}) as instance:
            for salt in ("a", "a", "b"):
                call = instance.ask(prompt_tokens=100, cache_salt=salt, stream=False).done()
                found.setdefault(on, []).append(call.timings()["cached_tokens"])
    checks.check("enable_prefix_caching: the same beginning is found again, by the same salt",
                 found == {False: [0, 0, 0], True: [0, 96, 0]}, str(found))  # fmt: skip


def queue_warning(checks, folder):
    found = {}
    for limit in (0, 50):
        options = {"model": {"max_batch_size": 1}, "scheduler": {"queue_warn_ms": limit}}
        with Instance(folder, options) as instance:
            first = instance.ask(output_tokens=40).wait_token()
            instance.ask(output_tokens=1).done()
            first.done()
            found[limit] = [line for line in instance.log().splitlines() if "has waited" in line]
    checks.check("queue_warn_ms: one line about a longer wait, with what held it",
                 not found[0] and len(found[50]) == 1 and "max_num_seqs" in found[50][0],
                 str(found))  # fmt: skip


def predicted_ms(folder, model):
    """Mean price of the steps that decode one sequence."""
    with Instance(folder, {"model": {"speed": 20, "kv_blocks": 600, **model}}) as instance:
        instance.ask(output_tokens=50).done()
        name = "headway_engine_predicted_step_seconds"
        return 1e3 * instance.metric(f"{name}_sum") / instance.metric(f"{name}_count")


def hardware(checks, folder):
    found = {name: predicted_ms(folder, model) for name, model in {
        "H100": {}, "A100": {"gpu": "A100"}, "two H100": {"tensor_parallel": 2},
        "Qwen3-32B on four": {"shape": "qwen3-32b", "tensor_parallel": 4,
                              "model_id": "llama-3.1-8b"},
    }.items()}  # fmt: skip
    checks.check("gpu, tensor_parallel, shape: the price of a step is theirs",
                 found["two H100"] < found["H100"] < found["A100"]
                 and found["Qwen3-32B on four"] > found["two H100"], str(found))  # fmt: skip


def speed_and_length(checks, folder):
    took = {}
    for speed in (1, 4):
        with Instance(folder, {"model": {"speed": speed, "batch_wait_ms": 0}}) as instance:
            took[speed] = instance.ask(output_tokens=60).done().timings()["decode_ms"]
    checks.check("speed: four times as fast takes about a quarter",
                 3 < took[1] / took[4] < 5, str(took))  # fmt: skip
    lengths = {}
    for median in (0, 16):
        model = {"answer_tokens": median, "speed": 50, "max_tokens": 300}
        with Instance(folder, {"model": model}) as instance:
            made = [instance.ask(output_tokens=None, ignore_eos=False, seed=seed).done()
                    for seed in range(9)]  # fmt: skip
            lengths[median] = quantile([one.timings()["predicted_n"] for one in made], 0.5)
    checks.check("answer_tokens: the median of what no limit cuts, or all go on to the limit",
                 lengths[0] == 300 and 4 <= lengths[16] <= 64, str(lengths))  # fmt: skip


def batch_size(checks, folder):
    """The trade: 16 requests of 24 tokens at once, with 1, 4 and 16 sequences in a step."""
    rate, first, gap = {}, {}, {}
    for key, size in (("max_batch_size", 1), ("max_num_seqs", 4), ("max_batch_size", 16)):
        with Instance(folder, {"model": {key: size}}) as instance:
            began = time.monotonic()
            calls = [instance.ask(output_tokens=24) for _ in range(16)]
            most = 0
            while any(call.thread.is_alive() for call in calls):
                most = max(most, instance.load()["running"])
                time.sleep(0.005)
            rate[size] = 16 * 24 / (max(call.done().ended for call in calls) - began)
            first[size] = 1e3 * quantile([call.ttft() for call in calls], 0.5)
            gap[size] = quantile([call.timings()["decode_ms"] / 23 for call in calls], 0.5)
            checks.check(f"{key} {size}: never more run", 0 < most <= size, str(most))
    for size, per_second in rate.items():
        print(f"   max_batch_size {size}: {per_second:.0f} tokens/s, TTFT P50 {first[size]:.0f} ms,"
              f" {gap[size]:.2f} ms a token")  # fmt: skip
    checks.check("max_batch_size: more at once brings tokens a second up and TTFT down",
                 rate[16] > 2 * rate[4] > 4 * rate[1] and first[16] < first[4] < first[1],
                 f"{rate}, {first}")  # fmt: skip
    checks.check("max_batch_size: each token of a larger batch takes longer",
                 gap[1] < gap[16], str(gap))  # fmt: skip
    refused, said = says_no(folder, {"model": {"max_batch_size": 4, "max_num_seqs": 5}})
    checks.check("max_num_seqs: two different values of one limit are refused",
                 refused and "max_num_seqs" in said, said)  # fmt: skip


def batch_wait(checks, folder):
    """The trade: one alone waits for company; eight that come 4 ms apart share their steps."""
    alone, count = {}, {}
    for wait in (0, 10, 150):
        with Instance(folder, {"model": {"batch_wait_ms": wait}}) as instance:
            times = [instance.ask(output_tokens=1).done().ttft() for _ in range(7)]
            alone[wait] = 1e3 * quantile(times, 0.5)
            before = instance.metric("vllm:iteration_tokens_total_count")
            calls = []
            for _ in range(8):
                calls.append(instance.ask(output_tokens=16))
                time.sleep(0.004)  # the requests' own distance
            for call in calls:
                call.done()
            count[wait] = instance.metric("vllm:iteration_tokens_total_count") - before
            print(f"   batch_wait_ms {wait}: TTFT P50 of one alone {alone[wait]:.1f} ms,"
                  f" {count[wait]:.0f} steps for eight answers of 16")  # fmt: skip
    checks.check("batch_wait_ms: one alone waits that much longer",
                 8 < alone[10] - alone[0] < 20 and 145 < alone[150] - alone[0] < 175,
                 str(alone))  # fmt: skip
    checks.check("batch_wait_ms: those that come within it share every step",
                 count[150] == 16 < count[0], str(count))  # fmt: skip


def admin_and_logs(checks, folder):
    logs = {name: f"{folder}/{name}.jsonl" for name in ("request_log", "step_log")}
    server = {"admin_token": TOKEN, "faults": '{"slow_step_factor": 4}', **logs}
    with Instance(folder, {"server": server}) as instance:
        slow = instance.ask(output_tokens=20).done().timings()["decode_ms"]
        statuses = [ask.request(instance.port, "POST", "/admin/faults", b"{}",
                                {"Authorization": f"Bearer {token}"})[0]
                    for token in ("another", TOKEN)]  # fmt: skip
        checks.check("admin_token: opens /admin to whoever has it", statuses == [401, 200],
                     str(statuses))  # fmt: skip
        healthy = instance.ask(output_tokens=20).done().timings()["decode_ms"]
        checks.check("faults: steps are four times as slow until the faults are taken back",
                     3 < slow / healthy < 5, f"{slow} and {healthy} ms")  # fmt: skip
        instance.wait_idle()
    requests, ran = ([json.loads(line) for line in open(path, encoding="utf-8")]
                     for path in logs.values())  # fmt: skip
    checks.check("request_log: a line for each request, with its four times",
                 [one["output_tokens"] for one in requests] == [20, 20]
                 and all(one[name] for one in requests for name in (
                     "enqueue_time", "first_token_time", "last_token_time", "finish_time")),
                 str(requests))  # fmt: skip
    checks.check("step_log: a line for each step, with its predicted and real time",
                 len(ran) == 40 and all(one["predicted_ms"] and one["real_ms"] for one in ran),
                 f"{len(ran)} lines: {ran[:1]}")  # fmt: skip


def worker_loss(checks, folder):
    found = {}
    for policy in ("error", "recompute"):
        options = {"server": {"faults": '{"failed_step": 10}'},
                   "model": {"on_worker_loss": policy}}  # fmt: skip
        with Instance(folder, options) as instance:
            call = instance.ask(output_tokens=30).done()
            found[policy] = (call.status, len(call.tokens()), bool(call.error()))
    checks.check("on_worker_loss: what a failed step held ends by an error, or is computed again",
                 found["error"][2] and found["error"][1] < 30
                 and found["recompute"] == (200, 30, False), str(found))  # fmt: skip


PARTS = [host, backend_and_its_file, names_and_lengths, memory, watermark, group_by_length,
         steps, policies, prefix_caching, queue_warning, hardware, speed_and_length, batch_size,
         batch_wait, admin_and_logs, worker_loss]  # fmt: skip
