// A TCP tap between a client and a server: forwards bytes untouched, records them, and keeps an
// orderly end (FIN) and a broken connection (RST) apart.
import net from 'node:net';

// {port, connections: [{up: [Buffer], down: [Buffer], serverEnd, clientEnd}], close()}
// serverEnd and clientEnd are 'fin', an error code such as 'ECONNRESET', or null while open.
export function startTap(targetPort) {
  const connections = [];
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    connections.push(
      splice(client, net.connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true })),
    );
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve({
        port: server.address().port,
        connections,
        close: () => server.close(),
      }),
    ),
  );
}

function splice(client, upstream) {
  const record = { up: [], down: [], serverEnd: null, clientEnd: null };
  client.setNoDelay(true);
  upstream.setNoDelay(true);
  forward(client, upstream, record.up);
  forward(upstream, client, record.down);
  client.on('end', () => {
    record.clientEnd ??= 'fin';
  });
  upstream.on('end', () => {
    record.serverEnd ??= 'fin';
  });
  client.on('error', (error) => {
    record.clientEnd = error.code;
    upstream.resetAndDestroy();
  });
  upstream.on('error', (error) => {
    record.serverEnd = error.code;
    client.resetAndDestroy();
  });
  client.on('close', () => {
    record.clientEnd ??= 'close';
    if (!upstream.destroyed && record.clientEnd !== 'fin') upstream.resetAndDestroy();
  });
  upstream.on('close', () => {
    if (!client.destroyed && record.serverEnd !== 'fin') client.resetAndDestroy();
  });
  return record;
}

function forward(from, to, kept) {
  from.on('data', (bytes) => {
    kept.push(bytes);
    if (to.write(bytes)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
  from.on('end', () => to.end());
}
