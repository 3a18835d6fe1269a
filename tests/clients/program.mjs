// Runs one command-line client in a throw-away home and folder, and leaves no process of it behind.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn, execFileSync } from 'node:child_process';

export const PROGRAMS_DIR =
  process.env.HEADWAY_CLIENTS_DIR ||
  path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'headway', 'clients');

// start: (home) => {command, args, env, files: {path below home: text}}; read: ({code, stdout,
// stderr}) => {ok, text, error}. Returns that with timedOut and the ends of both outputs.
export async function runProgram({ start, read, timeoutMs }) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'headway-client-'));
  const home = path.join(scratch, 'home');
  const cwd = path.join(scratch, 'work');
  fs.mkdirSync(home);
  fs.mkdirSync(cwd);
  fs.writeFileSync(path.join(cwd, 'README.md'), '# demo\n');
  execFileSync('git', ['init', '-q', cwd]);
  const { command, args, env, files = {} } = start(home);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    fs.writeFileSync(path.join(home, name), text);
  }
  const clean = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: home,
    TMPDIR: scratch,
  };
  const ended = await waitFor(command, args, { cwd, env: { ...clean, ...env } }, timeoutMs);
  killLeftovers(home);
  fs.rmSync(scratch, { recursive: true, force: true });
  return {
    ...read(ended),
    timedOut: ended.timedOut,
    code: ended.code,
    stdout: ended.stdout.slice(-6000),
    stderr: ended.stderr.slice(-3000),
  };
}

function waitFor(command, args, options, timeoutMs) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = { code: null, stdout: '', stderr: '', timedOut: false };
    const killGroup = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        /* it is gone already */
      }
    };
    const timer = setTimeout(() => {
      ended.timedOut = true;
      killGroup();
    }, timeoutMs);
    child.stdout.on('data', (bytes) => {
      ended.stdout += bytes;
    });
    child.stderr.on('data', (bytes) => {
      ended.stderr += bytes;
    });
    child.on('error', (error) => {
      ended.stderr += error.message;
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      killGroup();
      resolve({ ...ended, code: signal || code });
    });
  });
}

// Daemons that detached themselves still carry our throw-away home in their environment.
function killLeftovers(home) {
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const environment = fs.readFileSync(`/proc/${name}/environ`, 'latin1');
      if (environment.split('\0').includes(`HOME=${home}`)) process.kill(Number(name), 'SIGKILL');
    } catch {
      /* not ours, or gone */
    }
  }
}

// The lines of an output that are JSON objects.
export function jsonLines(text) {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
