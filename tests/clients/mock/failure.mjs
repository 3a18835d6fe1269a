// Answers of the mock that are failures before any output: error bodies and bodies of a wrong kind.
import { randomId } from './identify.mjs';

const TYPES = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const MESSAGES = {
  400: 'mock: bad request',
  401: 'mock: invalid api key',
  403: 'mock: forbidden',
  413: 'mock: request too large',
  429: 'mock: rate limited',
  500: 'mock: internal error',
  503: 'mock: unavailable',
  529: 'Overloaded',
};

// {status, headers, body} of an error in the dialect's shape.
export function errorAnswer(dialect, status, { type, message, code = null, headers = {} } = {}) {
  const id = randomId('req_');
  const kind = type || TYPES[status] || (status >= 500 ? 'api_error' : 'invalid_request_error');
  const text = message || MESSAGES[status] || `mock: status ${status}`;
  const body =
    dialect === 'anthropic'
      ? { type: 'error', error: { type: kind, message: text }, request_id: id }
      : { error: { message: text, type: kind, param: null, code } };
  const idHeader = dialect === 'anthropic' ? 'request-id' : 'x-request-id';
  return json(status, body, { [idHeader]: id, ...headers });
}

export const json = (status, body, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

// The failure that a scenario asks for, or null where it goes on to an answer.
export function failureFor({ name, argument }, dialect, model) {
  switch (name) {
    case 'html': {
      const status = Number(argument) || 502;
      const heading = `<h1>${status} from a proxy</h1>`;
      const page = `<html><head><title>${status}</title></head><body>${heading}</body></html>`;
      return { status, headers: { 'content-type': 'text/html' }, body: page };
    }
    case 'text':
      return {
        status: Number(argument) || 500,
        headers: { 'content-type': 'text/plain' },
        body: 'no healthy upstream',
      };
    case 'empty':
      return {
        status: Number(argument) || 200,
        headers: { 'content-type': 'application/json' },
        body: '',
      };
    case 'badjson':
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"id":"x","type":"message","content":[{"type":"te',
      };
    case 'noretry':
    case 'retry':
      return errorAnswer(dialect, Number(argument) || 500, {
        type: 'api_error',
        message: 'mock error with x-should-retry',
        headers: { 'x-should-retry': String(name === 'retry') },
      });
    case 'ctxlen':
      return contextTooLong(dialect);
    case 'err429quota':
      return errorAnswer(dialect, 429, {
        type: dialect === 'anthropic' ? 'rate_limit_error' : 'insufficient_quota',
        code: 'insufficient_quota',
        message: 'You exceeded your current quota, please check your plan and billing details.',
      });
    default:
      return statusFailure(name, argument, dialect, model);
  }
}

function contextTooLong(dialect) {
  if (dialect === 'anthropic') {
    return errorAnswer(dialect, 400, {
      message: 'prompt is too long: 250000 tokens > 200000 maximum',
    });
  }
  return errorAnswer(dialect, 400, {
    code: 'context_length_exceeded',
    message:
      "This model's maximum context length is 128000 tokens. " +
      'However, your messages resulted in 250000 tokens.',
  });
}

// err503, err:503, err429:SECONDS, err429ms:MILLISECONDS
function statusFailure(name, argument, dialect, model) {
  const match = /^err(\d*)(ms)?$/.exec(name);
  if (!match) return null;
  const status = Number(match[1] || argument || 500);
  const headers = {};
  if (status === 429 && match[1]) {
    if (match[2]) headers['retry-after-ms'] = argument || '300';
    else if (argument) headers['retry-after'] = argument;
  }
  if (status !== 404) return errorAnswer(dialect, status, { headers });
  if (dialect === 'anthropic') return errorAnswer(dialect, 404, { message: `model: ${model}` });
  return errorAnswer(dialect, 404, {
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
  });
}
