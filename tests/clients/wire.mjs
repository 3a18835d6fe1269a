// How one answer looked on the client's wire: whether it ended as finished, as an error or neither,
// and what it carried (reasoning, usage).
import { events, parseJson } from './recorded.mjs';
import { THOUGHT } from './mock/plan.mjs';

// `end` is one of:
//   no-answer       nothing came
//   http-error      a status of 400 or more
//   json            a whole body that is not a stream
//   FINAL           the dialect's final event came
//   error-event     the dialect's error event came (error-event+final: a forged end after it)
//   clean-no-final  the HTTP body ended correctly, but neither came: clients take it for success
//   abort           the connection broke
export function readWire(exchange) {
  if (!exchange) return { end: 'no-answer' };
  const basic = { status: exchange.status, retryAfter: exchange.headers['retry-after'] };
  const isStream = /event-stream/.test(exchange.headers['content-type'] || '');
  return { ...basic, ...(isStream ? readStream(exchange) : readJson(exchange)) };
}

function readJson(exchange) {
  const json = parseJson(exchange.answer);
  const whole = exchange.ended === 'complete' || exchange.ended === 'eof:fin';
  const end = exchange.status >= 400 ? 'http-error' : whole ? 'json' : 'abort';
  return { end, json, usage: json?.usage, thinks: exchange.answer.includes(THOUGHT) };
}

function readStream(exchange) {
  const seen = { final: false, error: null, thinks: false, signature: null, usage: {} };
  for (const { data, json } of events(exchange.answer)) {
    if (data === '[DONE]' || !json) continue;
    readFinal(seen, json);
    readUsage(seen, json);
    readReasoning(seen, json);
    if (json.type === 'error' || json.type === 'response.failed' || (json.error && !json.type)) {
      seen.error = JSON.stringify(json).slice(0, 300);
    }
  }
  return { ...seen, end: streamEnd(seen, exchange.ended) };
}

function readFinal(seen, json) {
  if (json.type === 'message_stop' || json.type === 'response.completed') seen.final = true;
  if (json.choices?.[0]?.finish_reason) seen.final = true;
}

function readUsage(seen, json) {
  if (json.type === 'message_start') seen.usage = { ...json.message?.usage };
  if (json.type === 'message_delta') seen.usage = { ...seen.usage, ...json.usage };
  if (json.type === 'response.completed') seen.usage = json.response?.usage || {};
  if (json.object === 'chat.completion.chunk' && json.usage) seen.usage = json.usage;
}

function readReasoning(seen, json) {
  const delta = json.choices?.[0]?.delta;
  if (delta?.reasoning_content || delta?.reasoning) seen.thinks = true;
  if (json.delta?.type === 'thinking_delta' && json.delta.thinking) seen.thinks = true;
  if (/reasoning.*delta/.test(json.type || '')) seen.thinks = true;
  if (json.delta?.type === 'signature_delta') seen.signature = json.delta.signature;
  if (json.item?.type === 'reasoning' && json.item.encrypted_content)
    seen.signature = json.item.encrypted_content;
}

function streamEnd({ final, error }, ended) {
  const broken = ended !== 'complete' && ended !== 'eof:fin';
  if (error) return final ? 'error-event+final' : 'error-event';
  if (final) return 'FINAL';
  return broken ? 'abort' : 'clean-no-final';
}
