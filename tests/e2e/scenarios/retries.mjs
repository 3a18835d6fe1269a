// Failover between channels: what leads to another channel, what does not, and what the record
// keeps.
import { send } from './client.mjs';
import { DIALECTS, STREAMING, channelFor, requestOf } from './dialects.mjs';
import { checkConserved, stageTime } from './timeline.mjs';

// What the first channel does, and how its attempt is recorded.
const LEADS_ON = [
  ['err429:1', 'upstream_error'],
  ['err429', 'upstream_error'],
  ['err500', 'upstream_error'],
  ['err502', 'upstream_error'],
  ['err503', 'upstream_error'],
  ['err504', 'upstream_error'],
  ['err529', 'upstream_error'],
  ['reset', 'upstream_error'],
  ['html', 'upstream_error'],
  ['html:200', 'upstream_error'],
  ['empty', 'upstream_error'],
  ['err401', 'upstream_error'],
  ['err403', 'upstream_error'],
  ['hang', 'timeout'],
];
const NOBODY = 'http://127.0.0.1:1'; // a reserved port, where nothing listens
const STOPS = [
  ['err:400', 400],
  ['err404', 404],
  ['err:409', 409],
  ['err:413', 413],
  ['err:422', 422],
  ['ctxlen', 400],
];

export function tests() {
  return [
    ...LEADS_ON.flatMap(([scenario, outcome]) =>
      STREAMING.map((name) => ({
        name: `${scenario} goes to another channel, ${name}`,
        run: (t) => leadsOn(t, scenario, outcome, name),
      })),
    ),
    ...STOPS.map(([scenario, status]) => ({
      name: `${scenario} goes straight back`,
      run: (t) => stops(t, scenario, status),
    })),
    { name: 'a refused connection goes to another channel', run: refusedConnection },
    { name: 'a time-out of connect goes to another channel', run: connectTimeout },
    { name: 'never after the first relayed byte', run: neverAfterRelay },
    { name: 'a cooling channel is passed over, with the reason', run: coolingIsSkipped },
    { name: 'at most attempts_max in one exchange', run: attemptsMax },
    { name: 'all channels fail: the last answer goes back as it is', run: allFail },
    { name: 'every credential refused: 502 channel_credential', run: allCredentials },
    { name: 'one channel: one upstream call, retry-after passes', run: oneChannel },
    { name: 'wait_ms_max lets an exchange wait for a cooling channel', run: waits },
    { name: 'wait_ms_max lets an exchange wait between two attempts', run: waitsBetween },
    { name: 'a pooled connection that turns out dead is replaced once', run: deadPooled },
    { name: 'a second call goes over the same connection', run: reused },
    {
      name: 'connections_max makes a second call wait, and pool_wait_ms ends the wait',
      run: poolWait,
    },
  ];
}

const two =
  (family, more = {}) =>
  ({ a, b }) => [
    channelFor(family, a, { name: 'a', priority: 1, ...more }),
    channelFor(family, b, { name: 'b' }),
  ];

async function leadsOn(t, scenario, outcome, name) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({
    mocks: { a: { scenario }, b: {} },
    channels: two(DIALECTS[name].family),
    timeouts: scenario === 'hang' ? { first_token_ms: 600 } : {},
  });
  const exchange = await send(gateway.port, requestOf(name, { stream: true }));
  t.equal([a.records.length, b.records.length], [1, 1], 'calls of the channels');
  await checkServedBySecond(t, gateway, exchange, outcome);
  t.equal(
    b.records[0]?.headers['x-request-id'],
    `${exchange.id}-2`,
    'x-request-id of the second attempt',
  );
  t.equal(exchange.answer.text, b.records[0]?.events.join(''), 'body');
}

async function checkServedBySecond(t, gateway, exchange, firstOutcome) {
  t.equal(
    [exchange.answer?.status, exchange.answer?.headers['x-headway-channel']],
    [200, 'b'],
    'status and channel',
  );
  const call = await t.record(gateway, exchange.id);
  if (!call) return null;
  t.equal(call.outcome, 'ok', 'outcome');
  t.equal(
    call.attempts.map((attempt) => attempt.channel),
    ['a', 'b'],
    'channels of the attempts',
  );
  t.equal(
    call.attempts.map((attempt) => attempt.outcome),
    [firstOutcome, 'ok'],
    'outcomes of the attempts',
  );
  t.check(call.attempts[0].error?.code, 'the failed attempt has no error');
  t.check(stageTime(call, 'failed') > 0, 'no stage for the failed attempt');
  t.equal(stageTime(call, 'backoff'), 0, 'back-off, though another channel was free');
  checkConserved(t, call);
  return call;
}

