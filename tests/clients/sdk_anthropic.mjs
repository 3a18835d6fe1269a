// The Anthropic SDK's messages: raw stream, stream helper with a tool loop, not streamed. Two major
// versions, which differ on the wire (API version, how the key is sent).
import Anthropic0 from 'anthropic-sdk-0';
import Anthropic1 from 'anthropic-sdk-1';
import { WEATHER_SCHEMA, runWeather, TURNS_MAX, modeOf, underDeadline } from './sdk.mjs';

const CACHED = { cache_control: { type: 'ephemeral' } };
const TOOLS = [
  { name: 'get_weather', description: 'weather', input_schema: WEATHER_SCHEMA, ...CACHED },
];

export const runAnthropic0 = (cell) => runAnthropic(Anthropic0, cell);
export const runAnthropic1 = (cell) => runAnthropic(Anthropic1, cell);

function runAnthropic(Sdk, { port, key, model, scenario, timeoutMs }) {
  const sdk = new Sdk({ baseURL: `http://127.0.0.1:${port}`, apiKey: key, timeout: timeoutMs });
  const messages = [{ role: 'user', content: 'say hi' }];
  const request = {
    model,
    messages,
    max_tokens: 4000,
    system: [{ type: 'text', text: 'You are terse.', ...CACHED }],
    tools: /tool/.test(scenario) ? TOOLS : undefined,
    ...(/think/.test(scenario) ? { thinking: { type: 'enabled', budget_tokens: 2000 } } : {}),
  };
  return underDeadline(timeoutMs, async (result, options) => {
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      const message = await ASK[modeOf(scenario)](sdk, request, options, result);
      const calls = (message?.content || []).filter((block) => block.type === 'tool_use');
      if (!calls.length) break;
      messages.push(
        { role: 'assistant', content: message.content },
        { role: 'user', content: calls.map(toolResult) },
      );
    }
  });
}

const ASK = {
  async whole(sdk, request, options, result) {
    return note(await sdk.messages.create(request, options), result);
  },
  async helper(sdk, request, options, result) {
    return note(await sdk.messages.stream(request, options).finalMessage(), result);
  },
  async raw(sdk, request, options, result) {
    for await (const event of await sdk.messages.create({ ...request, stream: true }, options)) {
      if (event.delta?.type === 'text_delta') result.text += event.delta.text;
    }
    return null;
  },
};

function note(message, result) {
  result.text = message.content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('');
  return message;
}

const toolResult = (call) => ({
  type: 'tool_result',
  tool_use_id: call.id,
  content: runWeather(call.input),
});
