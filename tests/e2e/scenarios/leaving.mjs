// The client leaves: in every phase the upstream connection ends at once, and the record says so.
import { open, send } from './client.mjs';
import { DIALECTS, STREAMING, channelFor, requestOf } from './dialects.mjs';
import { checkConserved, checkClientClock } from './timeline.mjs';
import { delay, median } from './trial.mjs';

const REPEATS = 5;
const CLOSED_MS_MAX = 10; // from the client's leaving to the end of the upstream connection

// `after`: what has come to the client when it leaves. `headSent`: whether the record's status is
// 200.
const PHASES = [
  {
    name: 'before the upstream answers',
    scenario: 'hang',
    streamed: [true, false],
    headSent: false,
  },
  { name: 'before a late head', scenario: 'slowhdr:5', streamed: [true, false], headSent: false },
  { name: 'before the first byte', scenario: 'slow:5', streamed: [true] },
  {
    name: 'mid-stream, upstream silent',
    scenario: 'stall',
    streamed: [true],
    received: 400,
    headSent: true,
  },
  {
    name: 'mid-stream, only pings',
    scenario: 'stallping:2000',
    streamed: [true],
    received: 400,
    headSent: true,
  },
  {
    name: 'mid-stream, between drips',
    scenario: 'drip:300',
    streamed: [true],
    received: 400,
    headSent: true,
  },
  {
    name: 'in the body of a plain answer',
    scenario: 'stall',
    streamed: [false],
    settle: 60,
    headSent: false,
  },
];

// How the client leaves: an orderly close everywhere, a broken connection where it costs least.
const WAYS = { chat: ['fin', 'rst'], completions: ['fin'], responses: ['fin'], messages: ['fin'] };

export function tests() {
  const left = PHASES.flatMap((phase) =>
    phase.streamed.flatMap((stream) =>
      STREAMING.flatMap((name) =>
        WAYS[name].map((how) => ({
          name: `${phase.name} ${name} ${stream ? 'streamed' : 'whole'} ${how}`,
          alone: true,
          run: (t) => leave(t, phase, name, stream, how),
        })),
      ),
    ),
  );
  return [
    ...left,
    { name: 'in a back-off', run: leaveInBackOff },
    { name: 'while the body is sent', run: leaveInUpload },
    { name: 'a half-close with client_half_close = "abort"', run: (t) => halfClose(t, 'abort') },
    { name: 'a half-close with client_half_close = "serve"', run: (t) => halfClose(t, 'serve') },
    { name: 'a half-close with client_half_close = "probe"', run: (t) => halfClose(t, 'probe') },
    { name: 'a full close with client_half_close = "probe"', run: closeUnderProbe },
  ];
}

async function leave(t, phase, name, stream, how) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: phase.scenario } },
    channels: ({ mock: m }) => [channelFor(DIALECTS[name].family, m)],
  });
  const times = [];
  for (let i = 0; i < REPEATS; i++)
    times.push(await leaveOnce(t, gateway, mock, phase, requestOf(name, { stream }), how));
  t.inTime(
    median(times) <= CLOSED_MS_MAX,
    `ms from the client's leaving to the end of the upstream connection: ` +
      times.map((ms) => ms.toFixed(1)).join(', '),
  );
  t.equal(mock.records.length, REPEATS, 'upstream calls');

  const call = await t.newestRecord(gateway, REPEATS);
  if (!call) return;
  t.equal(call.outcome, 'client_gone', 'outcome');
  if (phase.headSent !== undefined)
    t.equal(call.status, phase.headSent ? 200 : 499, 'status in the record');
  else t.check([200, 499].includes(call.status), `status ${call.status} in the record`);
  t.equal(call.attempts.at(-1)?.outcome, 'client_gone', 'outcome of the attempt');
  checkConserved(t, call);
}

// Milliseconds from the client's leaving to the end of the upstream connection.
async function leaveOnce(t, gateway, mock, phase, request, how) {
  const before = mock.records.length;
  const exchange = open(gateway.port, request);
  await exchange.until(() => true, 'the socket');
  while (mock.records.length === before || !mock.records[before].at.body) await delay(1);
  const record = mock.records[before];
  if (phase.received) {
    await exchange.until(
      (self) => (self.answer?.body.length ?? 0) >= phase.received,
      'half of the stream',
    );
  }
  await delay(phase.settle ?? 5);
  exchange.leave(how);
  const until = Date.now() + 2000;
  while (!record.at.socketClosed && Date.now() < until) await delay(1);
  if (
    !t.check(
      record.at.socketClosed,
      'the upstream connection is still open 2 s after the client left',
    )
  )
    return Infinity;
  return (record.at.socketClosed - exchange.leftAt) / 1e6;
}

async function leaveInBackOff(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'err429:5' } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
    retry: { wait_ms_max: 20000 },
  });
  await send(gateway.port, requestOf('chat', { stream: true })); // makes the channel cool down
  const exchange = open(gateway.port, requestOf('chat', { stream: true }));
  await delay(200);
  t.check(
    !exchange.answer,
    `answered ${exchange.answer?.status} instead of waiting for the cooling channel`,
  );
  exchange.leave('fin');
  const call = await t.newestRecord(gateway, 2);
  t.equal(mock.records.length, 1, 'upstream calls');
  if (!call) return;
  t.equal([call.outcome, call.status], ['client_gone', 499], 'outcome and status');
  checkConserved(t, call);
  checkClientClock(t, call, exchange);
}

async function leaveInUpload(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const request = requestOf('chat', { headers: { 'content-length': '100000' } });
  const exchange = open(gateway.port, request);
  await exchange.until((self) => self.sentAt, 'the first part of the body');
  await delay(30);
  exchange.leave('fin');
  const call = await t.newestRecord(gateway);
  t.equal(mock.records.length, 0, 'upstream calls');
  if (!call) return;
  t.equal(
    [call.outcome, call.status, call.attempts.length],
    ['client_gone', 499, 0],
    'outcome, status and attempts',
  );
  checkConserved(t, call);
}

// The client ends its side after the request and goes on reading.
async function halfClose(t, policy) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'drip:30' } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
    gateway: { client_half_close: policy },
  });
  const exchange = open(gateway.port, requestOf('chat', { stream: true }));
  await exchange.until((self) => (self.answer?.body.length ?? 0) > 400, 'the first events');
  const { id } = exchange;
  exchange.socket.end();
  await exchange.until(
    (self) => self.ended || self.answer?.end === 'framed',
    'the end of the answer',
  );
  const call = await t.record(gateway, id);
  const whole = exchange.answer.end === 'framed';
  t.equal(
    [whole, call?.outcome],
    policy === 'abort' ? [false, 'client_gone'] : [true, 'ok'],
    'whether the answer is whole, and the outcome',
  );
  if (whole)
    t.equal(
      exchange.answer.text.replace(/^:[^\n]*\n\n/gm, ''),
      mock.records[0].events.join(''),
      'body without the probes',
    );
  if (call) checkConserved(t, call);
  exchange.leave('fin');
}

async function closeUnderProbe(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'drip:200' } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
    gateway: { client_half_close: 'probe' },
  });
  const exchange = open(gateway.port, requestOf('chat', { stream: true }));
  await exchange.until((self) => (self.answer?.body.length ?? 0) > 400, 'the first events');
  const { id } = exchange;
  exchange.leave('fin');
  const call = await t.record(gateway, id);
  t.equal(call?.outcome, 'client_gone', 'outcome');
  await delay(50);
  t.check(mock.records[0].at.socketClosed, 'the upstream connection is still open');
}
