// The OpenAI SDK's responses: raw stream, stream helper with a tool loop, not streamed.
import OpenAI from 'openai';
import { WEATHER_SCHEMA, runWeather, TURNS_MAX, modeOf, underDeadline } from './sdk.mjs';

const TOOLS = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'weather',
    parameters: WEATHER_SCHEMA,
    strict: true,
  },
];

export function runOpenAiResponses({ port, key, model, scenario, timeoutMs }) {
  const sdk = new OpenAI({
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: key,
    timeout: timeoutMs,
  });
  const input = [{ role: 'user', content: 'say hi' }];
  const request = {
    model,
    input,
    instructions: 'You are terse.',
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: /tool/.test(scenario) ? TOOLS : undefined,
  };
  return underDeadline(timeoutMs, async (result, options) => {
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      const response = await ASK[modeOf(scenario)](sdk, request, options, result);
      const calls = (response?.output || []).filter((item) => item.type === 'function_call');
      if (!calls.length) break;
      input.push(
        ...response.output.map(({ parsed_arguments: _dropped, ...item }) => item),
        ...calls.map(toolOutput),
      );
    }
  });
}

const ASK = {
  async whole(sdk, request, options, result) {
    return note(await sdk.responses.create(request, options), result);
  },
  async helper(sdk, request, options, result) {
    return note(await sdk.responses.stream(request, options).finalResponse(), result);
  },
  async raw(sdk, request, options, result) {
    let last = null;
    for await (const event of await sdk.responses.create({ ...request, stream: true }, options)) {
      if (event.type === 'response.output_text.delta') result.text += event.delta;
      if (event.type === 'response.completed') last = event.response;
      if (event.type === 'response.failed' || event.type === 'error') {
        result.ok = false;
        result.error = event.response?.error?.message || event.message || event.type;
      }
    }
    return last;
  },
};

function note(response, result) {
  const parts = (response.output || [])
    .filter((item) => item.type === 'message')
    .flatMap((item) => item.content);
  result.text = parts.map((part) => part.text).join('');
  if (response.status === 'failed')
    Object.assign(result, { ok: false, error: response.error?.message });
  return response;
}

const toolOutput = (call) => ({
  type: 'function_call_output',
  call_id: call.call_id,
  output: runWeather(JSON.parse(call.arguments)),
});
