// What the SDK drivers share: the tool that they offer, and one conversation under a deadline.

export const WEATHER_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const MARKERS = { Oslo: 'tool-ran-42', Rome: 'tool-ran-43' };
export const runWeather = ({ city }) => MARKERS[city] || 'bad city';

export const TURNS_MAX = 3;

// How a scenario is asked for: `ns...` is not streamed, tools are used through the stream helper,
// everything else through the raw iterator.
export function modeOf(scenario) {
  if (scenario.startsWith('ns')) return 'whole';
  return /tool/.test(scenario) ? 'helper' : 'raw';
}

// Runs `converse(result, {signal})` and returns {ok, text, error, timedOut}; `result.text` is kept
// up to date by the conversation, so that a broken one shows how far it came.
export async function underDeadline(timeoutMs, converse) {
  const result = { ok: true, text: '', error: null, timedOut: false };
  const abort = new AbortController();
  const timer = setTimeout(() => {
    result.timedOut = true;
    abort.abort();
  }, timeoutMs);
  try {
    await converse(result, { signal: abort.signal });
  } catch (error) {
    result.ok = false;
    const status = error.status ? ` ${error.status}` : '';
    result.error = `${error.constructor?.name}${status}: ${String(error.message).slice(0, 300)}`;
  }
  clearTimeout(timer);
  return result;
}
