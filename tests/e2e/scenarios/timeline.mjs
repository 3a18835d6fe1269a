// The promises of a call's timeline: conservation, little unexplained, agreement with other clocks.
import { DIALECTS } from './dialects.mjs';

const STAGES = new Set([
  'upload',
  'authorize',
  'queue',
  'route',
  'pool',
  'dns',
  'connect',
  'tls',
  'send',
  'wait',
  'first_token',
  'decode',
  'tail',
  'deliver',
  'failed',
  'backoff',
  'unexplained',
]);
const UNEXPLAINED_NS_MAX = 100e3;
const UNEXPLAINED_SHARE_MAX = 0.01;
const LATENESS_NS_MAX = 5e6; // of the gateway's loop and of the mock's, on a busy machine
// The client shares its process with the mock and with the other tests.
const CLIENT_LATENESS_NS_MAX = 100e6;
const ATTEMPT_STAMPS = [
  'begun',
  'leased',
  'resolved',
  'connected',
  'secured',
  'sent',
  'head',
  'first_byte',
  'first_frame',
  'first_token',
  'last_token',
  'terminal',
  'closed',
];
const RFC3339_MICROS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

// Stages touch, begin at 0, end at total_ns and sum to it exactly; stamps of an attempt are in
// order.
export function checkConserved(t, call) {
  const { stages, total_ns: total } = call;
  if (!t.check(Array.isArray(stages) && stages.length > 0, 'no stages')) return;
  t.equal(stages[0].start_ns, 0, 'start of the first stage');
  t.equal(stages.at(-1).end_ns, total, 'end of the last stage');
  t.equal(
    stages.reduce((sum, s) => sum + s.end_ns - s.start_ns, 0),
    total,
    'sum of the stages',
  );
  for (const [i, stage] of stages.entries()) {
    t.check(STAGES.has(stage.stage), `unknown stage ${stage.stage}`);
    t.check(stage.end_ns > stage.start_ns, `stage ${stage.stage} has no length`);
    if (i > 0)
      t.equal(
        stage.start_ns,
        stages[i - 1].end_ns,
        `start of ${stage.stage} after ${stages[i - 1].stage}`,
      );
  }
  for (const { stamps } of call.attempts || []) checkStampOrder(t, stamps);
  checkTimes(t, call);
  if (call.outcome === 'ok') checkExplained(t, call);
}

function checkStampOrder(t, stamps) {
  let before = { name: 'arrived', at: 0 };
  for (const name of ATTEMPT_STAMPS.filter((stamp) => typeof stamps[stamp] === 'number')) {
    t.check(
      stamps[name] >= before.at,
      `stamp ${name} at ${stamps[name]} before ${before.name} at ${before.at}`,
    );
    before = { name, at: stamps[name] };
  }
}

function checkTimes(t, call) {
  const names = ['enqueue_time', 'first_token_time', 'last_token_time', 'finish_time'];
  const present = names.filter((name) => call[name] !== null && call[name] !== undefined);
  for (const name of present) t.match(call[name], RFC3339_MICROS, name);
  const times = present.map((name) => call[name]);
  t.equal([...times].sort(), times, 'order of the four times');
  t.check(call.enqueue_time && call.finish_time, 'enqueue_time or finish_time is missing');
}

function checkExplained(t, call) {
  const unexplained = stageTime(call, 'unexplained');
  const limit = Math.min(UNEXPLAINED_NS_MAX, call.total_ns * UNEXPLAINED_SHARE_MAX);
  t.inTime(
    unexplained <= limit,
    `${unexplained} ns of ${call.total_ns} unexplained, at most ${Math.round(limit)}`,
  );
}

export const stageTime = (call, name) =>
  call.stages.filter((s) => s.stage === name).reduce((sum, s) => sum + s.end_ns - s.start_ns, 0);

// The whole call lies within what the client saw, and takes up nearly all of it.
export function checkClientClock(t, call, exchange) {
  const seen = (exchange.doneAt ?? exchange.leftAt) - exchange.openedAt;
  const apart = seen - call.total_ns;
  t.inTime(
    apart >= -LATENESS_NS_MAX && apart <= CLIENT_LATENESS_NS_MAX,
    `total_ns ${call.total_ns}, but the client saw ${seen}`,
  );
}

// The stages of the answer beside the mock's own clock. `record` is the mock's of this request.
export function checkMockClock(t, call, record) {
  const { at, events } = record;
  compare(t, call, 'wait', at.firstByte - at.body);
  const isToken = DIALECTS[record.kind].isToken;
  if (!call.stream || !events || at.writes.length < events.length) return;
  const offset = at.writes.length - events.length; // keep-alives came before
  const first = events.findIndex(isToken);
  const last = events.length - 1 - [...events].reverse().findIndex(isToken);
  compare(t, call, 'first_token', at.writes[first + offset] - at.writes[0]);
  compare(t, call, 'decode', at.writes[last + offset] - at.writes[first + offset]);
  t.check(call.ttft_ns > 0, 'no ttft_ns');
  const firstTokenAt = call.attempts.at(-1).stamps.first_token;
  t.equal(
    call.ttft_ns,
    firstTokenAt - (call.stages.find((s) => s.stage === 'upload')?.end_ns ?? 0),
    'ttft_ns from body_read to the first token',
  );
}

function compare(t, call, what, theirs) {
  const ours = stageTime(call, what);
  const allowed = LATENESS_NS_MAX + call.gateway.loop_late_max_ns;
  t.inTime(
    Math.abs(ours - theirs) <= allowed,
    `${what} ${(ours / 1e6).toFixed(2)} ms, by the mock's clock ${(theirs / 1e6).toFixed(2)} ms`,
  );
}
