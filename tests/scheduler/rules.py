"""The scheduler's rules a second time: slow and obvious, written from docs/scheduler.md and from
what vLLM does, not from the C++. Everything is a list or a dictionary, searched from its start.
"""

BLOCK = 16
HOLDS = ('step', 'max_num_seqs', 'budget', 'blocks', 'batch_wait', 'group', 'preemption')


def blocks_for(tokens):
    return -(-tokens // BLOCK)


class Sequence:
    def __init__(self, number, arrived, tokens, output_max, output_min, ignore_end, stop, priority,
                 timeout, salt):
        self.number, self.arrived, self.tokens = number, arrived, list(tokens)
        self.prompt = len(self.tokens)
        self.end_at = self.prompt + output_max
        self.output_min, self.ignore_end, self.stop = output_min, ignore_end, stop
        self.priority, self.salt = priority, salt
        self.deadline = arrived + timeout if timeout > 0 else None
        self.state = 'waiting'
        self.blocks = []        # block numbers, in the order of the tokens
        self.computed = 0
        self.in_step = 0        # tokens of it in the step under way
        self.finish_later = None
        self.slot = None
        self.preemptions = 0
        self.cached = 0         # tokens found at the first admission
        self.admitted = False
        self.warned = False
        self.seen = arrived     # up to when its waiting is booked
        self.planned = False    # it was waiting when the last step was planned
        self.ns = dict.fromkeys(HOLDS, 0)
        self.steps = dict.fromkeys(HOLDS, 0)

    def key(self, place):
        """What the block at a place is known by: all tokens up to its end, and the salt."""
        return self.salt, tuple(self.tokens[:(place + 1) * BLOCK])

    def rank(self):
        return self.priority, self.arrived, self.number


class Pool:
    """Free blocks, references, and the blocks that are cached by key."""

    def __init__(self, options):
        self.options = options
        self.free = list(range(1, options['kv_blocks']))  # from the left
        self.references = dict.fromkeys(self.free, 0)
        self.cached = {}   # key -> blocks, the first registered first
        self.key_of = {}   # block -> (key, place)
        self.changes = []

    def forget(self, block):
        if block in self.key_of:
            key, _ = self.key_of.pop(block)
            self.cached[key].remove(block)
            if not self.cached[key]:
                del self.cached[key]
            self.record(f'D{block}')

    def record(self, change):
        if self.options['cache_when'] == 'computed':
            self.changes.append(change)

    def take(self):
        block = self.free.pop(0)
        self.forget(block)
        self.references[block] = 1
        return block

    def touch(self, block):
        if self.references[block] == 0:
            self.free.remove(block)
        self.references[block] += 1

    def release(self, sequence):
        for block in reversed(sequence.blocks):
            self.references[block] -= 1
            if self.references[block] == 0:
                if block in self.key_of:
                    self.free.append(block)
                else:
                    self.free.insert(0, block)
        sequence.blocks = []

    def hits(self, sequence):
        """The longest cached beginning, the last token left out."""
        found = []
        if self.options['enable_prefix_caching']:
            while (len(found) + 1) * BLOCK <= len(sequence.tokens) - 1:
                blocks = self.cached.get(sequence.key(len(found)))
                if not blocks:
                    break
                found.append(blocks[0])
        return found

    def register(self, sequence):
        """Full computed blocks become known by their keys."""
        if not self.options['enable_prefix_caching']:
            return
        for place in range(min(sequence.computed, len(sequence.tokens)) // BLOCK):
            block = sequence.blocks[place]
            if block in self.key_of:
                continue
            if not self.make_place(place):
                return
            key = sequence.key(place)
            self.cached.setdefault(key, []).append(block)
            self.key_of[block] = key, place
            self.record(f'K{block}@{sequence.slot}#{place}')

    def make_place(self, place):
        most = self.options['cached_blocks_per_place_max']
        there = [block for block, (_, at) in self.key_of.items() if at == place]
        if most == 0 or len(there) < most:
            return True
        for block in self.free:
            if block in there:
                self.forget(block)
                return True
        return False

    def forget_all(self):
        for block in sorted(self.key_of):
            self.forget(block)


class Scheduler:
    def __init__(self, options):
        self.options = options
        self.pool = Pool(options)
        self.waiting, self.running, self.plan = [], [], []
        self.slots = list(range(options['max_num_seqs']))[::-1]  # from the right
        self.released, self.events = [], []
        self.executing = False
        self.held = None
        self.planned_at = 0

    # What is asked from outside.

    def refusal(self, prompt, output_max):
        o = self.options
        longest = o['max_model_len'] - 1
        if not o['enable_chunked_prefill']:
            longest = min(longest, o['max_num_batched_tokens'])
        if prompt > longest:
            return 'too long'
        output_max = min(output_max, o['max_model_len'] - prompt)
        if blocks_for(prompt + output_max - 1) > o['kv_blocks'] - 1:
            return 'too many blocks'
        if 0 < o['max_concurrent_requests'] <= len(self.waiting) + len(self.running):
            return 'too many requests'
        return None

    def add(self, sequence):
        sequence.end_at = min(sequence.end_at, self.options['max_model_len'])
        self.waiting.append(sequence)
        self.sort()

    def sort(self):
        if self.options['policy'] == 'priority':
            self.waiting.sort(key=Sequence.rank)

    def find(self, number):
        return next((s for s in self.running + self.waiting if s.number == number), None)

    def finish(self, number, reason, now):
        sequence = self.find(number)
        if sequence is None:
            return
        if sequence.in_step > 0:
            sequence.finish_later = sequence.finish_later or reason
        else:
            self.end(sequence, reason, now)

    def lose_backend(self, now):
        leaving = [s for s, *_ in self.plan if s.finish_later] if self.executing else []
        for sequence, *_ in self.plan if self.executing else ():
            sequence.in_step = 0
        self.executing = False
        for sequence in leaving:
            self.end(sequence, sequence.finish_later, now)
        while self.running:
            sequence = self.running[-1]
            self.preempt(sequence)
            sequence.seen, sequence.planned = now, False
        self.pool.forget_all()

    def reset(self):
        if any(self.pool.references.values()):
            return False
        self.pool.forget_all()
        return True

    # A step.

    def schedule(self, now):
        self.expire(now)
        self.book_waits(now)
        while True:
            self.plan = []  # (sequence, start, count, hit tokens)
            self.budget = self.options['max_num_batched_tokens']
            self.preempted = False
            self.wake = None
            self.plan_running()
            if self.options['cache_when'] == 'scheduled':
                for sequence, *_ in self.plan:
                    self.pool.register(sequence)
            self.held = self.plan_waiting(now)
            if self.plan or not self.preempted:
                break
        if self.held:
            self.warn(self.waiting[0], now)
        self.executing = bool(self.plan)
        if self.executing and self.held:
            for sequence in self.waiting:
                sequence.steps[self.held] += 1
        released, self.released = self.released, []
        changes, self.pool.changes = self.pool.changes, []
        return released, changes

    def book_waits(self, now):
        """Whoever was there at the last plan waited for what held it, others for the step."""
        for sequence in self.waiting:
            reason = self.held if sequence.planned else 'step'
            sequence.ns[reason] += max(0, now - sequence.seen)
            sequence.seen, sequence.planned = now, True
        self.planned_at = now

    def chunk(self, pending):
        threshold = self.options['long_prefill_token_threshold']
        return min(pending, threshold) if threshold > 0 else pending

    def plan_running(self):
        i = 0
        while i < len(self.running) and self.budget > 0:
            sequence = self.running[i]
            count = min(self.chunk(len(sequence.tokens) - sequence.computed), self.budget)
            needed = blocks_for(sequence.computed + count) - len(sequence.blocks)
            while needed > len(self.pool.free):
                if self.options['policy'] == 'priority':
                    victim = max(self.running, key=Sequence.rank)
                else:
                    victim = self.running[-1]
                if self.running.index(victim) < i:
                    self.take_back(victim)
                    i -= 1
                self.preempt(victim)
                self.preempted = True
                if victim is sequence:
                    return
            for _ in range(needed):
                sequence.blocks.append(self.pool.take())
            self.compute(sequence, count, 0)
            i += 1

    def take_back(self, victim):
        self.budget += victim.in_step
        victim.in_step = 0
        self.plan = [part for part in self.plan if part[0] is not victim]

    def plan_waiting(self, now):
        o = self.options
        if not self.waiting:
            return None
        if self.preempted:
            return 'preemption'
        self.wake = self.batch_wait_end(now)
        if self.wake is not None:
            return 'batch_wait'
        while self.waiting:
            head = self.waiting[0]
            if self.budget == 0:
                return 'budget'
            if len(self.running) == o['max_num_seqs']:
                return 'max_num_seqs'
            if not self.fits_group(head):
                return 'group'
            hits = self.pool.hits(head)
            count = self.chunk(len(head.tokens) - len(hits) * BLOCK)
            if not o['enable_chunked_prefill'] and count > self.budget:
                if self.budget < o['max_num_batched_tokens']:
                    return 'budget'
            count = min(count, self.budget)
            tokens = len(hits) * BLOCK + count
            reserve = len(head.tokens) if o['reserve_full_prompt'] else tokens
            free_hits = sum(self.pool.references[block] == 0 for block in hits)
            needed = blocks_for(reserve) - len(hits) + free_hits
            spare = o['watermark_blocks'] if self.running else 0
            if needed > len(self.pool.free) - spare:
                return 'blocks'
            self.admit(head, hits, tokens, count, now)
        return None

    def batch_wait_end(self, now):
        wait = self.options['batch_wait']
        if wait == 0 or self.running or len(self.waiting) >= self.options['max_num_seqs']:
            return None
        if any(s.state == 'preempted' for s in self.waiting):
            return None
        until = min(s.arrived for s in self.waiting) + wait
        if until <= now:
            return None
        return min([until] + [s.deadline for s in self.waiting if s.deadline is not None])

    def fits_group(self, head):
        factor = self.options['group_by_length_factor']
        for other in self.running if factor else ():
            lengths = sorted((len(head.tokens), len(other.tokens)))
            if lengths[1] > factor * lengths[0]:
                return False
        return True

    def admit(self, head, hits, tokens, count, now):
        for block in hits:
            self.pool.touch(block)
            head.blocks.append(block)
        while len(head.blocks) < blocks_for(tokens):
            head.blocks.append(self.pool.take())
        self.waiting.remove(head)
        self.warn(head, now)
        self.running.append(head)
        head.state = 'running'
        head.slot = self.slots.pop()
        head.computed = len(hits) * BLOCK
        if not head.admitted:
            head.admitted = True
            head.cached = head.computed
        self.events.append(f'admitted {head.number}')
        self.compute(head, count, head.computed)
        if self.options['cache_when'] == 'scheduled':
            self.pool.register(head)

    def compute(self, sequence, count, hit_tokens):
        self.plan.append((sequence, sequence.computed, count, hit_tokens))
        sequence.computed += count
        sequence.in_step = count
        self.budget -= count

    def preempt(self, sequence):
        self.running.remove(sequence)
        self.release(sequence)
        sequence.state = 'preempted'
        sequence.preemptions += 1
        sequence.seen, sequence.planned = self.planned_at, True
        self.waiting.insert(0, sequence)
        self.sort()
        self.events.append(f'preempted {sequence.number}')

    def release(self, sequence):
        self.pool.release(sequence)
        sequence.computed = sequence.in_step = 0
        self.released.append(sequence.slot)
        self.slots.append(sequence.slot)
        sequence.slot = None

    # What came of it.

    def samples(self):
        return [s for s, *_ in self.plan if s.computed == len(s.tokens)]

    def apply(self, done, drawn, now):
        """`drawn` has (token, ends) for each of samples()."""
        drawn = list(drawn)
        self.executing = False
        for sequence, start, count, _ in self.plan:
            samples = sequence.computed == len(sequence.tokens)
            sequence.in_step = 0
            token = drawn.pop(0) if done and samples else None
            if done and self.options['cache_when'] == 'computed':
                self.pool.register(sequence)
            if not done:
                # From the last, as it undoes what was done.
                for block in reversed(sequence.blocks[start // BLOCK:]):
                    self.pool.forget(block)
            if sequence.finish_later:
                self.end(sequence, sequence.finish_later, now)
            elif not done:
                self.end(sequence, 'error', now)
            elif samples:
                self.take_token(sequence, *token, now)
        self.expire(now)

    def take_token(self, sequence, token, ends, now):
        sequence.tokens.append(token)
        output = len(sequence.tokens) - sequence.prompt
        stops = (ends and not sequence.ignore_end) or token in sequence.stop
        stops = stops and output >= sequence.output_min
        self.events.append(f'token {sequence.number} {token} {int(stops)}')
        if stops:
            self.end(sequence, 'stop', now)
        elif len(sequence.tokens) >= sequence.end_at:
            self.end(sequence, 'length', now)

    def expire(self, now):
        late = [s for s in self.running + self.waiting
                if s.deadline is not None and s.deadline <= now]
        for sequence in late:
            self.end(sequence, 'timeout', now)

    def warn(self, sequence, now):
        limit = self.options['queue_warn']
        if limit and not sequence.warned and not sequence.admitted:
            if now - sequence.arrived > limit:
                sequence.warned = True
                self.events.append(f'late {sequence.number}')

    def end(self, sequence, reason, now):
        if sequence.state == 'running':
            self.running.remove(sequence)
            self.release(sequence)
        else:
            self.warn(sequence, now)
            self.waiting.remove(sequence)
            hold = self.held if sequence.planned else 'step'
            sequence.ns[hold] += max(0, now - sequence.seen)
        sequence.state = 'finished'
        waits = ','.join(f'{sequence.ns[name]}/{sequence.steps[name]}' for name in HOLDS)
        self.events.append(f'finished {sequence.number} {reason} tokens {len(sequence.tokens)} '
                           f'cached {sequence.cached} preemptions {sequence.preemptions} '
                           f'waits {waits}')
