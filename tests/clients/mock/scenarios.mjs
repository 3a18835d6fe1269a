// What the mock can be told to do. A scenario is `name[:argument][,once|,first=N]`: with `once` or
// `first=N` it misbehaves for the first requests only and answers normally afterwards.

export const SCENARIOS = {
  ok: 'answer normally',
  tool: 'first answer is a tool call; once a tool result is present, answer text',
  tool2: 'first answer has two parallel tool calls that can be told apart',
  think: 'answer has a reasoning block first',
  thinktool: 'reasoning and a tool call in one answer',
  split: 'write the body in pieces of 1 to 7 bytes (cuts UTF-8 sequences, line ends, field names)',
  halves: 'cut every event in two and wait so many ms (100) between the halves',
  flood: 'a stream of so many MiB (64), as fast as the reader takes it',
  gzip: 'the answer gzip-coded, whatever was asked for',
  onewrite: 'whole stream in a single write',
  crlf: 'stream with CRLF line ends and a leading comment',
  nodone: 'leave out the final event, end cleanly',
  nousage: 'leave out usage everywhere',
  cut: 'destroy the socket after half of the answer; argument: bytes to keep',
  cutclean: 'end the HTTP body cleanly after half of the answer',
  stall: 'send half of the answer, then nothing more, socket open',
  stallping: 'send half of a stream, then only keep-alives; argument: one every so many ms (50)',
  slow: 'head at once, first body byte after so many seconds (20)',
  slowping: 'as slow, with keep-alives meanwhile; argument: seconds/ms between them (20/2000)',
  slowevt: 'as slowping, with a real event without a token as keep-alive',
  slowhdr: 'no response head for so many seconds (20)',
  drip: 'one event (not streamed: one piece of the body) every so many ms (1000)',
  hang: 'never answer',
  reset: 'destroy the socket before any response byte',
  sseerr: 'half of the stream, then an in-band error event; argument: error type',
  sseerr0: 'an in-band error event as the very first event',
  badjson: '200 with a truncated JSON body',
  html: 'an HTML page; argument: status (502)',
  text: 'a plain-text line; argument: status (500)',
  empty: 'an empty body; argument: status (200)',
  json4stream: '200 with JSON even if a stream was asked for',
  err: 'error with the status of the argument; err429:S and err429ms:MS say when to try again',
  err429quota: '429 in the shape of an exhausted quota',
  ctxlen: '400 because the context is too long',
  noretry: 'error with x-should-retry: false; argument: status (500)',
  retry: 'error with x-should-retry: true; argument: status (500)',
};

// The scenario in force for request number `count` (from 1): {name, argument}.
export function scenarioFor(text, count) {
  const [head, ...modifiers] = String(text).split(',');
  const first = modifiers.find((m) => m.startsWith('first='));
  const limit = modifiers.includes('once')
    ? 1
    : first
      ? Number(first.slice('first='.length))
      : Infinity;
  if (count > limit) return { name: 'ok', argument: undefined };
  const [name, argument] = head.split(':');
  return { name, argument };
}
