// The answers that are one JSON object and never a stream: embeddings, model lists, token counts.
import { nowSeconds, randomId } from './identify.mjs';

export function embeddingsAnswer(body) {
  const isTokenList = Array.isArray(body.input) && typeof body.input[0] === 'number';
  const inputs = Array.isArray(body.input) && !isTokenList ? body.input : [body.input];
  const dimensions = body.dimensions || 8;
  const data = inputs.map((_, index) => {
    const vector = Array.from({ length: dimensions }, (__, k) => Math.fround(Math.sin(index + k)));
    const embedding =
      body.encoding_format === 'base64'
        ? Buffer.from(Float32Array.from(vector).buffer).toString('base64')
        : vector;
    return { object: 'embedding', index, embedding };
  });
  return { object: 'list', data, model: body.model, usage: { prompt_tokens: 3, total_tokens: 3 } };
}

// The list of models, or one of them, in the dialect asked for; null where there is no such model.
export function modelsAnswer(names, wanted, dialect) {
  const describe =
    dialect === 'anthropic'
      ? (id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' })
      : (id) => ({ id, object: 'model', created: 1767225600, owned_by: 'mock' });
  if (wanted !== undefined) return names.includes(wanted) ? describe(wanted) : null;
  if (dialect !== 'anthropic') return { object: 'list', data: names.map(describe) };
  return { data: names.map(describe), has_more: false, first_id: names[0], last_id: names.at(-1) };
}

export const countTokensAnswer = (bodyBytes) => ({ input_tokens: Math.ceil(bodyBytes / 4) });

export const inputTokensAnswer = (bodyBytes) => ({
  object: 'response.input_tokens',
  input_tokens: Math.ceil(bodyBytes / 4),
});

export const compactAnswer = () => ({
  id: randomId('resp_'),
  object: 'response.compaction',
  created_at: nowSeconds(),
  output: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'summary' }] }],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
