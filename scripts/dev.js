// Builds on every change and runs `rewards serve` with the newest build: `npm run dev -- --ephemeral`. What follows the
// dashes is for `serve`; a stack that is kept comes back as it was after each restart.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { context } from 'esbuild';
import { clientScript, helpProgram, program, stackProgram, webhooksLibrary } from './bundles.js';

const root = new URL('..', import.meta.url).pathname;
const say = (text) => process.stderr.write(`dev: ${text}\n`);
let child;
let stopping = false;

async function stopChild() {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function restart() {
  await stopChild();
  if (stopping) return;
  // A group of its own: Ctrl-C reaches it through us, and once.
  child = spawn(process.execPath, [`${root}bin/rewards.js`, 'serve', ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: process.platform !== 'win32',
  });
  child.on('exit', (code, signal) => {
    if (!stopping && signal === null && code !== 0) say(`serve ended with ${code}; waiting for a change`);
  });
}

// One restart after the other; several changes during one make one more.
let restarting = Promise.resolve();
let wanted = false;
function wantRestart() {
  if (wanted || stopping) return;
  wanted = true;
  restarting = restarting.then(() => {
    wanted = false;
    return restart();
  });
}

const onBuild = {
  name: 'restart',
  setup(bundle) {
    let builds = 0;
    bundle.onEnd(({ errors }) => {
      builds += 1;
      if (errors.length > 0) return say('not built; what runs is the build before');
      if (builds > 1) say('built again, restarting');
      wantRestart();
    });
  },
};

const contexts = await Promise.all([
  // Without it a page of the running service would have the script of before.
  context(clientScript),
  context(webhooksLibrary),
  // Nor would other commands be of this source.
  context(program),
  context(helpProgram),
  context({ ...stackProgram, plugins: [...stackProgram.plugins, onBuild] }),
]);
for (const one of contexts) await one.watch();

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    if (stopping) return child?.kill('SIGKILL');
    stopping = true;
    await Promise.all(contexts.map((one) => one.dispose()));
    await restarting;
    await stopChild();
    process.exit(0);
  });
}
