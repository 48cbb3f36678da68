// Adds to package-lock.json the optional packages of other platforms that the registry in use did not serve, and to every
// package where it is from and its hash. npm leaves such packages out when it writes the file, and then refuses the file in
// `npm ci`; some settings of npm leave out the addresses. Run after installing.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { addressOf, lockfileProblems, nameOf } from './lockfile.js';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const SYSTEMS = /(android|darwin|linux|win32|freebsd|netbsd|openbsd|sunos|aix|openharmony)/;
const PROCESSORS = /(amd64|x64|arm64|arm(?!64)|ia32|riscv64|ppc64|s390x|loong64|mips64el)/;

const added = [];
for (const [where, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const top = `node_modules/${name}`;
    if (lock.packages[`${where}/node_modules/${name}`] || lock.packages[top]) continue;
    const ending = name.split('/').pop() ?? '';
    const system = SYSTEMS.exec(ending)?.[1];
    const processor = PROCESSORS.exec(ending)?.[1];
    lock.packages[top] = {
      version: range.replace(/^[\^~]/, ''),
      ...(processor && { cpu: [processor === 'amd64' ? 'x64' : processor] }),
      ...(entry.dev && { dev: true }),
      ...(entry.license && { license: entry.license }),
      optional: true,
      ...(ending.endsWith('-musl') && { libc: ['musl'] }),
      ...(system && { os: [system] }),
    };
    added.push(top);
  }
}

/** The hash that the registry publishes for a version. */
async function publishedIntegrity(name, version) {
  const { stdout } = await promisify(execFile)('npm', ['view', `${name}@${version}`, 'dist.integrity']);
  return stdout.trim();
}

/** At once: npm starts anew for each. */
const TOGETHER = 4;
const entries = Object.entries(lock.packages).filter(([where, { link }]) => where !== '' && !link);
const withoutHash = entries.filter(([, { integrity }]) => !integrity);
for (let from = 0; from < withoutHash.length; from += TOGETHER) {
  await Promise.all(
    withoutHash.slice(from, from + TOGETHER).map(async ([where, entry]) => {
      entry.integrity = await publishedIntegrity(nameOf(where, entry), entry.version);
    }),
  );
}
for (const [where, entry] of entries) {
  entry.resolved = addressOf(nameOf(where, entry), entry.version);
  // In npm's own order, so that its next writing changes nothing.
  const { version, resolved, integrity, ...rest } = entry;
  const { name, ...others } = rest;
  lock.packages[where] = { ...(name && { name }), version, resolved, integrity, ...others };
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')),
);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
const problems = lockfileProblems(lock);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
const completed = [...added, ...withoutHash.map(([where]) => `the hash of ${where}`)];
console.log(completed.length === 0 ? 'the lock file is complete' : `added ${completed.join(', ')}`);
