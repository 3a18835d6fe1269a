// The mock by itself:  node mock/main.mjs [--port 9100] [--scenario ok] At run time:         curl
// localhost:9100/__ctl -d '{"scenario":"err429:2"}';  curl localhost:9100/__help
import { parseArgs } from 'node:util';
import { startMock } from './server.mjs';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9100' },
    scenario: { type: 'string', default: 'ok' },
  },
});
const mock = await startMock({ port: Number(values.port), scenario: values.scenario });
console.log(`mock on ${mock.url} pid ${process.pid}`);
