// Judges one cell: what the client ended with, what the upstream got, what was on the client's
// wire.
//
// A verdict is {pass, code, why, losses}. `pass` with losses is a pass with something lost. Codes:
// TRUNC truncated text reported as success, EMPTY nothing reported as success, TEXT other text, ERR
// an error where none was due, NOERR no error where one was due, STATUS another status, HANG no
// end, PAR a parallel call lost, SWAP results swapped, NOTOOL / NOCALL no tool round trip, LEAK
// reasoning in the text. Losses: RA retry-after, MSG the upstream's message, SHAPE error body not
// in the dialect, TH reasoning, TB reasoning not given back, SIG signature, ID tool ids, U usage,
// FAKEEND a forged end, amp upstream calls per client call, retry client calls.
import { FULL_TEXT, THOUGHT, SIGNATURE, ENCRYPTED_REASONING } from './mock/plan.mjs';
import { OUTPUT_TOKENS } from './mock/server.mjs';
import { readWire } from './wire.mjs';

// What a client loses without a gateway too is not held against one: these providers of Cline do
// not give reasoning back.
const LOST_BY_ITSELF = {
  'cline-resp thinktool': ['TB'],
  'cline-anth thinktool': ['TB'],
};

// cell: {client, dialect (of the upstream), scenario}; result: what the client reported; exchanges:
// of the client's wire, model requests only; upstream: the mock's records of model requests.
export function judge({ client, dialect, scenario }, result, exchanges, upstream) {
  const base = scenario.split(/[:,]/)[0].replace(/^ns/, '');
  const wires = exchanges.map(readWire);
  const context = {
    client,
    dialect,
    base,
    result,
    exchanges,
    upstream,
    wires,
    first: wires[0] || { end: 'no-answer' },
  };
  const losses = [];
  const fault = JUDGES[base] ? JUDGES[base](context, losses) : judgeAnswer(context, losses);
  if (!isToolRun(base) && upstream.length > Math.max(1, exchanges.length)) {
    losses.push(`amp${upstream.length}/${exchanges.length}`);
  }
  const own = LOST_BY_ITSELF[`${client.id} ${scenario}`] || [];
  return {
    pass: !fault,
    code: fault?.code ?? null,
    why: fault ? String(fault.why ?? '').slice(0, 300) : null,
    losses: [...new Set(losses)].filter((loss) => !own.includes(loss)),
    wireEnd: context.first.end,
    clientRequests: exchanges.length,
    upstreamRequests: upstream.length,
  };
}

const JUDGES = {
  cut: judgeBroken,
  cutclean: judgeBroken,
  sseerr: judgeBroken,
  err429: judgeRateLimit,
};
const isToolRun = (base) => /tool/.test(base);

// The upstream did not finish: either the client recovered the whole text, or it showed an error.
function judgeBroken({ base, result, first }, losses) {
  if (result.ok && result.text === FULL_TEXT) return null;
  if (result.ok) {
    return {
      code: 'TRUNC',
      why: `reported success with ${JSON.stringify(result.text).slice(0, 80)}; wire ${first.end}`,
    };
  }
  if (result.timedOut) return { code: 'HANG', why: first.end };
  if (base === 'sseerr' && !/overload/i.test(result.error || '')) losses.push('MSG');
  if (first.end === 'FINAL' || first.end.endsWith('+final')) losses.push('FAKEEND');
  return null;
}

function judgeRateLimit({ client, result, exchanges, first }, losses) {
  if (result.ok) return { code: 'NOERR', why: result.text };
  if (first.status !== 429)
    return { code: 'STATUS', why: `${first.status} ${JSON.stringify(first.json)}` };
  if (!first.retryAfter) losses.push('RA');
  const stillRetrying = client.retriesForLong && exchanges.length > 1;
  if (result.timedOut && !stillRetrying) return { code: 'HANG' };
  if (!/mock: rate limited/.test(exchanges[0].answer)) losses.push('MSG');
  const error = first.json?.error;
  const shaped =
    client.dialect === 'messages'
      ? first.json?.type === 'error' && error?.type
      : error?.message !== undefined;
  if (!shaped) losses.push('SHAPE');
  return null;
}

function judgeAnswer(context, losses) {
  const { base, result, exchanges, wires, first } = context;
  if (result.timedOut)
    return { code: 'HANG', why: `client ${exchanges.length}, upstream ${context.upstream.length}` };
  if (!result.ok) return { code: 'ERR', why: result.error };
  const fault =
    (isToolRun(base) && judgeTools(context, losses)) ||
    (/think/.test(base) && judgeThought(context, losses)) ||
    judgeText(result.text);
  if (fault) return fault;
  if (base !== 'nousage') judgeUsage(context, losses);
  // Where its dialect demands usage, a translated answer has an estimate.
  else if (context.dialect === context.client.dialect && inputTokens(first.usage) > 0)
    losses.push('UINV');
  if (base !== 'err529' && exchanges.length > (isToolRun(base) ? 2 : 1))
    losses.push(`retry${exchanges.length}`);
  return wires.length ? null : { code: 'ERR', why: 'no request on the wire' };
}

