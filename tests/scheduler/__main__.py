"""Random traces through the scheduler and through rules.py: plans, events and loads must be alike.

    python3 -B tests/scheduler DRIVER [--traces N] [--seed S]

DRIVER is the program of driver.cc. A trace is a list of lines:

    options max_num_seqs=4 ...                        begins a new scheduler
    add number=3 arrived=17 runs=0+30,500+4 output=12 min=0 ignore_end=0 stop=0 priority=1 ...
    finish NUMBER REASON NOW
    schedule NOW
    apply NOW done TOKEN/ENDS ...  |  apply NOW failed
    lose NOW  |  reset

The first line that differs is shown with the trace up to it. The last line is `N passed, N failed`.
"""
import argparse
import random
import subprocess
import sys

from rules import Scheduler, Sequence

ACTIONS = 80  # in a trace


def random_options(dice):
    chunked = dice.random() < 0.75
    kv_blocks = dice.randint(4, 44)
    watermark = dice.choice((0, 0, dice.randint(1, 40) / 100))
    seqs = dice.randint(1, 6)
    return {
        'max_num_seqs': seqs,
        'max_num_batched_tokens': dice.choice((dice.randint(seqs, 10), dice.randint(8, 72))),
        'enable_chunked_prefill': int(chunked),
        'long_prefill_token_threshold': dice.choice((0, dice.randint(1, 30))) if chunked else 0,
        'policy': dice.choice(('fcfs', 'priority')),
        'watermark': watermark,
        'watermark_blocks': int(watermark * kv_blocks),
        'reserve_full_prompt': int(dice.random() < 0.7),
        'max_model_len': dice.randint(60, 160),
        'batch_wait': dice.choice((0, 0, 0, dice.randint(1, 6))),
        'max_concurrent_requests': dice.choice((0, dice.randint(3, 20))),
        'queue_warn': dice.choice((0, 5)),
        'group_by_length_factor': dice.choice((0, 0, 0, 0, 2)),
        'enable_prefix_caching': int(dice.random() < 0.7),
        'cache_when': dice.choice(('scheduled', 'computed')),
        'cached_blocks_per_place_max': dice.choice((0, 0, dice.randint(1, 4))),
        'kv_blocks': kv_blocks,
    }


