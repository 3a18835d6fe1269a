// Would a real upstream take this request? The public rules of the three APIs, as far as a history
// with tools and reasoning can break them; the mock takes anything. Each function gives the rules
// that a body breaks, as short sentences.

const TOOL_ID_CHAT_MAX = 40;
const CALL_ID_RESPONSES_MAX = 64;

// dialect: 'chat', 'messages' or 'responses'; headers: of the request, in lower case.
export function brokenRules(dialect, body, headers = {}) {
  const found = new Set();
  RULES[dialect](body, (rule) => found.add(rule), headers);
  return [...found];
}

const RULES = { chat: chatRules, messages: messagesRules, responses: responsesRules };
const holds = (body, text) => JSON.stringify(body).includes(text);

function refuseFields(body, names, report) {
  for (const name of names) if (name in body) report(`field ${name} of another dialect`);
}

// --- chat completions ------------------------------------------------------------------------

function chatRules(body, report) {
  const messages = body.messages ?? [];
  messages.forEach((message, i) => chatMessageRules(messages, message, i, report));
  for (const tool of body.tools ?? []) {
    if (tool.type !== 'function' && tool.type !== 'custom') report(`tool type ${tool.type}`);
    if (tool.type === 'function' && !tool.function) report('function tool without function');
  }
  refuseFields(
    body,
    [
      ...['reasoning', 'include', 'client_metadata', 'thinking', 'context_management'],
      ...['output_config', 'enable_thinking', 'input', 'instructions', 'system'],
    ],
    report,
  );
  if (holds(body, '"cache_control"')) report('cache_control');
  if ('web_search_options' in body) report('web_search_options, for search models only');
  if (body.parallel_tool_calls !== undefined && !body.tools?.length) {
    report('parallel_tool_calls without tools');
  }
}

function chatMessageRules(messages, message, i, report) {
  const calls = message.tool_calls ?? [];
  const answered = new Set();
  for (let k = i + 1; messages[k]?.role === 'tool'; k++) answered.add(messages[k].tool_call_id);
  if (calls.some(({ id }) => !answered.has(id))) report('tool calls without all their results');
  if (calls.some(({ id }) => id?.length > TOOL_ID_CHAT_MAX)) report('tool id too long');
  const called = (id) =>
    messages.slice(0, i).some((before) => before.tool_calls?.some((call) => call.id === id));
  if (message.role === 'tool' && !called(message.tool_call_id)) report('result without its call');
  if (message.role === 'assistant' && message.content == null && !calls.length) {
    report('assistant without content');
  }
}

// --- messages --------------------------------------------------------------------------------

function messagesRules(body, report, headers) {
  if (!body.max_tokens) report('max_tokens missing');
  const turns = mergedTurns(body.messages ?? [], report);
  turns.forEach((turn, i) => turnRules(body, turns, turn, i, report));
  for (const tool of body.tools ?? []) {
    if (tool.type && tool.type !== 'custom') continue;
    if (tool.input_schema?.type !== 'object') report('tool without an object as input_schema');
  }
  refuseFields(
    body,
    ['stream_options', 'parallel_tool_calls', 'store', 'reasoning_effort', 'reasoning', 'n'],
    report,
  );
  if (!headers['anthropic-version']) report('header anthropic-version missing');
  const beta = headers['anthropic-beta'] ?? '';
  const needed = [
    [body.context_management, /context-management/],
    [body.output_config?.effort, /effort/],
    [holds(body.tools ?? [], 'defer_loading'), /tool-use|tool-search|tool-changes/],
  ];
  if (needed.some(([used, flag]) => used && !flag.test(beta))) report('beta field without flag');
}

// Messages of one role that follow each other are one turn to the API.
function mergedTurns(messages, report) {
  const turns = [];
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content ?? [];
    if (!blocks.length) report('empty content');
    if (blocks.some(({ type, text }) => type === 'text' && text === '')) report('empty text block');
    if (turns.at(-1)?.role === role) turns.at(-1).blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }
  return turns;
}

function turnRules(body, turns, { role, blocks }, i, report) {
  const uses = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  const results = (turns[i + 1]?.blocks ?? [])
    .filter(({ type }) => type === 'tool_result')
    .map((block) => block.tool_use_id);
  if (role === 'assistant' && !uses.every((id) => results.includes(id))) {
    report('tool_use without tool_result in the next message');
  }
  // With "adaptive" a model may call a tool without having thought.
  const thinks = body.thinking?.type === 'enabled';
  const isLastCall = role === 'assistant' && uses.length > 0 && i >= turns.length - 3;
  if (thinks && isLastCall && !/thinking/.test(blocks[0].type)) {
    report('thinking is on and the last call has no thinking block');
  }
  if (uses.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id))) report('tool id with other characters');
  if (blocks.some(({ type, signature }) => type === 'thinking' && !signature)) {
    report('thinking without signature');
  }
}

// --- responses -------------------------------------------------------------------------------

function responsesRules(body, report) {
  const items = Array.isArray(body.input) ? body.input : [];
  const answered = new Set(
    items.filter(({ type }) => /_call_output$/.test(type)).map(({ call_id: id }) => id),
  );
  for (const item of items) {
    const isCall = item.type === 'function_call' || item.type === 'custom_tool_call';
    if (isCall && !answered.has(item.call_id)) report('call without output');
    if (item.type === 'reasoning' && item.encrypted_content === '') {
      report('reasoning with empty encrypted_content');
    }
    if (item.call_id?.length > CALL_ID_RESPONSES_MAX) report('call_id too long');
    const parts = Array.isArray(item.content) ? item.content : [];
    if (item.role === 'assistant' && parts.some(({ type }) => type === 'input_text')) {
      report('assistant with input_text');
    }
    if (item.role && item.tool_calls) report('tool_calls in input');
  }
  refuseFields(
    body,
    ['messages', 'max_tokens', 'thinking', 'context_management', 'output_config', 'system'],
    report,
  );
  if (holds(body, '"cache_control"')) report('cache_control');
}
