// Adds to package-lock.json the optional packages of other platforms that the registry in use did not serve.
// npm leaves such packages out when it writes the file, and then refuses the file in `npm ci`. Run after installing.
import { readFileSync, writeFileSync } from 'node:fs';

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
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'the lock file is complete' : `added ${added.join(', ')}`);
