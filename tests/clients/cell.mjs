// One cell of the matrix: one client, one scenario, through one gateway to a mock that speaks the
// client's dialect or, by translation, another. Everything in it is made for this cell, so that
// cells can run side by side and nothing (a cooling channel, say) is carried over.
import { startMock } from './mock/server.mjs';
import { startTap } from './tap.mjs';
import { exchanges } from './recorded.mjs';
import { startHeadway, CLIENT_KEY } from './headway.mjs';
import { CLIENTS, SERVED } from './clients.mjs';
import { judge } from './judge.mjs';

const MODEL = 'mock-large';
const SDK_TIMEOUT_MS = 20000;
const PROGRAM_TIMEOUT_MS = 60000;
const LONG_RETRY_TIMEOUT_MS = 45000;
const SETTLE_MS = 150; // for the last bytes and closes to arrive at the tap

const CHANNELS = {
  messages: (url) => ({
    name: 'mock-messages',
    dialect: 'anthropic',
    base_url: url,
    models: [MODEL],
  }),
  chat: (url) => ({
    name: 'mock-chat',
    dialect: 'openai',
    base_url: `${url}/v1`,
    serves: ['chat'],
    models: [MODEL],
  }),
  responses: (url) => ({
    name: 'mock-responses',
    dialect: 'openai',
    base_url: `${url}/v1`,
    serves: ['responses'],
    models: [MODEL],
  }),
};

// gatewayName: 'direct' (no gateway) or 'headway'. Gives {client, scenario, verdict, result,
// exchanges, upstream, stray, wallMs}: the verdict and all that it rests on.
export async function runCell(gatewayName, { client: clientName, upstream: dialect, scenario }) {
  const client = { id: clientName, ...CLIENTS[clientName] };
  const upstreams = await startUpstreams(scenario.replace(/^ns/, ''));
  const own = upstreams[dialect];
  const led = client.dialect === dialect ? upstreams : { [dialect]: own };
  const gateway = gatewayName === 'headway' ? await startGateway(led) : null;
  const tap = await startTap(gateway ? gateway.port : own.port);
  const began = Date.now();
  const result = await client.run({
    port: tap.port,
    key: CLIENT_KEY,
    model: MODEL,
    scenario,
    timeoutMs: timeoutFor(client, scenario),
  });
  await new Promise((resolve) => {
    setTimeout(resolve, SETTLE_MS);
  });
  const seen = tap.connections.flatMap(exchanges);
  const upstream = own.modelRequests();
  const asked = seen.filter(isModelRequest);
  const verdict = judge({ client, dialect, scenario }, result, asked, upstream);
  tap.close();
  const log = gateway?.log();
  await gateway?.stop();
  await Promise.all(Object.values(upstreams).map((mock) => mock.close()));
  return {
    gateway: gatewayName,
    client: clientName,
    upstreamDialect: dialect,
    scenario,
    verdict,
    result,
    exchanges: seen,
    upstream,
    log,
    stray: strayRequests(upstreams, own),
    wallMs: Date.now() - began,
  };
}

async function startUpstreams(scenario) {
  const pairs = Object.entries(SERVED).map(async ([dialect, only]) => [
    dialect,
    await startMock({ scenario, only }),
  ]);
  return Object.fromEntries(await Promise.all(pairs));
}

const startGateway = (upstreams) =>
  startHeadway({
    channels: Object.entries(upstreams).map(([dialect, mock]) => CHANNELS[dialect](mock.url)),
  });

function timeoutFor(client, scenario) {
  if (client.kind === 'sdk') return SDK_TIMEOUT_MS;
  return client.retriesForLong && scenario.startsWith('err429')
    ? LONG_RETRY_TIMEOUT_MS
    : PROGRAM_TIMEOUT_MS;
}

const isModelRequest = (exchange) =>
  exchange.method === 'POST' &&
  /\/(messages|chat\/completions|responses)$/.test(exchange.url.split('?')[0]);

// What reached a mock that should not have, or was no model request.
function strayRequests(upstreams, own) {
  return Object.entries(upstreams).flatMap(([dialect, mock]) =>
    mock.records
      .filter((record) => mock !== own || !mock.modelRequests().includes(record))
      .map((record) => `${dialect}: ${record.method} ${record.url} ${record.status}`),
  );
}
