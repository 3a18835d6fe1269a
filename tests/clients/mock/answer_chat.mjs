// An answer in the OpenAI chat completions dialect, as one JSON body and as the events of its
// stream.
import { randomId, nowSeconds } from './identify.mjs';
import { THOUGHT, pieces } from './plan.mjs';

const event = (object) => `data: ${JSON.stringify(object)}\n\n`;

export function chatAnswer(body, plan, usage, scenario) {
  const id = randomId('chatcmpl-');
  const created = nowSeconds();
  const model = body.model;
  const counts = usage && chatUsage(usage);
  const wantsUsage = body.stream_options?.include_usage;
  const calls = plan.kind === 'tool' ? plan.calls.map(toolCall) : null;
  const finish = calls ? 'tool_calls' : 'stop';
  const text = calls ? null : plan.words.join('');

  const message = {
    role: 'assistant',
    content: text,
    refusal: null,
    annotations: [],
    ...(plan.think ? { reasoning_content: THOUGHT } : {}),
    ...(calls ? { tool_calls: calls } : {}),
  };
  const json = {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(counts ? { usage: counts } : {}),
    service_tier: 'default',
    system_fingerprint: 'fp_mock',
  };

  const chunk = (delta, finish_reason = null) =>
    event({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      service_tier: 'default',
      system_fingerprint: 'fp_mock',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(wantsUsage ? { usage: null } : {}),
    });
  const events = [chunk({ role: 'assistant', content: calls ? null : '', refusal: null })];
  if (plan.think) events.push(chunk({ reasoning_content: THOUGHT }));
  if (calls)
    events.push(...calls.flatMap((call, index) => callDeltas(call, index).map((d) => chunk(d))));
  else events.push(...plan.words.map((word) => chunk({ content: word })));
  events.push(chunk({}, finish));
  if (wantsUsage && counts) {
    events.push(
      event({ id, object: 'chat.completion.chunk', created, model, choices: [], usage: counts }),
    );
  }
  if (scenario !== 'nodone') events.push('data: [DONE]\n\n');

  return {
    json,
    events,
    toolIds: (calls || []).map((call) => call.id),
    keepAlive: () => ': ping\n\n',
    emptyEvent: () =>
      event({
        id,
        object: 'chat.completion.chunk',
        created,
        model,
        choices: [{ index: 0, delta: {}, finish_reason: null }],
      }),
    errorEvent: (type) =>
      event({
        error: { message: 'Overloaded', type: type || 'server_error', param: null, code: null },
      }),
  };
}

const toolCall = (call) => ({
  id: randomId('call_'),
  type: 'function',
  function: { name: call.name, arguments: JSON.stringify(call.args) },
});

function callDeltas(call, index) {
  const opening = {
    index,
    id: call.id,
    type: 'function',
    function: { name: call.function.name, arguments: '' },
  };
  const parts = pieces(call.function.arguments, 9);
  return [opening, ...parts.map((part) => ({ index, function: { arguments: part } }))].map(
    (entry) => ({ tool_calls: [entry] }),
  );
}

const chatUsage = (usage) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
});
