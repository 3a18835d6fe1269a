// An answer in the old OpenAI completions dialect, as one JSON body and as the events of its
// stream.
import { randomId, nowSeconds } from './identify.mjs';

const event = (object) => `data: ${JSON.stringify(object)}\n\n`;

export function completionsAnswer(body, plan, usage, scenario) {
  const id = randomId('cmpl-');
  const created = nowSeconds();
  const words = plan.words || [];
  const wantsUsage = body.stream_options?.include_usage;
  const counts = usage && {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
  const answer = (choices, more = {}) => ({
    id,
    object: 'text_completion',
    created,
    model: body.model,
    choices,
    ...more,
  });
  const choice = (text, finish_reason) => ({ index: 0, text, logprobs: null, finish_reason });

  const json = answer([choice(words.join(''), 'stop')], counts ? { usage: counts } : {});
  const events = words.map((word) => event(answer([choice(word, null)])));
  events.push(event(answer([choice('', 'stop')])));
  if (wantsUsage && counts) events.push(event(answer([], { usage: counts })));
  if (scenario !== 'nodone') events.push('data: [DONE]\n\n');
  return {
    json,
    events,
    toolIds: [],
    keepAlive: () => ': ping\n\n',
    emptyEvent: () => event(answer([choice('', null)])),
    errorEvent: (type) => event({ error: { message: 'Overloaded', type: type || 'server_error' } }),
  };
}
