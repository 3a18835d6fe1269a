// An answer in the Anthropic messages dialect, as one JSON body and as the events of its stream.
import { randomId } from './identify.mjs';
import { THOUGHT, SIGNATURE, pieces } from './plan.mjs';

const event = (object) => `event: ${object.type}\ndata: ${JSON.stringify(object)}\n\n`;

export function messagesAnswer(body, plan, usage, scenario) {
  const blocks = contentBlocks(plan);
  const stopReason = plan.kind === 'tool' ? 'tool_use' : 'end_turn';
  const counts = usage && {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: usage.output,
    service_tier: 'standard',
  };
  const json = {
    id: randomId('msg_'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: blocks,
    stop_reason: stopReason,
    stop_sequence: null,
    ...(counts ? { usage: counts } : {}),
  };
  const startUsage = counts ? { usage: { ...counts, output_tokens: 1 } } : {};
  const events = [
    event({
      type: 'message_start',
      message: { ...json, content: [], stop_reason: null, ...startUsage },
    }),
    ...blocks.flatMap((block, index) => blockEvents(block, index, plan)),
    event({
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      ...(counts ? { usage: { output_tokens: counts.output_tokens } } : {}),
    }),
  ];
  if (scenario !== 'nodone') events.push(event({ type: 'message_stop' }));
  return {
    json,
    events,
    toolIds: blocks.filter((b) => b.type === 'tool_use').map((b) => b.id),
    keepAlive: () => event({ type: 'ping' }),
    emptyEvent: () => event({ type: 'ping' }),
    errorEvent: (type) =>
      event({
        type: 'error',
        error: { type: type || 'overloaded_error', message: 'Overloaded' },
        request_id: randomId('req_'),
      }),
  };
}

function contentBlocks(plan) {
  const blocks = [];
  if (plan.think) blocks.push({ type: 'thinking', thinking: THOUGHT, signature: SIGNATURE });
  if (plan.kind === 'tool') {
    blocks.push({ type: 'text', text: 'I will run a tool.' });
    for (const call of plan.calls) {
      blocks.push({ type: 'tool_use', id: randomId('toolu_'), name: call.name, input: call.args });
    }
  } else {
    blocks.push({ type: 'text', text: plan.words.join('') });
  }
  return blocks;
}

function blockEvents(block, index, plan) {
  const start = (content_block) => event({ type: 'content_block_start', index, content_block });
  const delta = (value) => event({ type: 'content_block_delta', index, delta: value });
  const stop = event({ type: 'content_block_stop', index });
  switch (block.type) {
    case 'text': {
      const texts = plan.kind === 'tool' ? [block.text] : plan.words;
      const ping = index === 0 ? [event({ type: 'ping' })] : [];
      return [
        start({ type: 'text', text: '' }),
        ...ping,
        ...texts.map((text) => delta({ type: 'text_delta', text })),
        stop,
      ];
    }
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: block.thinking }),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ];
    case 'tool_use': {
      const parts = ['', ...pieces(JSON.stringify(block.input), 9)];
      return [
        start({ type: 'tool_use', id: block.id, name: block.name, input: {} }),
        ...parts.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ];
    }
    default:
      throw new Error(`no events for a block of type ${block.type}`);
  }
}
