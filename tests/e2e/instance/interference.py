"""Long prompts beside short requests and running answers, in real time, by how prompts are cut."""

import itertools
import time

from instances import Instance, quantile

LONG = 8000  # tokens of the prompts that interfere
LONG_EVERY_S = 0.6
SHORT_EVERY_S = 0.05
SECONDS = 5
SETTINGS = {
    # name: ([scheduler], whether long prompts come)
    "no long prompts": ({"max_num_batched_tokens": 512}, False),
    "chunking off": ({"enable_chunked_prefill": False, "max_num_batched_tokens": 8192}, True),
    "budget 8192": ({"max_num_batched_tokens": 8192}, True),
    "budget 512": ({"max_num_batched_tokens": 512}, True),
    "budget 512, 256 of a prompt": (
        {"max_num_batched_tokens": 512, "long_prefill_token_threshold": 256}, True),
}  # fmt: skip


def measure(folder, scheduler, long_prompts):
    """Four answers run, short requests come all the time, and now and then a long prompt."""
    options = {"model": {"batch_wait_ms": 0, "max_batch_size": 64}, "scheduler": scheduler}
    with Instance(folder, options) as instance:
        running = [instance.ask(output_tokens=2000).wait_token() for _ in range(4)]
        began = time.monotonic()
        short, long = [], []
        for i in itertools.count(1):
            now = time.monotonic() - began
            if now >= SECONDS:
                break
            if long_prompts and now >= len(long) * LONG_EVERY_S:
                long.append(instance.ask(prompt_tokens=LONG, output_tokens=1))
            short.append(instance.ask(output_tokens=1))
            time.sleep(max(0.0, began + i * SHORT_EVERY_S - time.monotonic()))
        first = [1e3 * call.done().ttft() for call in short]
        gaps = [1e3 * gap for call in running for gap in call.gaps()]
        of_long = [1e3 * call.done().ttft() for call in long]
        for call in running:
            call.leave()
        instance.wait_idle()
        alarms = instance.metric("headway_engine_alarms_total")
    return {"alarms": alarms, "ttft_p50": quantile(first, 0.5), "ttft_p90": quantile(first, 0.9),
            "ttft_p99": quantile(first, 0.99), "tbt_p50": quantile(gaps, 0.5),
            "tbt_p99": quantile(gaps, 0.99),
            "long_p50": quantile(of_long, 0.5) if of_long else 0.0}  # fmt: skip


def interference(checks, folder):
    found = {}
    for name, (scheduler, long_prompts) in SETTINGS.items():
        one = found[name] = measure(folder, scheduler, long_prompts)
        print(f"   {name}: short TTFT P50 {one['ttft_p50']:.0f}, P90 {one['ttft_p90']:.0f},"
              f" P99 {one['ttft_p99']:.0f} ms; TBT P50 {one['tbt_p50']:.1f},"
              f" P99 {one['tbt_p99']:.0f} ms; long TTFT P50 {one['long_p50']:.0f} ms")  # fmt: skip
    judge(checks, found)


def judge(checks, found):
    """Of some hundred short requests P99 is the second slowest, which one stall of a busy host
    decides; so their P90 is judged. Between tokens there are thousands of gaps."""
    calm, off, cut = (found[name] for name in ("no long prompts", "chunking off", "budget 512"))
    fair = found["budget 512, 256 of a prompt"]
    checks.check("none of it is an alarm to the watchdog",
                 not any(one["alarms"] for one in found.values()), str(found))  # fmt: skip
    checks.check("chunking off: the time between tokens jumps at P99, and not at P50",
                 off["tbt_p99"] > 10 * off["tbt_p50"] and off["tbt_p50"] < 2 * calm["tbt_p50"],
                 str(off))  # fmt: skip
    checks.check("chunking off: short requests' TTFT jumps at P90",
                 off["ttft_p90"] > 4 * calm["ttft_p90"], str(off))  # fmt: skip
    checks.check("a budget of 512 keeps the time between tokens at P99 to a quarter of that",
                 cut["tbt_p99"] < off["tbt_p99"] / 4, str(cut))  # fmt: skip
    checks.check("... but a prompt that runs takes all of the budget: short requests still wait",
                 cut["ttft_p90"] > 4 * calm["ttft_p90"], str(cut))  # fmt: skip
    checks.check("... and with at most 256 of a prompt in a step they do not",
                 fair["ttft_p90"] < off["ttft_p90"] / 3, str(fair))  # fmt: skip


PARTS = [interference]
