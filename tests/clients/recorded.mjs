// Reads recorded bytes as HTTP/1.1: the exchanges of a tapped connection, and the events of a
// stream.
import zlib from 'node:zlib';

// One exchange for each request: {method, url, requestHeaders, request (JSON or null),
// requestBytes, status (null: no answer), headers, answer (text), ended}. `ended` is 'complete'
// where the message framing says so, 'eof:fin' where only the end of the connection does, 'cut:WHY'
// within a message and 'none:WHY' before one.
export function exchanges(connection) {
  const requests = messages(Buffer.concat(connection.up), 'request');
  const answers = messages(Buffer.concat(connection.down), 'response');
  return requests.map((request, i) => exchange(request, answers[i], connection));
}

function exchange(request, answer, { serverEnd, clientEnd }) {
  const [method, url] = request.line.split(' ');
  const why = serverEnd || clientEnd || 'open';
  return {
    method,
    url,
    requestHeaders: request.headers,
    requestBytes: request.body.length,
    request: parseJson(decoded(request)),
    status: answer ? Number(answer.line.split(' ')[1]) : null,
    headers: answer?.headers || {},
    answer: answer ? decoded(answer).toString('utf8') : '',
    ended: !answer
      ? `none:${why}`
      : { framed: 'complete', eof: `eof:${serverEnd}`, cut: `cut:${why}` }[answer.end],
  };
}

// Every message in the bytes: {line, headers, body, end: 'framed' | 'eof' | 'cut'}. Interim answers
// (1xx) are skipped unless wanted. `methods` of the requests are needed only where HEAD is among
// them.
export function messages(bytes, side, { methods = [], interim = false } = {}) {
  const found = [];
  let finals = 0;
  let rest = bytes;
  while (rest?.length) {
    const head = readHead(rest);
    if (!head) {
      found.push({
        line: `(partial) ${rest.subarray(0, 80).toString('latin1')}`,
        headers: {},
        body: Buffer.alloc(0),
        end: 'cut',
      });
      break;
    }
    const isInterim = side === 'response' && / 1\d\d( |$)/.test(head.line);
    const body = readBody(head, side, isInterim || methods[finals] === 'HEAD');
    rest = body.rest;
    if (!isInterim) finals++;
    else if (!interim) continue;
    found.push({ line: head.line, headers: head.headers, body: body.bytes, end: body.end });
  }
  return found;
}

function readHead(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line, ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { line, headers, rest: bytes.subarray(end + 4) };
}

function readBody({ line, headers, rest }, side, hasNone) {
  if (hasNone) return { bytes: Buffer.alloc(0), rest, end: 'framed' };
  if (/chunked/i.test(headers['transfer-encoding'] || '')) return readChunks(rest);
  if (headers['content-length'] !== undefined) {
    const length = Number(headers['content-length']);
    return {
      bytes: rest.subarray(0, length),
      rest: rest.subarray(length),
      end: rest.length >= length ? 'framed' : 'cut',
    };
  }
  if (side === 'request' || / (204|304)( |$)/.test(line))
    return { bytes: Buffer.alloc(0), rest, end: 'framed' };
  return { bytes: rest, rest: null, end: 'eof' };
}

function readChunks(bytes) {
  const parts = [];
  const cut = () => ({ bytes: Buffer.concat(parts), rest: null, end: 'cut' });
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? NaN : parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (Number.isNaN(size)) return cut();
    const start = lineEnd + 2;
    if (size === 0) {
      if (bytes.length < start + 2) return cut();
      const trailersEnd =
        bytes.subarray(start, start + 2).toString('latin1') === '\r\n'
          ? start + 2
          : bytes.indexOf('\r\n\r\n', start) + 4;
      return { bytes: Buffer.concat(parts), rest: bytes.subarray(trailersEnd), end: 'framed' };
    }
    parts.push(bytes.subarray(start, Math.min(bytes.length, start + size)));
    if (bytes.length < start + size + 2) return cut();
    at = start + size + 2;
  }
}

// The body without its content coding; what cannot be decoded becomes a note.
function decoded({ headers, body }) {
  const coding = headers['content-encoding'];
  const soFar = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  try {
    switch (coding) {
      case 'gzip':
        return zlib.gunzipSync(body, soFar);
      case 'deflate':
        return zlib.inflateSync(body, soFar);
      case 'br':
        return zlib.brotliDecompressSync(body, {
          finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
        });
      default:
        return body;
    }
  } catch {
    return Buffer.from(`(cannot decode ${coding})`);
  }
}

export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// The events of a stream: {event, data, json, comment, junk}; a piece without its blank line at the
// end counts as an event too, as lenient clients read it.
export function events(text) {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.trim())
    .map((block) => {
      const found = { event: null, data: '', comment: null, junk: null };
      for (const line of block.split(/\r?\n/)) {
        if (line.startsWith(':')) found.comment = line.slice(1).trim();
        else if (line.startsWith('event:')) found.event = line.slice('event:'.length).trim();
        else if (line.startsWith('data:'))
          found.data += line.slice('data:'.length).replace(/^ /, '');
        else if (line) found.junk = line.slice(0, 200);
      }
      return { ...found, json: parseJson(found.data) };
    });
}
