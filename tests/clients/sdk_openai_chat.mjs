// The OpenAI SDK's chat completions: raw stream, stream helper with a tool loop, not streamed.
import OpenAI from 'openai';
import { WEATHER_SCHEMA, runWeather, TURNS_MAX, modeOf, underDeadline } from './sdk.mjs';

const TOOLS = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'weather', parameters: WEATHER_SCHEMA },
  },
];

export function runOpenAiChat({ port, key, model, scenario, timeoutMs }) {
  const sdk = new OpenAI({
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: key,
    timeout: timeoutMs,
  });
  const tools = /tool/.test(scenario) ? TOOLS : undefined;
  const messages = [
    { role: 'system', content: 'You are terse.' },
    { role: 'user', content: 'say hi' },
  ];
  return underDeadline(timeoutMs, async (result, options) => {
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      const message = await ASK[modeOf(scenario)](sdk, { model, messages, tools }, options, result);
      result.text = message.content || '';
      if (!message.tool_calls?.length) break;
      messages.push(assistantTurn(message), ...message.tool_calls.map(toolTurn));
    }
  });
}

const ASK = {
  async whole(sdk, request, options) {
    const answer = await sdk.chat.completions.create(request, options);
    return answer.choices[0].message;
  },
  async helper(sdk, request, options) {
    const stream = sdk.chat.completions.stream(
      { ...request, stream_options: { include_usage: true } },
      options,
    );
    return (await stream.finalChatCompletion()).choices[0].message;
  },
  async raw(sdk, request, options, result) {
    const stream = await sdk.chat.completions.create(
      { ...request, stream: true, stream_options: { include_usage: true } },
      options,
    );
    for await (const chunk of stream) result.text += chunk.choices[0]?.delta?.content || '';
    return { content: result.text };
  },
};

const assistantTurn = (message) => ({
  role: 'assistant',
  content: message.content,
  ...(message.reasoning_content ? { reasoning_content: message.reasoning_content } : {}),
  tool_calls: message.tool_calls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })),
});

const toolTurn = (call) => ({
  role: 'tool',
  tool_call_id: call.id,
  content: runWeather(JSON.parse(call.function.arguments)),
});
