// The clients of the matrix, the scenarios that each goes through, and what fails by itself.
import { runOpenAiChat } from './sdk_openai_chat.mjs';
import { runOpenAiResponses } from './sdk_openai_responses.mjs';
import { runAnthropic0, runAnthropic1 } from './sdk_anthropic.mjs';
import { runClaudeCode } from './program_claude_code.mjs';
import { runCodex } from './program_codex.mjs';
import { runClineChat, runClineResponses, runClineMessages } from './program_cline.mjs';

// `kind` tells the libraries, which are quick, from the programs, which are large to install.
// `retriesForLong`: its back-off after a 429 is not waited for.
export const CLIENTS = {
  'openai-chat': {
    name: 'OpenAI SDK 6.49.0, chat',
    dialect: 'chat',
    kind: 'sdk',
    run: runOpenAiChat,
  },
  'openai-resp': {
    name: 'OpenAI SDK 6.49.0, responses',
    dialect: 'responses',
    kind: 'sdk',
    run: runOpenAiResponses,
  },
  'anthropic-0': {
    name: 'Anthropic SDK 0.137.0',
    dialect: 'messages',
    kind: 'sdk',
    run: runAnthropic0,
  },
  'anthropic-1': {
    name: 'Anthropic SDK 1.14.0',
    dialect: 'messages',
    kind: 'sdk',
    run: runAnthropic1,
  },
  'claude-code': {
    name: 'Claude Code 2.1.332',
    dialect: 'messages',
    kind: 'program',
    run: runClaudeCode,
  },
  codex: { name: 'Codex 0.171.0', dialect: 'responses', kind: 'program', run: runCodex },
  'cline-chat': {
    name: 'Cline 3.0.65, OpenAI-compatible',
    dialect: 'chat',
    kind: 'program',
    run: runClineChat,
    retriesForLong: true,
  },
  'cline-resp': {
    name: 'Cline 3.0.65, OpenAI native',
    dialect: 'responses',
    kind: 'program',
    run: runClineResponses,
    retriesForLong: true,
  },
  'cline-anth': {
    name: 'Cline 3.0.65, Anthropic',
    dialect: 'messages',
    kind: 'program',
    run: runClineMessages,
    retriesForLong: true,
  },
};

// The upstream dialects that each client is led to by translation, beside its own.
const FOREIGN = {
  'openai-chat': ['messages'],
  'openai-resp': ['chat'],
  'anthropic-0': ['chat'],
  'anthropic-1': ['chat'],
  'claude-code': ['chat', 'responses'],
  codex: ['chat', 'messages'],
  'cline-chat': ['messages'],
  'cline-resp': ['chat'],
  'cline-anth': ['chat'],
};

// Every pair of the matrix: {client, upstream}, the client's own dialect first.
export const PAIRS = Object.entries(CLIENTS).flatMap(([client, { dialect }]) =>
  [dialect, ...FOREIGN[client]].map((upstream) => ({ client, upstream })),
);

export const SCENARIOS = [
  'ok',
  'tool',
  'tool2',
  'think',
  'thinktool',
  'split',
  'onewrite',
  'crlf',
  'nousage',
  'err429:1',
  'err529,once',
  'cut',
  'cutclean',
  'sseerr',
];
const NOT_STREAMED = ['nstool2']; // programs always stream

export const scenariosOf = (client) =>
  client.kind === 'sdk' ? [...SCENARIOS, ...NOT_STREAMED] : SCENARIOS;

// Every cell of a pair in a fixed order.
export const cellsOf = ({ client, upstream }) =>
  scenariosOf(CLIENTS[client]).map((scenario) => ({ client, upstream, scenario }));
export const cellName = ({ client, upstream, scenario }) => `${client} ${upstream} ${scenario}`;

// Cells that fail without a gateway too, and that bytes passed unchanged cannot mend: Cline's
// Anthropic provider refuses a message_start without usage.
export const FAILS_BY_ITSELF = new Set(['cline-anth messages nousage']);

// Cells that end right and lose something that the client alone could keep: these clients of chat
// give no proof of thinking back (reasoning_details), only its text.
export const LOSES_BY_ITSELF = new Set([
  'openai-chat messages thinktool',
  'cline-chat messages thinktool',
]);

// What a mock serves when it plays a model server of one dialect.
export const SERVED = {
  messages: ['messages', 'count_tokens', 'models'],
  chat: ['chat', 'models'],
  responses: ['responses', 'input_tokens', 'models'],
};