function judgeText(text) {
  if (text === FULL_TEXT) return null;
  if (text === '') return { code: 'EMPTY' };
  return FULL_TEXT.startsWith(text)
    ? { code: 'TRUNC', why: text }
    : { code: 'TEXT', why: JSON.stringify(text) };
}

// Each call ran, and its own result came back to the upstream under a consistent id.
function judgeTools({ dialect, base, result, upstream }, losses) {
  const { calls, results, reasoning } = toolHistory(
    dialect,
    upstream.filter((r) => r.body).at(-1)?.body,
  );
  const issued = upstream.find((r) => r.issuedToolIds?.length)?.issuedToolIds || [];
  const wanted = base === 'tool2' ? 2 : 1;
  if (!issued.length) return { code: 'NOCALL', why: 'the upstream saw no usable tool' };
  if (!results.length)
    return {
      code: 'NOTOOL',
      why: `no tool result reached the upstream; text ${JSON.stringify(result.text).slice(0, 80)}`,
    };
  if (results.length < wanted || calls.length < wanted)
    return { code: 'PAR', why: `${calls.length} calls, ${results.length} results of ${wanted}` };
  for (const call of calls) {
    const own = results.find((r) => r.id === call.id);
    const marker = /41\+2|Rome/.test(call.args) ? 'tool-ran-43' : 'tool-ran-42';
    if (!own?.output.includes(marker))
      return { code: 'SWAP', why: `${call.args} -> ${own?.output.slice(0, 100)}` };
  }
  if (!issued.every((id) => calls.some((call) => call.id === id))) losses.push('ID');
  if (upstream.length > 2) losses.push(`amp${upstream.length}`);
  if (base === 'thinktool' && !givenBack(dialect, reasoning))
    losses.push(reasoning ? 'SIG' : 'TB');
  return null;
}

function givenBack(dialect, reasoning) {
  const proof = { messages: SIGNATURE, responses: ENCRYPTED_REASONING, chat: '' }[dialect];
  return reasoning !== null && reasoning.includes(proof);
}

function judgeThought({ client, dialect, result, wires }, losses) {
  if (result.text.includes(THOUGHT)) return { code: 'LEAK', why: result.text };
  if (!wires.some((wire) => wire.thinks)) losses.push('TH');
  else if (
    client.dialect === 'messages' &&
    dialect === 'messages' &&
    !wires.some(
      (wire) => wire.signature === SIGNATURE || JSON.stringify(wire.json ?? '').includes(SIGNATURE),
    )
  )
    losses.push('SIG');
  return null;
}

const inputTokens = (usage) => usage?.input_tokens ?? usage?.prompt_tokens;
const outputTokens = (usage) => usage?.output_tokens ?? usage?.completion_tokens;

function judgeUsage({ wires, upstream }, losses) {
  const usage = wires.filter((wire) => wire.status === 200).at(-1)?.usage;
  const told = upstream.filter((r) => r.usageInput).at(-1)?.usageInput;
  if (!(inputTokens(usage) > 0) || !(outputTokens(usage) > 0)) losses.push('U0');
  else if (inputTokens(usage) !== told || outputTokens(usage) !== OUTPUT_TOKENS) losses.push('U');
}

// Calls, results and reasoning in the history that the upstream was sent, in its dialect.
function toolHistory(dialect, body) {
  const history = { calls: [], results: [], reasoning: null };
  const text = (content) => (typeof content === 'string' ? content : JSON.stringify(content));
  const read = { chat: readChatMessage, messages: readMessage, responses: readItem }[dialect];
  for (const entry of body?.messages || (Array.isArray(body?.input) ? body.input : []))
    read(history, entry, text);
  return history;
}

function readChatMessage(history, message, text) {
  for (const call of message.tool_calls || [])
    history.calls.push({ id: call.id, args: call.function?.arguments });
  if (message.role === 'tool')
    history.results.push({ id: message.tool_call_id, output: text(message.content) });
  const reasoning = message.reasoning_content || message.reasoning;
  if (message.role === 'assistant' && reasoning) history.reasoning = JSON.stringify(reasoning);
}

function readMessage(history, message, text) {
  for (const block of Array.isArray(message.content) ? message.content : []) {
    if (block.type === 'tool_use')
      history.calls.push({ id: block.id, args: JSON.stringify(block.input) });
    if (block.type === 'tool_result')
      history.results.push({ id: block.tool_use_id, output: text(block.content) });
    if (block.type === 'thinking') history.reasoning = JSON.stringify(block);
  }
}

function readItem(history, item, text) {
  if (item.type === 'function_call') history.calls.push({ id: item.call_id, args: item.arguments });
  if (item.type === 'function_call_output')
    history.results.push({ id: item.call_id, output: text(item.output) });
  if (item.type === 'reasoning') history.reasoning = JSON.stringify(item);
}
