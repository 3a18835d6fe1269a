// Heartbeats: the only thing ever added to a stream, in the dialect's form and between events.
import { send } from './client.mjs';
import { DIALECTS, STREAMING, channelFor, requestOf } from './dialects.mjs';
import { checkConserved } from './timeline.mjs';

const EVERY_MS = 60;

export function tests() {
  return [
    ...STREAMING.flatMap((name) => [
      { name: `before the upstream's head, ${name}`, run: (t) => added(t, name, 'slowhdr:0.4', 3) },
      { name: `before the first event, ${name}`, run: (t) => added(t, name, 'slow:0.4', 3) },
      { name: `between events, ${name}`, run: (t) => added(t, name, 'drip:150', 6) },
      { name: `never inside an event, ${name}`, run: (t) => added(t, name, 'halves:100', 0) },
      { name: `not into small pieces, ${name}`, run: (t) => added(t, name, 'split', 0) },
      { name: `failover goes on after one, ${name}`, run: (t) => failover(t, name) },
      { name: `an error after one is in the stream, ${name}`, run: (t) => errorAfter(t, name) },
      { name: `none with keepalive_ms = 0, ${name}`, run: (t) => none(t, name, true) },
    ]),
    { name: 'none in an answer that is not streamed', run: (t) => none(t, 'chat', false) },
    { name: 'a heartbeat is no token', run: noToken },
  ];
}

const world = (t, name, scenario, more = {}) =>
  t.world({
    mocks: { mock: { scenario } },
    channels: ({ mock: m }) => [channelFor(DIALECTS[name].family, m)],
    gateway: { keepalive_ms: EVERY_MS },
    ...more,
  });

// The client's stream is the upstream's with whole heartbeats in between, each in its form.
async function added(t, name, scenario, atLeast) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t, name, scenario);
  const exchange = await send(gateway.port, requestOf(name, { stream: true }));
  const { answer } = exchange;
  t.equal([answer?.status, answer?.end], [200, 'framed'], 'status and end of the body');
  if (!answer) return;
  const beats = separate(t, name, answer.text, mock.records[0].events);
  t.inTime(beats.length >= atLeast, `${beats.length} heartbeats, expected at least ${atLeast}`);
  if (name === 'responses') checkResponsesBeats(t, beats, mock.records[0].events);
  const call = await t.record(gateway, exchange.id);
  t.equal(call?.outcome, 'ok', 'outcome');
  if (call) checkConserved(t, call);
}

// Takes the upstream's events out of the text in order; what is left must be heartbeats.
function separate(t, name, text, upstream) {
  const blocks = text.split(/(?<=\n\n)/);
  const beats = [];
  let next = 0;
  let last = null;
  for (const block of blocks) {
    if (block === upstream[next]) {
      last = block;
      next++;
    } else {
      t.check(
        FORMS[name].some((form) => form.test(block)),
        `neither the next event nor a heartbeat: ${JSON.stringify(block.slice(0, 200))}`,
      );
      beats.push({ block, before: next, last });
    }
  }
  t.equal(next, upstream.length, 'events of the upstream that came through whole');
  return beats;
}

const FORMS = {
  chat: [/^:[^\n]*\n\n$/],
  completions: [/^:[^\n]*\n\n$/],
  messages: [/^event: ping\ndata: \{"type": ?"ping"\}\n\n$/],
  responses: [/^:[^\n]*\n\n$/, /^event: (response\.in_progress|keepalive)\ndata: \{.*\}\n\n$/],
};

// Before response.created a comment; afterwards response.in_progress with the last sequence number,
// and once an item of the output was announced keepalive with it.
function checkResponsesBeats(t, beats, upstream) {
  const begun = upstream.findIndex((event) => event.includes('response.output_item.added'));
  const sequence = (block) => Number(/"sequence_number": ?(\d+)/.exec(block)?.[1]);
  for (const { block, before, last } of beats) {
    if (before === 0) {
      t.check(block.startsWith(':'), `before response.created: ${block.slice(0, 80)}`);
    } else {
      const form = before > begun ? 'keepalive' : 'response.in_progress';
      t.check(block.startsWith(`event: ${form}\n`), `wanted ${form}: ${block.slice(0, 80)}`);
      t.equal(sequence(block), sequence(last), 'sequence_number of a heartbeat');
    }
  }
}

async function failover(t, name) {
  const {
    gateway,
    mocks: { a, b },
  } = await t.world({
    mocks: { a: { scenario: 'hang' }, b: {} },
    gateway: { keepalive_ms: EVERY_MS },
    timeouts: { first_token_ms: 250 },
    channels: ({ a: first, b: second }) => [
      channelFor(DIALECTS[name].family, first, { name: 'a', priority: 1 }),
      channelFor(DIALECTS[name].family, second, { name: 'b' }),
    ],
  });
  const exchange = await send(gateway.port, requestOf(name, { stream: true }));
  t.equal(
    [exchange.answer?.status, exchange.answer?.end, a.records.length, b.records.length],
    [200, 'framed', 1, 1],
    'status, end, calls of the channels',
  );
  const beats = separate(t, name, exchange.answer.text, b.records[0]?.events || []);
  t.inTime(beats.length >= 2, `${beats.length} heartbeats before the second channel answered`);
  const call = await t.record(gateway, exchange.id);
  t.equal(
    call?.attempts.map((attempt) => attempt.outcome),
    ['timeout', 'ok'],
    'outcomes of the attempts',
  );
  if (call) checkConserved(t, call);
}

async function errorAfter(t, name) {
  const dialect = DIALECTS[name];
  const { gateway } = await world(t, name, 'hang', { timeouts: { first_token_ms: 250 } });
  const exchange = await send(gateway.port, requestOf(name, { stream: true }));
  const { answer } = exchange;
  t.equal([answer?.status, answer?.end, exchange.ended], [200, 'cut', 'fin'], 'status and end');
  t.check(dialect.isErrorEvent(answer.events.at(-1)), 'no error event at the end');
  t.match(JSON.stringify(answer.events.at(-1)?.json), /first.token|250/, 'the error event');
  const call = await t.record(gateway, exchange.id);
  t.equal(
    [call?.outcome, call?.status, call?.error?.code],
    ['timeout', 200, 'timeout_first_token'],
    'outcome, status, error',
  );
}

async function none(t, name, stream) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t, name, 'slowhdr:0.3', stream ? { gateway: { keepalive_ms: 0 } } : {});
  const exchange = await send(gateway.port, requestOf(name, { stream }));
  const [record] = mock.records;
  t.equal(
    exchange.answer?.text,
    stream ? record.events.join('') : record.sentBody.toString(),
    'body',
  );
}

async function noToken(t) {
  const { gateway } = await world(t, 'messages', 'slowhdr:0.4');
  const exchange = await send(gateway.port, requestOf('messages', { stream: true }));
  const call = await t.record(gateway, exchange.id);
  t.check(call?.ttft_ns >= 0.39e9, `ttft_ns ${call?.ttft_ns} with heartbeats from 60 ms on`);
  t.check(call?.ttff_ns >= 0.39e9, `ttff_ns ${call?.ttff_ns} with heartbeats from 60 ms on`);
}