async function stops(t, scenario, status) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({ mocks: { a: { scenario }, b: {} }, channels: two('openai') });
  const exchange = await send(gateway.port, requestOf('chat'));
  t.equal(
    [exchange.answer?.status, a.records.length, b.records.length],
    [status, 1, 0],
    'status and calls of the channels',
  );
  t.equal(exchange.answer.text, a.records[0].sentBody.toString(), 'body');
}

async function refusedConnection(t) {
  const { gateway } = await t.world({
    mocks: { b: {} },
    channels: ({ b }) => [
      channelFor('openai', { url: NOBODY }, { name: 'a', priority: 1 }),
      channelFor('openai', b, { name: 'b' }),
    ],
  });
  const exchange = await send(gateway.port, requestOf('chat', { stream: true }));
  const call = await checkServedBySecond(t, gateway, exchange, 'upstream_error');
  t.equal(call?.attempts[0].error?.code, 'channel_connect', 'error of the first attempt');
}

// A server that takes the connection and never answers the TLS greeting: connect covers TLS too.
async function connectTimeout(t) {
  const {
    gateway,
    mocks: { a },
  } = await t.world({
    mocks: { a: {}, b: {} },
    timeouts: { connect_ms: 200 },
    channels: ({ a: first, b }) => [
      channelFor('openai', { url: `https://127.0.0.1:${first.port}` }, { name: 'a', priority: 1 }),
      channelFor('openai', b, { name: 'b' }),
    ],
  });
  void a;
  const exchange = await send(gateway.port, requestOf('chat', { stream: true }));
  const call = await t.record(gateway, exchange.id);
  t.equal(
    [exchange.answer?.status, exchange.answer?.headers['x-headway-channel']],
    [200, 'b'],
    'status and channel',
  );
  t.check(
    ['timeout_connect', 'channel_connect'].includes(call?.attempts[0].error?.code),
    `error of the first attempt: ${call?.attempts[0].error?.code}`,
  );
}

async function neverAfterRelay(t) {
  for (const name of STREAMING) {
    const {
      gateway,
      mocks: { a, b },
    } = await t.world({
      mocks: { a: { scenario: 'cut' }, b: {} },
      channels: two(DIALECTS[name].family),
    });
    const exchange = await send(gateway.port, requestOf(name, { stream: true }));
    t.equal(
      [exchange.answer?.status, a.records.length, b.records.length],
      [200, 1, 0],
      `${name}: status and calls of the channels`,
    );
    t.check(
      DIALECTS[name].isErrorEvent(exchange.answer.events.at(-1)),
      `${name}: no error event at the end`,
    );
  }
}

async function coolingIsSkipped(t) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({ mocks: { a: { scenario: 'err429:30' }, b: {} }, channels: two('openai') });
  await send(gateway.port, requestOf('chat'));
  const second = await send(gateway.port, requestOf('chat'));
  t.equal(
    [second.answer?.status, a.records.length, b.records.length],
    [200, 1, 2],
    'status and calls of the channels',
  );
  const call = await t.record(gateway, second.id);
  t.equal(call?.attempts.length, 1, 'attempts');
  t.equal(
    call?.skipped.map((entry) => entry.channel),
    ['a'],
    'skipped channels',
  );
  t.match(call?.skipped[0]?.reason, /cooling.*(2\d|30) ?s.*429/, 'reason');
}

async function attemptsMax(t) {
  const names = ['a', 'b', 'c'];
  const { gateway, mocks } = await t.world({
    mocks: Object.fromEntries(names.map((name) => [name, { scenario: 'err503' }])),
    retry: { attempts_max: 2 },
    channels: (started) =>
      names.map((name, i) => channelFor('openai', started[name], { name, priority: 3 - i })),
  });
  const exchange = await send(gateway.port, requestOf('chat'));
  t.equal(
    names.map((name) => mocks[name].records.length),
    [1, 1, 0],
    'calls of the channels',
  );
  t.equal(
    [exchange.answer?.status, exchange.answer?.headers['x-headway-channel']],
    [503, 'b'],
    'status and channel',
  );
}

async function allFail(t) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({
    mocks: { a: { scenario: 'err500' }, b: { scenario: 'err429:7' } },
    channels: two('anthropic'),
  });
  const exchange = await send(gateway.port, requestOf('messages', { stream: true }));
  t.equal([a.records.length, b.records.length], [1, 1], 'calls of the channels');
  t.equal(
    [exchange.answer?.status, exchange.answer?.headers['retry-after']],
    [429, '7'],
    'status and retry-after',
  );
  t.equal(exchange.answer.text, b.records[0].sentBody.toString(), 'body');
  const call = await t.record(gateway, exchange.id);
  t.equal(
    [call?.outcome, call?.status, call?.attempts.length],
    ['upstream_error', 429, 2],
    'outcome, status, attempts',
  );
  if (call) checkConserved(t, call);
}

