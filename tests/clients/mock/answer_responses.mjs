// An answer in the OpenAI responses dialect, as one JSON body and as the events of its stream.
import { randomId, nowSeconds } from './identify.mjs';
import { THOUGHT, ENCRYPTED_REASONING, pieces } from './plan.mjs';

export function responsesAnswer(body, plan, usage, scenario) {
  const base = blankResponse(body);
  const items = outputItems(plan);
  const done = {
    ...base,
    status: 'completed',
    output: items,
    usage: usage && responsesUsage(usage),
  };
  let sequence = 0;
  const event = (object) => {
    const data = JSON.stringify({ ...object, sequence_number: sequence++ });
    return `event: ${object.type}\ndata: ${data}\n\n`;
  };

  const events = [
    event({ type: 'response.created', response: base }),
    event({ type: 'response.in_progress', response: base }),
    ...items.flatMap((item, index) => itemEvents(item, index, plan).map(event)),
  ];
  if (scenario !== 'nodone') events.push(event({ type: 'response.completed', response: done }));
  return {
    json: done,
    events,
    toolIds: items.filter((item) => item.type === 'function_call').map((item) => item.call_id),
    keepAlive: () => ': ping\n\n',
    emptyEvent: () => event({ type: 'response.in_progress', response: base }),
    errorEvent: (type) =>
      event({
        type: 'response.failed',
        response: {
          ...base,
          status: 'failed',
          error: { code: type || 'server_error', message: 'Overloaded' },
        },
      }),
  };
}

const blankResponse = (body) => ({
  id: randomId('resp_'),
  object: 'response',
  created_at: nowSeconds(),
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: body.instructions ?? null,
  max_output_tokens: null,
  model: body.model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: body.previous_response_id ?? null,
  reasoning: body.reasoning || { effort: null, summary: null },
  store: body.store ?? true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: body.tool_choice || 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  user: null,
  metadata: {},
});

const responsesUsage = (usage) => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usage.input + usage.output,
});

const textPart = (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function outputItems(plan) {
  const items = [];
  if (plan.think) {
    items.push({
      id: randomId('rs_'),
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: THOUGHT }],
      encrypted_content: ENCRYPTED_REASONING,
    });
  }
  if (plan.kind === 'tool') {
    for (const call of plan.calls) {
      items.push({
        id: randomId('fc_'),
        type: 'function_call',
        status: 'completed',
        call_id: randomId('call_'),
        name: call.name,
        arguments: JSON.stringify(call.args),
      });
    }
  } else {
    items.push({
      id: randomId('msg_'),
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [textPart(plan.words.join(''))],
    });
  }
  return items;
}

function itemEvents(item, output_index, plan) {
  const place = { item_id: item.id, output_index };
  const added = (state) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...state },
  });
  const done = { type: 'response.output_item.done', output_index, item };
  switch (item.type) {
    case 'message': {
      const at = { ...place, content_index: 0 };
      const part = item.content[0];
      return [
        added({ status: 'in_progress', content: [] }),
        { type: 'response.content_part.added', ...at, part: textPart('') },
        ...plan.words.map((delta) => ({
          type: 'response.output_text.delta',
          ...at,
          delta,
          logprobs: [],
        })),
        { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
        done,
      ];
    }
    case 'function_call':
      return [
        added({ status: 'in_progress', arguments: '' }),
        ...pieces(item.arguments, 9).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
        done,
      ];
    case 'reasoning': {
      const at = { ...place, summary_index: 0 };
      const part = item.summary[0];
      return [
        added({ summary: [] }),
        {
          type: 'response.reasoning_summary_part.added',
          ...at,
          part: { type: 'summary_text', text: '' },
        },
        { type: 'response.reasoning_summary_text.delta', ...at, delta: part.text },
        { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
        { type: 'response.reasoning_summary_part.done', ...at, part },
        done,
      ];
    }
    default:
      throw new Error(`no events for an item of type ${item.type}`);
  }
}
