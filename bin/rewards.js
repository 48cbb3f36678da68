#!/usr/bin/env node
// Runs the program, whose bytecode from an earlier run of V8's is kept beside it where it is one file: for commands that run
// a stack, since compiling is a quarter of what their start costs, and for help, which nobody should wait for. Others are in
// chunks.
const { fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const nodeModule = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

const dist = join(__dirname, '../dist');
const RUN_A_STACK = ['serve', 'start', 'exec', 'scenario'];
const ASKS_FOR_HELP = ['-h', '--help'];
const ASKS_ABOUT_ALL = [undefined, 'help', '-V', '--version', ...ASKS_FOR_HELP];
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

/** `name` of a program that is one file: `stack`, or `help`, which has all that declares commands and nothing they do. */
function runOneFile(name) {
  const file = join(dist, `${name}.cjs`);
  const descriptor = openSync(file);
  const identity = identityOf(descriptor);
  const path = join(dist, `${name}.bytecode`);
  const cachedData = readKept(path, identity);
  // Of ASCII alone, which is read faster than UTF-8.
  const source = readFileSync(descriptor, 'latin1');
  const script = new Script(source, { filename: pathToFileURL(file).href, cachedData });
  const program = { exports: {} };
  const importFile = (url) => import(url);
  script.runInThisContext()(nodeModule.createRequire(file), file, program, program.exports, importFile);
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

/** Whether these words run no command, whatever it is: `rewards`, `rewards --version`, `rewards clock advance --help`. */
function asksForHelp(words) {
  if (words.length <= 1) return ASKS_ABOUT_ALL.includes(words[0]);
  // After `--` it is a word for another program, and after an option perhaps its value.
  const isPlain = words.slice(0, -1).every((word) => !word.startsWith('-'));
  return isPlain && ASKS_FOR_HELP.includes(words.at(-1));
}

async function run() {
  const words = process.argv.slice(2);
  if (asksForHelp(words)) return runOneFile('help');
  if (RUN_A_STACK.includes(words[0])) return runOneFile('stack');
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
