"""Memory and start of the gateway alone: no other gateway runs meanwhile."""

import statistics
import time

from . import load, processes

STREAM = {"stream": 1, "tokens": 10000, "gap-us": 200000, "ttft-us": 20000}


def started(subject):
    """Starts the subject; gives the milliseconds to the first answered chat request."""
    begun = time.monotonic()
    subject.start()
    subject.wait_answer()
    return (time.monotonic() - begun) * 1e3


def start_ms(subject, times):
    """Start to first answer, on an existing store and from nothing: medians over `times`."""
    again, fresh = [], []
    for _ in range(times):
        subject.forget()
        fresh.append(started(subject))
        subject.stop()
        again.append(started(subject))
        subject.stop()
    return {"start_ms": statistics.median(again), "start_fresh_ms": statistics.median(fresh)}


def memory(subject, quick):
    """PSS idle, under 64 connections, and for each further stream; starts and stops it."""
    subject.forget()
    started(subject)
    time.sleep(0.5)
    idle = processes.pss_kib(subject.running.pid)
    found = {"pss_idle_mib": idle / 1024, "pss_64_mib": loaded_kib(subject, quick) / 1024}
    found["pss_per_stream_kib"] = per_stream_kib(subject, 500 if quick else 2000)
    found["pss_end_mib"] = processes.pss_kib(subject.running.pid) / 1024
    subject.stop()
    return found


def loaded_kib(subject, quick):
    """The largest PSS seen while 64 connections send as fast as they can."""
    running = load.start(subject.port, {"connections": 64, "seconds": 1 if quick else 5})
    largest = 0
    while running.poll() is None:
        largest = max(largest, processes.pss_kib(subject.running.pid))
        time.sleep(0.05)
    load.finish(running)
    return largest


def per_stream_kib(subject, more):
    """What each of `more` further streams adds to 100 that are open."""
    first = load.start(subject.port, {**STREAM, "connections": 100, "seconds": 600})
    second = None
    try:
        time.sleep(0.8)
        before = processes.pss_kib(subject.running.pid)
        ramp_ms = more
        second = load.start(
            subject.port, {**STREAM, "connections": more, "ramp-ms": ramp_ms, "seconds": 600}
        )
        time.sleep(ramp_ms / 1000 + 1)
        after = processes.pss_kib(subject.running.pid)
        return (after - before) / more
    finally:
        for running in (first, second):
            if running:
                running.terminate()
                running.communicate()
