// Each clock fires in every phase that it covers, before and after the first relayed byte, and
// names itself, its limit and the channel.
import { open, send } from './client.mjs';
import { DIALECTS, STREAMING, channelFor, requestOf } from './dialects.mjs';
import { checkConserved } from './timeline.mjs';
import { delay } from './trial.mjs';

const LIMIT_MS = 400;
const BLOCKS_MAX = 2000; // of 4096 that the mock has; what the kernel buffers on both ways is less
const LATE_MS_MAX = 150; // on a busy machine; the clocks themselves are coarse, not this coarse

// clock, scenario, streamed, whether a byte was relayed before it fires (null: either is right).
const CASES = [
  ['first_token', 'hang', true, false],
  ['first_token', 'slow:5', true, null],
  ['first_token', 'slowhdr:5', true, false],
  ['first_token', 'slowping:5/60', true, true],
  ['first_token', 'slowevt:5/60', true, true],
  ['silence', 'slow:5', true, null],
  ['silence', 'slow:5', false, false],
  ['silence', 'stall', true, true],
  ['silence', 'stall', false, false],
  ['between_tokens', 'stallping:60', true, true],
  ['between_tokens', 'stall', true, true],
  ['total', 'hang', true, false],
  ['total', 'hang', false, false],
  ['total', 'slowhdr:5', false, false],
  ['total', 'drip:60', true, true],
  ['total', 'slowping:5/60', true, true],
  ['total', 'stall', false, false],
];

export function tests() {
  return [
    ...CASES.flatMap(([clock, scenario, stream, relayed]) =>
      STREAMING.map((name) => ({
        name: `${clock} ${scenario} ${name} ${stream ? 'streamed' : 'whole'}`,
        run: (t) => fires(t, clock, scenario, name, stream, relayed),
      })),
    ),
    { name: 'a channel overrides a clock', run: overrides },
    { name: 'first_token does not run where the answer is not streamed', run: notStreamed },
    { name: 'total covers all attempts together', run: totalOverAttempts },
    { name: 'connect: a server that does not answer the TLS greeting', run: connect },
    { name: 'head: half a head', run: halfHead },
    { name: 'body: half a body', run: halfBody },
    { name: 'idle: a kept-alive connection without a request', run: idle },
    {
      name: 'write_stall: the client reads nothing, and the upstream is held back',
      run: writeStall,
    },
  ];
}

async function fires(t, clock, scenario, name, stream, relayed) {
  const dialect = DIALECTS[name];
  const others = { first_token_ms: 0, silence_ms: 0, between_tokens_ms: 0, total_ms: 20000 };
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario } },
    channels: ({ mock: m }) => [channelFor(dialect.family, m)],
    timeouts: { ...others, [`${clock}_ms`]: LIMIT_MS },
  });
  const exchange = await send(gateway.port, requestOf(name, { stream }));
  const { answer } = exchange;
  const code = `timeout_${clock}`;
  if (!t.check(answer, `no answer, the connection ended with ${exchange.ended}`)) return;
  const early = answer.status === 504;
  if (relayed && early) return t.inTime(false, 'the mock wrote nothing in time');
  if (relayed !== null) t.equal(answer.status, relayed ? 200 : 504, 'status');
  else t.check([200, 504].includes(answer.status), `status ${answer.status}`);
  const error = early ? answer.json : answer.events.find(dialect.isErrorEvent)?.json;
  if (early || stream) checkMessage(t, error, dialect, code, early);
  if (!early) t.equal([answer.end, exchange.ended], ['cut', 'fin'], 'end of the body');

  const call = await t.record(gateway, exchange.id);
  if (!call) return;
  t.equal(
    [call.outcome, call.status, call.error?.code],
    ['timeout', answer.status, code],
    'outcome, status and error',
  );
  checkConserved(t, call);
  t.check(
    call.total_ns >= LIMIT_MS * 1e6 - 2e6,
    `fired after ${call.total_ns} ns, before its time`,
  );
  if (clock !== 'between_tokens' && clock !== 'silence') {
    t.inTime(
      call.total_ns <= (LIMIT_MS + LATE_MS_MAX) * 1e6,
      `fired after ${(call.total_ns / 1e6).toFixed(0)} ms`,
    );
  }
  if (!mock.records.length) return t.inTime(false, 'the mock saw the request too late');
  await delay(20);
  t.check(mock.records[0].at.socketClosed, 'the upstream connection is still open');
}

function checkMessage(t, error, dialect, code, isBody) {
  const text = JSON.stringify(error) ?? 'nothing';
  if (isBody) t.check(dialect.isError(error), `no error of the dialect: ${text}`);
  if (dialect.family === 'openai') t.match(text, new RegExp(code), 'error code');
  t.match(text, new RegExp(`${LIMIT_MS} ?ms|0\\.4 ?s`), 'the limit in the message');
  t.match(text, /mock/, 'the channel in the message');
}

async function overrides(t) {
  const { gateway } = await t.world({
    mocks: { mock: { scenario: 'hang' } },
    timeouts: { first_token_ms: 10000 },
    channels: ({ mock: m }) => [channelFor('openai', m, { timeouts: { first_token_ms: 200 } })],
  });
  const exchange = await send(gateway.port, requestOf('chat', { stream: true }));
  t.equal(
    [exchange.answer?.status, exchange.answer?.json?.error?.code],
    [504, 'timeout_first_token'],
    'status and code',
  );
  t.match(exchange.answer?.text, /200 ?ms|0\.2 ?s/, 'the limit in the message');
}

