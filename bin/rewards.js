#!/usr/bin/env node
// Runs the program: as one file for commands that run a stack, of which V8's bytecode from an earlier run is kept beside it,
// since compiling is a quarter of what their start costs; in chunks for the others.
const { fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const nodeModule = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

const dist = join(__dirname, '../dist');
const RUN_A_STACK = ['serve', 'start', 'exec', 'scenario'];
/** A stack has compiled what its start needs by then; V8 drops later what is not used any more. */
const KEPT_AFTER_MS = 3_000;

/** Of this very file and this Node; V8 itself only compares the length of a source. */
function identityOf(descriptor) {
  const { size, ino, ctimeMs } = fstatSync(descriptor);
  return Buffer.from(`${process.version} ${size} ${ino} ${ctimeMs}`.padEnd(128));
}

/** Undefined without bytecode of this very program. */
function readKept(path, identity) {
  try {
    const kept = readFileSync(path);
    return kept.subarray(0, identity.length).equals(identity) ? kept.subarray(identity.length) : undefined;
  } catch {
    return undefined;
  }
}

/** As a whole or not at all, since another process may read it; where the folder is read-only, every start compiles. */
function keep(path, bytes) {
  const fresh = `${path}.${process.pid}`;
  try {
    writeFileSync(fresh, bytes);
    renameSync(fresh, path);
  } catch {
    rmSync(fresh, { force: true });
  }
}

function runStack() {
  const file = join(dist, 'stack.cjs');
  const descriptor = openSync(file);
  const identity = identityOf(descriptor);
  const path = join(dist, 'stack.bytecode');
  const cachedData = readKept(path, identity);
  // esbuild writes ASCII alone, but for comments.
  const source = readFileSync(descriptor, 'latin1');
  const script = new Script(source, { filename: pathToFileURL(file).href, cachedData });
  const program = { exports: {} };
  script.runInThisContext()(nodeModule.createRequire(file), file, program, program.exports);
  if (cachedData && !script.cachedDataRejected) return;
  let isKept = false;
  const keepOnce = () => {
    if (!isKept) keep(path, Buffer.concat([identity, script.createCachedData()]));
    isKept = true;
  };
  setTimeout(keepOnce, KEPT_AFTER_MS).unref();
  // What failed may not have come to the end of its start.
  process.on('exit', (code) => code === 0 && keepOnce());
}

async function run() {
  const [, , command] = process.argv;
  if (RUN_A_STACK.includes(command)) return runStack();
  // From Node 22 on, it keeps the bytecode of chunks by itself.
  nodeModule.enableCompileCache?.();
  await import('../dist/main.js');
}

run().catch((error) => {
  const isMissing = ['ERR_MODULE_NOT_FOUND', 'ENOENT'].includes(error?.code);
  if (!isMissing || !String(error.message).includes('dist')) throw error;
  process.stderr.write(
    'rewards: the program is not built yet\n  fix: run `npm run build` in the project directory\n',
  );
  process.exitCode = 5;
});
