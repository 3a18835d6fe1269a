// Every scenario, streamed and not, in every dialect: what the client gets, what the record says,
// and that its timeline is conserved.
import { send } from './client.mjs';
import { DIALECTS, STREAMING, channelFor, requestOf } from './dialects.mjs';
import { ROWS, PLAIN_SCENARIOS } from './expected.mjs';
import { checkConserved, checkClientClock, checkMockClock } from './timeline.mjs';
import { OUTPUT_TOKENS } from '../../clients/mock/server.mjs';

export function tests() {
  return ROWS.flatMap((row) => [...STREAMING, 'embeddings'].flatMap((name) => cases(row, name)));
}

function cases(row, name) {
  if (row.only && !row.only.includes(name)) return [];
  const streams = DIALECTS[name].streams;
  if (!streams && !PLAIN_SCENARIOS.has(row.scenario)) return [];
  const isTool = /tool/.test(row.scenario);
  if (isTool && name === 'completions') return [];
  const made = (stream, expected) =>
    expected && (streams || !stream)
      ? [
          {
            name: `${row.scenario} ${name} ${stream ? 'streamed' : 'whole'}`,
            alone: row.clock,
            run: (t) => run(t, row, name, stream, expected),
          },
        ]
      : [];
  return [...made(true, row.streamed), ...made(false, row.whole)];
}

async function run(t, row, name, stream, expected) {
  const dialect = DIALECTS[name];
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    mocks: { mock: { scenario: row.scenario } },
    channels: ({ mock: m }) => [channelFor(dialect.family, m)],
    timeouts: row.settings || {},
  });
  const exchange = await send(
    gateway.port,
    requestOf(name, { stream, tools: /tool/.test(row.scenario) }),
  );
  const { answer } = exchange;
  if (!t.check(answer, `no answer, the connection ended with ${exchange.ended}`)) return;
  const upstream = mock.modelRequests();
  const [record] = upstream.length ? upstream : mock.records;
  t.equal(mock.records.length, 1, 'upstream calls for one client call');

  checkHeaders(t, answer, stream);
  t.equal(record.headers['x-request-id'], `${exchange.id}-1`, 'x-request-id of the attempt');
  BODIES[expected.body](t, { answer, exchange, record, dialect, expected, stream });
  for (const [header, value] of Object.entries(expected.headers || {}))
    t.equal(answer.headers[header], value, header);

  const call = await t.record(gateway, exchange.id);
  if (!call) return;
  checkRecord(t, call, { name, stream, expected, answer });
  checkConserved(t, call);
  checkClientClock(t, call, exchange);
  if (expected.outcome === 'ok') checkUsage(t, call, record, name);
  if (row.clock && dialect.streams) checkMockClock(t, call, record);
}

function checkHeaders(t, { headers, status }, stream) {
  t.match(headers['x-request-id'], /^req_\w+$/, 'x-request-id');
  t.equal(headers['request-id'], headers['x-request-id'], 'request-id beside x-request-id');
  t.match(headers['x-headway-trace-id'], /^[0-9a-f]{32}$/, 'x-headway-trace-id');
  t.equal(headers['x-headway-channel'], 'mock', 'x-headway-channel');
  if (stream && status === 200) {
    t.match(headers['content-type'], /^text\/event-stream/, 'content-type');
    t.equal(headers['x-accel-buffering'], 'no', 'x-accel-buffering');
    t.equal(headers['cache-control'], 'no-cache', 'cache-control');
  } else if (status === 200) {
    t.match(headers['server-timing'], /dur=/, 'server-timing of an answer that is not streamed');
  }
}

const sentBytes = ({ events, sentBody }, stream) =>
  stream && events ? Buffer.from(events.join('')) : sentBody;