class Trace:
    """One random life, lived by the rules; `lines` is what was done, `expected` what came of it."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.options = random_options(self.dice)
        self.scheduler = Scheduler(self.options)
        self.lines, self.expected = [], []  # expected: (line of `lines`, text)
        self.now, self.last = 1, 0
        self.steps = self.preemptions = self.hits = 0
        self.do('options ' + ' '.join(f'{k}={v}' for k, v in self.options.items()), 'ready',
                load=False)
        for _ in range(ACTIONS):
            self.act()

    def do(self, line, *answers, load=True):
        at = len(self.lines)
        self.lines.append(line)
        events, self.scheduler.events = self.scheduler.events, []
        self.preemptions += sum(event.startswith('preempted') for event in events)
        self.expected += [(at, text) for text in [*answers, *events]]
        if load:
            pool = self.scheduler.pool
            used = sum(count > 0 for count in pool.references.values())
            self.expected.append((at, f'load {len(self.scheduler.running)} '
                                      f'{len(self.scheduler.waiting)} {used}'))

    def act(self):
        what = self.dice.randrange(100)
        if what < 27:
            self.add()
        elif what < 32:
            self.finish()
        elif what < 36:
            self.now += self.dice.randint(1, 20)
        elif what == 36:
            self.scheduler.lose_backend(self.now)
            self.do(f'lose {self.now}')
        elif what == 37:
            emptied = self.scheduler.reset()
            self.do('reset', 'emptied' if emptied else 'in use')
        else:
            self.step()

    def add(self):
        dice = self.dice
        self.last += 1
        runs = [(1000 * dice.randint(1, 2), dice.randint(1, 90))]
        if dice.random() < 0.5:
            runs.append((5000 + 100 * self.last, dice.randint(1, 20)))
        tokens = [first + i for first, count in runs for i in range(count)]
        arrived = max(1, self.now - dice.choice((0, 0, 1)))
        output, least = dice.randint(1, 60), dice.choice((0, 0, 3))
        ignore_end, stop = int(dice.random() < 0.3), dice.choice((0, 0, 7))
        priority, timeout = dice.randint(0, 2), dice.choice((0, 0, dice.randint(5, 80)))
        salt = dice.choice(('', '', 's'))
        line = (f'add number={self.last} arrived={arrived} '
                f'runs={",".join(f"{f}+{c}" for f, c in runs)} output={output} min={least} '
                f'ignore_end={ignore_end} stop={stop} priority={priority} timeout={timeout} '
                f'salt={salt}')
        if self.scheduler.refusal(len(tokens), output):
            self.do(line, 'refused')
            return
        sequence = Sequence(self.last, arrived, tokens, output, least, ignore_end,
                            [stop] if stop else [], priority, timeout, salt)
        self.scheduler.add(sequence)
        self.do(line, 'added')

    def finish(self):
        live = self.scheduler.running + self.scheduler.waiting
        number = self.dice.choice(live).number if live else self.last
        for reason in ('abort', 'error'):  # the second one is nothing
            self.scheduler.finish(number, reason, self.now)
            self.do(f'finish {number} {reason} {self.now}')

    def step(self):
        released, changes = self.scheduler.schedule(self.now)
        items = ''.join(
            f' {s.number}:{start}+{count}@{s.slot}h{hit}s{int(s.computed == len(s.tokens))}'
            f'[{"".join(f"{block}," for block in s.blocks)}]'
            for s, start, count, hit in self.scheduler.plan)
        self.hits += sum(hit for *_, hit in self.scheduler.plan)
        released = ''.join(f' {slot}' for slot in released)
        changes = ''.join(f' {change}' for change in changes)
        wake = '-' if self.scheduler.wake is None else self.scheduler.wake
        self.do(f'schedule {self.now}', f'plan{items} released{released} changes{changes} '
                                        f'held {self.scheduler.held or "-"} wake {wake}')
        self.now += 1
        if not self.scheduler.plan:
            return
        self.steps += 1
        if self.dice.random() < 0.05:
            self.finish()
        if self.dice.random() < 0.02:
            self.scheduler.lose_backend(self.now)
            self.do(f'lose {self.now}')
            return
        done = self.dice.random() > 0.03
        drawn = [(self.dice.choice((1, 2, 3, 7)), int(self.dice.random() < 0.05))
                 for _ in self.scheduler.samples()] if done else []
        self.scheduler.apply(done, drawn, self.now)
        tokens = ''.join(f' {token}/{ends}' for token, ends in drawn)
        self.do(f'apply {self.now} {"done" if done else "failed"}{tokens}')


def compare(trace, got):
    """Takes the trace's part off `got`; the complaint, or None."""
    for line, text in trace.expected:
        answer = got.pop() if got else '(nothing: the driver has ended)'
        if answer != text:
            done = '\n'.join(trace.lines[:line + 1])
            return f'{done}\n\nexpected: {text}\ngot:      {answer}'
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('driver')
    parser.add_argument('--traces', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    traces = [Trace(seed) for seed in range(args.seed, args.seed + args.traces)]
    text = ''.join(line + '\n' for trace in traces for line in trace.lines)
    run = subprocess.run([args.driver], input=text, capture_output=True, text=True)
    got = run.stdout.splitlines()[::-1]
    failed = 0
    for seed, trace in enumerate(traces, args.seed):
        complaint = compare(trace, got)
        if complaint:
            failed = 1
            print(f'trace of seed {seed}:\n{complaint}\n{run.stderr}')
            break  # what follows is out of step
    steps, preemptions, hits = (sum(getattr(trace, name) for trace in traces)
                                for name in ('steps', 'preemptions', 'hits'))
    print(f'{steps} steps, {preemptions} preemptions, {hits} tokens found in the prefix cache')
    print(f'{0 if failed else len(traces)} passed, {failed} failed')
    return failed


sys.exit(main())
