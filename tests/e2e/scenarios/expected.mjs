// What each scenario of the mock must become: status, outcome and error in the record, and what the
// client is sent. Read by answers.mjs.
//
// `body` is one of:
//   whole     the upstream's answer, byte for byte, ended as framed
//   passed    the upstream's error answer, byte for byte, with its own status
//   own       an error body of the gateway's in the dialect's shape
//   event     the stream so far, then one error event of the gateway's, no last chunk
//   told      the stream with the upstream's own error event, no forged end

const ok = { status: 200, outcome: 'ok', body: 'whole' };
const passed = (status, outcome = 'upstream_error') => ({ status, outcome, body: 'passed' });
const own = (status, code, outcome = 'upstream_error') => ({ status, code, outcome, body: 'own' });
const event = (code, outcome = 'upstream_error') => ({ status: 200, code, outcome, body: 'event' });
const told = { status: 200, code: 'channel_error', outcome: 'upstream_error', body: 'told' };

// One row: the scenario, what a stream of it becomes and what an answer that is not streamed
// becomes (null: there is no such case). `only`: the dialects that it is about; `settings`: of the
// gateway.
const row = (scenario, streamed, whole, more = {}) => ({ scenario, streamed, whole, ...more });
const both = (scenario, expected, more) => row(scenario, expected, expected, more);
const OPENAI_TEXT = ['chat', 'completions'];

export const ROWS = [
  both('ok', ok),
  both('tool', ok),
  both('tool2', ok),
  both('think', ok),
  both('thinktool', ok),
  both('split', ok),
  row('halves:5', ok, null),
  both('onewrite', ok),
  both('crlf', ok),
  both('nousage', ok),
  both('slow:0.3', ok, { clock: true }),
  both('slowhdr:0.3', ok, { clock: true }),
  row('slowping:0.3/60', ok, null, { clock: true }),
  row('slowevt:0.3/60', ok, null, { clock: true }),
  both('drip:15', ok, { clock: true }),
  row('flood:2', ok, null),

  // Unfinished streams: a finish_reason without [DONE] is finished, a missing message_stop is not.
  row('nodone', ok, ok, { only: OPENAI_TEXT }),
  row('nodone', event('channel_unfinished'), ok, { only: ['responses', 'messages'] }),
  row('cut', event('channel_broken'), own(502, 'channel_broken')),
  row('cutclean', event('channel_unfinished'), own(502, 'channel_dialect')),
  row('sseerr', told, null),
  row('sseerr0', told, null),
  row('stall', event('timeout_silence', 'timeout'), own(504, 'timeout_silence', 'timeout'), {
    settings: { silence_ms: 300 },
  }),
  row('stallping:50', event('timeout_between_tokens', 'timeout'), null, {
    settings: { between_tokens_ms: 300 },
  }),

  // Nothing, or nothing that is the dialect.
  row('hang', own(504, 'timeout_first_token', 'timeout'), null, {
    settings: { first_token_ms: 300 },
  }),
  row('hang', null, own(504, 'timeout_total', 'timeout'), { settings: { total_ms: 300 } }),
  both('reset', own(502, 'channel_broken')),
  both('html', own(502, 'channel_error')),
  both('html:503', own(503, 'channel_error')),
  both('html:404', own(404, 'channel_error', 'client_error')),
  both('html:200', own(502, 'channel_dialect')),
  both('text:500', own(500, 'channel_error')),
  both('text:400', own(400, 'channel_error', 'client_error')),
  both('empty', own(502, 'channel_dialect')),
  both('empty:503', own(503, 'channel_error')),
  both('badjson', own(502, 'channel_dialect')),
  row('json4stream', own(502, 'channel_dialect'), ok),

  // Statuses.
  ...[400, 404, 409, 413, 418, 422].map((status) =>
    both(`err:${status}`, passed(status, 'client_error')),
  ),
  both('ctxlen', passed(400, 'client_error')),
  ...[401, 403].map((status) => both(`err${status}`, own(502, 'channel_credential'))),
  ...[408, 500, 501, 502, 503, 504, 529].map((status) => both(`err${status}`, passed(status))),
  both('err429', passed(429)),
  both('err429:2', { ...passed(429), headers: { 'retry-after': '2' } }),
  both('err429ms:300', { ...passed(429), headers: { 'retry-after-ms': '300' } }),
  both('err429quota', passed(429)),
  both('noretry:500', { ...passed(500), headers: { 'x-should-retry': 'false' } }),
  both('retry:409', { ...passed(409, 'client_error'), headers: { 'x-should-retry': 'true' } }),
];

// The dialects that never stream go through the scenarios that do not need one.
export const PLAIN_SCENARIOS = new Set([
  'ok',
  'slowhdr:0.3',
  'hang',
  'reset',
  'html',
  'empty',
  'err:400',
  'err401',
  'err429:2',
  'err500',
  'err529',
]);
