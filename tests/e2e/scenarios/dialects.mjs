// The dialects that a client can speak to the gateway: where, with which body, and what their
// errors, error events and heartbeats look like.

const MODEL = 'mock-large';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const openaiError = (body) =>
  typeof body?.error?.message === 'string' &&
  typeof body.error.type === 'string' &&
  'param' in body.error &&
  'code' in body.error;
const anthropicError = (body) =>
  body?.type === 'error' &&
  typeof body.error?.type === 'string' &&
  typeof body.error.message === 'string' &&
  typeof body.request_id === 'string';

// Each: {record: its name in a call, family, path, body(stream, tools), streams, isError(json),
// errorCode(json), isErrorEvent(event), isHeartbeat(event), isToken(event text)}.
export const DIALECTS = {
  chat: {
    record: 'openai-chat',
    family: 'openai',
    path: '/v1/chat/completions',
    streams: true,
    body: (stream, tools) => ({
      model: MODEL,
      messages: [{ role: 'user', content: 'say hi' }],
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
      ...(tools
        ? { tools: [{ type: 'function', function: { name: 'get_weather', parameters: SCHEMA } }] }
        : {}),
    }),
    isErrorEvent: (event) => Boolean(event.json?.error),
    isHeartbeat: (event) => event.comment !== null && !event.data,
    isToken: (text) =>
      /"content":"[^"]|"arguments":"[^"]|"reasoning_content":"[^"]|"name":"/.test(text),
  },
  completions: {
    record: 'openai-completions',
    family: 'openai',
    path: '/v1/completions',
    streams: true,
    body: (stream) => ({
      model: MODEL,
      prompt: 'say hi',
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
    }),
    isErrorEvent: (event) => Boolean(event.json?.error),
    isHeartbeat: (event) => event.comment !== null && !event.data,
    isToken: (text) => /"text":"[^"]/.test(text),
  },
  responses: {
    record: 'openai-responses',
    family: 'openai',
    path: '/v1/responses',
    streams: true,
    body: (stream, tools) => ({
      model: MODEL,
      input: 'say hi',
      stream,
      ...(tools ? { tools: [{ type: 'function', name: 'get_weather', parameters: SCHEMA }] } : {}),
    }),
    isErrorEvent: (event) => event.json?.type === 'response.failed' || event.json?.type === 'error',
    isHeartbeat: (event) => event.comment !== null || event.json?.type === 'response.in_progress',
    isToken: (text) => /"type":"response\.[a-z_.]*\.delta"/.test(text),
  },
  messages: {
    record: 'anthropic-messages',
    family: 'anthropic',
    path: '/v1/messages',
    streams: true,
    body: (stream, tools) => ({
      model: MODEL,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'say hi' }],
      stream,
      ...(tools ? { tools: [{ name: 'get_weather', input_schema: SCHEMA }] } : {}),
    }),
    isErrorEvent: (event) => event.json?.type === 'error',
    isHeartbeat: (event) => event.json?.type === 'ping',
    isToken: (text) => /"(text|thinking|partial_json)":"[^"]/.test(text) && /_delta"/.test(text),
  },
  embeddings: {
    record: 'openai-embeddings',
    family: 'openai',
    path: '/v1/embeddings',
    streams: false,
    body: () => ({ model: MODEL, input: ['a', 'b'] }),
  },
  count_tokens: {
    record: 'anthropic-messages',
    family: 'anthropic',
    path: '/v1/messages/count_tokens',
    streams: false,
    body: () => ({ model: MODEL, messages: [{ role: 'user', content: 'say hi' }] }),
  },
};
for (const dialect of Object.values(DIALECTS)) {
  const isOpenai = dialect.family === 'openai';
  dialect.isError = isOpenai ? openaiError : anthropicError;
  dialect.anthropicHeaders = isOpenai ? {} : { 'anthropic-version': '2023-06-01' };
}

export const STREAMING = Object.keys(DIALECTS).filter((name) => DIALECTS[name].streams);

// A channel of that family in front of a mock.
export const channelFor = (family, mock, more = {}) => ({
  name: 'mock',
  dialect: family,
  base_url: family === 'openai' ? `${mock.url}/v1` : mock.url,
  models: [MODEL],
  ...more,
});

// What a client of that dialect sends.
export function requestOf(name, { stream = false, tools = false, headers = {}, ...more } = {}) {
  const dialect = DIALECTS[name];
  return {
    path: dialect.path,
    body: dialect.body(stream, tools),
    headers: { ...dialect.anthropicHeaders, ...headers },
    ...more,
  };
}