async function allCredentials(t) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({
    mocks: { a: { scenario: 'err401' }, b: { scenario: 'err403' } },
    channels: two('openai'),
  });
  const exchange = await send(gateway.port, requestOf('chat'));
  t.equal([a.records.length, b.records.length], [1, 1], 'calls of the channels');
  t.equal(
    [exchange.answer?.status, exchange.answer?.json?.error?.code],
    [502, 'channel_credential'],
    'status and error.code',
  );
}

async function oneChannel(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'err429:3' } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
  });
  for (const calls of [1, 2]) {
    // The second while the channel cools down: the upstream itself should say no.
    const exchange = await send(gateway.port, requestOf('chat'));
    t.equal(
      [exchange.answer?.status, exchange.answer?.headers['retry-after'], mock.records.length],
      [429, '3', calls],
      'status, retry-after, upstream calls',
    );
    t.equal(exchange.answer?.text, mock.records.at(-1).sentBody.toString(), 'body');
  }
}

// The first call makes the only channel cool down for a second, the next one may wait for it.
async function waits(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'err429:1,once' } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
    retry: { wait_ms_max: 5000 },
  });
  await send(gateway.port, requestOf('chat', { stream: true }));
  const exchange = await send(gateway.port, requestOf('chat', { stream: true }));
  t.equal([exchange.answer?.status, mock.records.length], [200, 2], 'status and upstream calls');
  const call = await t.record(gateway, exchange.id);
  if (!call) return;
  t.equal(call.outcome, 'ok', 'outcome');
  // No attempt was made yet: waiting for a channel is waiting in the queue.
  const queued = stageTime(call, 'queue');
  t.check(queued >= 0.8e9 && queued <= 1.5e9, `${queued} ns in the queue for retry-after: 1`);
  checkConserved(t, call);
}

// Both channels fail; the second cools down already and is waited for.
async function waitsBetween(t) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({
    mocks: { a: { scenario: 'err500' }, b: { scenario: 'err429:1,once' } },
    channels: two('openai'),
    retry: { wait_ms_max: 5000 },
  });
  await send(gateway.port, requestOf('chat', { stream: true }));
  const exchange = await send(gateway.port, requestOf('chat', { stream: true }));
  t.equal(
    [exchange.answer?.status, a.records.length, b.records.length],
    [200, 2, 2],
    'status and calls of the channels',
  );
  const call = await t.record(gateway, exchange.id);
  if (!call) return;
  t.equal(
    call.attempts.map((attempt) => attempt.outcome),
    ['upstream_error', 'ok'],
    'outcomes of the attempts',
  );
  const backoff = stageTime(call, 'backoff');
  t.check(backoff >= 0.8e9 && backoff <= 1.5e9, `back-off of ${backoff} ns for retry-after: 1`);
  checkConserved(t, call);
}

async function deadPooled(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  await send(gateway.port, requestOf('chat'));
  mock.set('reset,once');
  const exchange = await send(gateway.port, requestOf('chat'));
  t.equal([exchange.answer?.status, mock.records.length], [200, 2], 'status and upstream calls');
  const call = await t.record(gateway, exchange.id);
  if (call) checkConserved(t, call);
}

async function reused(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const calls = [];
  for (let i = 0; i < 3; i++)
    calls.push(
      await t.record(gateway, (await send(gateway.port, requestOf('chat', { stream: true }))).id),
    );
  t.equal(
    calls.map((call) => call?.attempts[0].connection.reused),
    [false, true, true],
    'connection.reused',
  );
  t.equal(new Set(mock.records.map((record) => record.remotePort)).size, 1, 'upstream connections');
  t.equal(
    calls.map((call) => stageTime(call, 'connect') > 0),
    [true, false, false],
    'a connect stage',
  );
  t.check(calls[0].attempts[0].connection.rtt_us > 0, 'no rtt_us');
}

async function poolWait(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'slowhdr:0.4' } },
    channels: ({ mock: m }) => [channelFor('openai', m, { connections_max: 1 })],
    timeouts: { pool_wait_ms: 600 },
  });
  const [first, second, third] = await Promise.all(
    Array.from({ length: 3 }, () => send(gateway.port, requestOf('chat'))),
  );
  const calls = await Promise.all([first, second, third].map(({ id }) => t.record(gateway, id)));
  const byPool = calls.filter(Boolean).sort((x, y) => stageTime(x, 'pool') - stageTime(y, 'pool'));
  t.equal(
    byPool.map((call) => call.status),
    [200, 200, 503],
    'statuses in the order of their waits',
  );
  t.equal(byPool.at(-1)?.error?.code, 'timeout_pool_wait', 'error of the last');
  t.inTime(stageTime(byPool[1], 'pool') >= 0.35e9, `pool ${stageTime(byPool[1], 'pool')} ns`);
  t.equal(mock.records.length, 2, 'upstream calls');
  for (const call of byPool) checkConserved(t, call);
}