const BODIES = {
  whole(t, { answer, record, stream }) {
    t.equal(answer.status, 200, 'status');
    t.equal(answer.end, 'framed', 'end of the body');
    if (record.scenario.name !== 'flood' && !/^slow(ping|evt)$/.test(record.scenario.name)) {
      t.equal(answer.text, sentBytes(record, stream).toString(), 'body');
    }
  },
  passed(t, { answer, record, expected }) {
    t.equal(answer.status, expected.status, 'status');
    t.equal(answer.text, record.sentBody.toString(), 'body');
    t.equal(answer.end, 'framed', 'end of the body');
  },
  own(t, { answer, dialect, expected }) {
    t.equal(answer.status, expected.status, 'status');
    t.equal(answer.end, 'framed', 'end of the body');
    t.match(answer.headers['content-type'], /^application\/json/, 'content-type');
    t.check(dialect.isError(answer.json), `no error of the dialect: ${answer.text.slice(0, 200)}`);
    const said = JSON.stringify(answer.json);
    if (dialect.family === 'openai') t.equal(answer.json?.error?.code, expected.code, 'error.code');
    t.match(said, /mock/, 'the message names the channel');
    t.check(!/upstream-credential/.test(said), `the body tells too much: ${said}`);
    if (expected.outcome === 'timeout')
      t.match(said, /300 ?ms|0\.3 ?s/, 'the message names the limit');
  },
  event(t, context) {
    const { answer, exchange, record, dialect, expected } = context;
    t.equal(answer.status, 200, 'status');
    const relayed = relayedPart(t, context);
    const last = answer.events.at(-1);
    t.check(
      dialect.isErrorEvent(last),
      `the stream does not end with an error event: ${JSON.stringify(last)?.slice(0, 200)}`,
    );
    t.equal(answer.events.filter(dialect.isErrorEvent).length, 1, 'error events');
    t.match(
      JSON.stringify(last?.json),
      new RegExp(
        dialect.record === 'openai-responses' || dialect.family === 'openai'
          ? expected.code
          : 'mock',
      ),
      'the error event',
    );
    checkNoForgedEnd(t, answer, relayed, record);
    t.equal([answer.end, exchange.ended], ['cut', 'fin'], 'end of the body');
  },
  told(t, { answer, exchange, dialect }) {
    t.equal(answer.status, 200, 'status');
    const errors = answer.events.filter(dialect.isErrorEvent);
    t.equal(errors.length, 1, 'error events');
    t.match(JSON.stringify(errors[0]?.json), /Overloaded/, "the upstream's message");
    t.check(
      !/\[DONE\]|"message_stop"|"response\.completed"|"finish_reason":"/.test(answer.text),
      'a forged end',
    );
    t.check(
      exchange.ended === null || exchange.ended === 'fin',
      `the connection ended with ${exchange.ended}`,
    );
  },
};

// The part of the body that came from the upstream must be a beginning of what it sent.
function relayedPart(t, { answer, record }) {
  const sent = record.events.join('');
  const relayed = answer.text.slice(0, commonPrefix(answer.text, sent));
  const wholeEvents =
    sent.startsWith(relayed) &&
    (relayed === '' || /\n\n$/.test(relayed) || record.scenario.name === 'stallping');
  t.check(relayed.length > 0 || record.at.writes.length === 0, 'nothing of the stream was relayed');
  t.check(
    wholeEvents,
    `the error event does not follow a whole event: ...${JSON.stringify(relayed.slice(-60))}`,
  );
  return relayed;
}

function commonPrefix(a, b) {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  while (i > 0 && !a.slice(0, i).endsWith('\n\n')) i--;
  return i;
}

function checkNoForgedEnd(t, answer, relayed) {
  const added = answer.text.slice(relayed.length);
  t.check(
    !/\[DONE\]|"message_stop"|"response\.completed"|"finish_reason":"stop"/.test(added),
    `a forged end: ${added.slice(-200)}`,
  );
}

function checkRecord(t, call, { name, stream, expected, answer }) {
  t.equal(call.dialect, DIALECTS[name].record, 'dialect');
  t.equal(call.stream, stream, 'stream');
  t.equal(call.outcome, expected.outcome, 'outcome');
  t.equal(call.status, answer.status, 'status in the record');
  t.equal(
    call.error?.code ?? null,
    expected.outcome === 'ok' ? null : (expected.code ?? call.error?.code),
    'error.code in the record',
  );
  t.check(expected.outcome === 'ok' || call.error, 'no error in the record');
  t.equal([call.key, call.credential_from], ['test', 'authorization'], 'key');
  t.equal([call.model, call.upstream_model], ['mock-large', 'mock-large'], 'models');
  t.equal(call.trace_id, answer.headers['x-headway-trace-id'], 'trace_id');
  t.equal(call.attempts?.length, 1, 'attempts');
  t.equal(call.attempts?.[0]?.channel, 'mock', 'channel of the attempt');
  t.equal(call.attempts?.[0]?.outcome, expected.outcome, 'outcome of the attempt');
  if (!stream) {
    t.equal([call.ttft_ns, call.first_token_time], [null, null], 'ttft_ns and first_token_time');
    t.equal(call.first_token_reason, 'not_streamed', 'first_token_reason');
  }
}

function checkUsage(t, call, record, name) {
  if (record.scenario.name === 'nousage') {
    t.check(
      ['none', 'estimated'].includes(call.tokens.source),
      `tokens.source ${call.tokens.source}`,
    );
  } else if (name === 'embeddings') {
    t.equal([call.tokens.input, call.tokens.source], [3, 'usage'], 'tokens');
  } else {
    t.equal(
      [call.tokens.input, call.tokens.output, call.tokens.source],
      [record.usageInput, OUTPUT_TOKENS, 'usage'],
      'tokens',
    );
  }
}
