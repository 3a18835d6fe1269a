"""Faults on purpose, and what the watchdog says and does about them."""

import json
import time

from stand import ask

from instances import Instance

TOKEN = "instance-admin-0123456789"
OPTIONS = {"server": {"admin_token": TOKEN}}
ANSWER_TOKENS = 60


def suffer(instance, faults):
    status, _, body = ask.request(instance.port, "POST", "/admin/faults", json.dumps(faults),
                                  {"Authorization": f"Bearer {TOKEN}"})  # fmt: skip
    if status != 200:
        raise RuntimeError(body)


def alarms(instance, signature):
    return instance.metric("headway_engine_alarms_total", signature=signature)


def several(instance, count=4):
    for call in [instance.ask(50, ANSWER_TOKENS) for _ in range(count)]:
        call.done()


def comes(condition, seconds=5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def healthy(checks, folder):
    with Instance(folder, OPTIONS) as instance:
        several(instance)
        signatures = ("block_drift", "slow_steps", "no_step", "overdue", "blocked_queue")
        told = [name for name in signatures if alarms(instance, name)]
        checks.check("watchdog: healthy work raises nothing", not told, str(told))


def leaks(checks, folder):
    with Instance(folder, OPTIONS) as instance:
        suffer(instance, {"leak_share": 1})
        several(instance)
        suffer(instance, {})
        lost = instance.load()["kv_blocks_used"]
        checks.check("watchdog: with leak_share 1 the blocks of all that ended are missing",
                     lost > 0, str(lost))  # fmt: skip
        instance.ask(50, 300).done()
        checks.check("watchdog: leaked blocks are noticed",
                     comes(lambda: alarms(instance, "block_drift") > 0))  # fmt: skip
        freed = instance.metric("headway_engine_reclaimed_blocks_total")
        checks.check("watchdog: and freed again",
                     freed >= lost and instance.wait_idle(), str(freed))  # fmt: skip


def fragmentation(checks, folder):
    with Instance(folder, OPTIONS) as instance:
        suffer(instance, {"lost_blocks_share": 0.5})
        instance.ask(50, 300).done()
        checks.check("watchdog: blocks that nobody has are noticed and freed",
                     comes(lambda: instance.metric("headway_engine_reclaimed_blocks_total") > 0)
                     and instance.wait_idle())  # fmt: skip


def slow_clock(checks, folder):
    with Instance(folder, OPTIONS) as instance:
        suffer(instance, {"clock_ratio": 0.2})
        instance.ask(50, 80).done()
        checks.check("watchdog: a clock at a fifth is noticed by its slow steps",
                     comes(lambda: alarms(instance, "slow_steps") > 0))  # fmt: skip


def lost_abort(checks, folder):
    with Instance(folder, OPTIONS) as instance:
        suffer(instance, {"lost_abort_share": 1})
        instance.ask(50, 1500).wait_token().leave()
        checks.check("watchdog: a sequence that goes on for nobody is noticed",
                     comes(lambda: alarms(instance, "request_drift") > 0, 10))  # fmt: skip


def hung_step(checks, folder):
    with Instance(folder, OPTIONS) as instance:
        suffer(instance, {"hung_step": 3, "hung_step_ms": 30000})
        call = instance.ask(50, 10)
        checks.check("watchdog: a step that hangs is noticed from outside",
                     comes(lambda: alarms(instance, "no_step") > 0))  # fmt: skip
        checks.check("watchdog: meanwhile the instance is not live",
                     instance.get("/health/live")[0] == 503)  # fmt: skip
        call.done(20)
        checks.check("watchdog: it is given up, and its request ends with an error",
                     call.error() and time.monotonic() - call.began < 15, call.error())  # fmt: skip
        after = instance.ask(50, 3).done()
        checks.check("watchdog: the next request is answered",
                     after.status == 200 and len(after.tokens()) == 3,
                     f"{after.status} {after.error()}")  # fmt: skip
        checks.check("watchdog: by a new worker",
                     instance.metric("headway_engine_worker_restarts_total") == 1)  # fmt: skip


PARTS = [healthy, leaks, fragmentation, slow_clock, lost_abort, hung_step]