async function notStreamed(t) {
  const { gateway } = await t.world({
    mocks: { mock: { scenario: 'slowhdr:0.5' } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
    timeouts: { first_token_ms: 100, between_tokens_ms: 100, silence_ms: 200 },
  });
  const exchange = await send(gateway.port, requestOf('chat'));
  t.equal(exchange.answer?.status, 200, 'status');
}

async function totalOverAttempts(t) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({
    mocks: { a: { scenario: 'hang' }, b: { scenario: 'hang' } },
    timeouts: { first_token_ms: 400, total_ms: 700 },
    channels: ({ a: first, b: second }) => [
      channelFor('openai', first, { name: 'a', priority: 1 }),
      channelFor('openai', second, { name: 'mock' }),
    ],
  });
  const exchange = await send(gateway.port, requestOf('chat', { stream: true }));
  t.equal(
    [exchange.answer?.status, exchange.answer?.json?.error?.code],
    [504, 'timeout_total'],
    'status and code',
  );
  t.equal([a.records.length, b.records.length], [1, 1], 'calls of the channels');
  const call = await t.record(gateway, exchange.id);
  if (call) checkConserved(t, call);
}

async function connect(t) {
  const { gateway } = await t.world({
    timeouts: { connect_ms: LIMIT_MS },
    mocks: { mock: {} },
    channels: ({ mock: m }) => [channelFor('openai', { url: `https://127.0.0.1:${m.port}` })],
  });
  const exchange = await send(gateway.port, requestOf('chat'));
  const call = await t.record(gateway, exchange.id);
  // Node's HTTP server may hang up on the greeting before the clock fires.
  const fired = exchange.answer?.status === 504;
  t.equal(
    exchange.answer?.json?.error?.code,
    fired ? 'timeout_connect' : 'channel_connect',
    'error.code',
  );
  t.check([502, 504].includes(exchange.answer?.status), `status ${exchange.answer?.status}`);
  if (call) checkConserved(t, call);
}

async function halfHead(t) {
  const { gateway } = await t.world({
    timeouts: { head_ms: LIMIT_MS },
    channels: ({ mock: m }) => [channelFor('openai', m)],
  });
  const exchange = open(gateway.port, {
    raw: Buffer.from('POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nX-Sl'),
  });
  await exchange.until((self) => self.ended, 'the end of the connection');
  t.equal(
    [exchange.answer?.status, exchange.ended],
    [408, 'fin'],
    'status and end of the connection',
  );
  t.match(exchange.answer?.text, /timeout_head/, 'error code');
}

async function halfBody(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    timeouts: { body_ms: LIMIT_MS },
    channels: ({ mock: m }) => [channelFor('openai', m)],
  });
  const exchange = open(
    gateway.port,
    requestOf('chat', { headers: { 'content-length': '100000' } }),
  );
  await exchange.until((self) => self.ended, 'the end of the connection');
  t.equal(
    [exchange.answer?.status, exchange.answer?.json?.error?.code, mock.records.length],
    [408, 'timeout_body', 0],
    'status, code, upstream calls',
  );
  const call = await t.record(gateway, exchange.id);
  t.equal(
    [call?.outcome, call?.status, call?.error?.code],
    ['rejected', 408, 'timeout_body'],
    'outcome, status, error',
  );
  if (call) checkConserved(t, call);
}

async function idle(t) {
  const { gateway } = await t.world({
    gateway: { idle_ms: LIMIT_MS },
    channels: ({ mock: m }) => [channelFor('openai', m)],
  });
  const exchange = open(gateway.port, requestOf('chat'));
  await exchange.until((self) => self.answer?.end === 'framed', 'the answer');
  t.equal(exchange.ended, null, 'end of the connection straight after the answer');
  await exchange.until((self) => self.ended, 'the end of the idle connection', 3000);
  t.check(
    (exchange.endedAt - exchange.lastByteAt) / 1e6 >= LIMIT_MS - 20,
    'the connection ended too early',
  );
}

async function writeStall(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: 'flood:64' } },
    timeouts: { write_stall_ms: 400 },
    channels: ({ mock: m }) => [channelFor('openai', m)],
  });
  const exchange = open(gateway.port, requestOf('chat', { stream: true }));
  await exchange.until((self) => self.answer?.body.length > 0, 'the first bytes');
  const { id } = exchange;
  exchange.socket.pause();
  const before = Date.now();
  while (!mock.records[0]?.at.socketClosed && Date.now() < before + 4000) await delay(10);
  const record = mock.records[0];
  t.check(record.at.socketClosed, 'the upstream connection is still open');
  t.check(
    record.at.writes.length < BLOCKS_MAX,
    `the mock could write ${record.at.writes.length} blocks to a client that does not read`,
  );
  const call = await t.record(gateway, id);
  t.equal(call?.error?.code, 'timeout_write', 'error of the call');
  t.equal(call?.outcome, 'timeout', 'outcome');
  if (call) checkConserved(t, call);
  exchange.leave('fin');
}
