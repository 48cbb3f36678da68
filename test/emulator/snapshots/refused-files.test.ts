/** A file that is no sound snapshot is refused with what is wrong, and changes nothing. */
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import SQLite from 'better-sqlite3';
import { extract, pack } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { snapshotSettings } from '../../../src/emulator/limits.ts';
import type { Manifest } from '../../../src/emulator/snapshots/manifest.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

interface Entry {
  name: string;
  bytes: Buffer;
  type?: 'file' | 'symlink';
}

let stack: TestService;
let folder: string;
let good: Buffer;
let entries: Entry[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshots-'));
  stack = await startTestService();
  await stack.event({ userEmail: 'alice@demo.example' });
  await stack.atRest();
  const { body } = await stack.control('/snapshot', { name: 'base' });
  good = await readFile(body.file);
  entries = await entriesOf(good);
});
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

async function entriesOf(file: Buffer): Promise<Entry[]> {
  const all: Entry[] = [];
  const reading = extract();
  reading.end(gunzipSync(file));
  for await (const entry of reading) all.push({ name: entry.header.name, bytes: await buffer(entry) });
  return all;
}

async function packed(all: Entry[]): Promise<Buffer> {
  const writing = pack();
  for (const { name, bytes, type = 'file' } of all)
    writing.entry({ name, type, ...(type === 'symlink' && { linkname: '/etc/passwd' }) }, bytes);
  writing.finalize();
  return gzipSync(await buffer(writing));
}

/** The snapshot with another manifest, or with another ledger that its manifest names. */
async function changed(change: { manifest?: (manifest: Manifest) => void; ledger?: Buffer; more?: Entry[] }) {
  const [first, ...parts] = entries as [Entry, ...Entry[]];
  const manifest = JSON.parse(first.bytes.toString());
  const { ledger } = change;
  const now = parts.map((part) =>
    ledger && part.name === 'ledger.sqlite' ? { ...part, bytes: ledger } : part,
  );
  manifest.parts = now.map(({ name, bytes }) => ({
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }));
  change.manifest?.(manifest);
  return packed([
    { name: first.name, bytes: Buffer.from(JSON.stringify(manifest)) },
    ...now,
    ...(change.more ?? []),
  ]);
}

function ledgerWith(sql: string): Buffer {
  const ledger = entries.find(({ name }) => name === 'ledger.sqlite')?.bytes as Buffer;
  const store = new SQLite(Buffer.from(ledger));
  store.exec(sql);
  const image = store.serialize();
  store.close();
  return image;
}

const cases: { what: string; file: () => Promise<Buffer> | Buffer; reason: string; says: RegExp }[] = [
  {
    what: 'cut short',
    file: () => good.subarray(0, good.length - 4_000),
    reason: 'snapshot_damaged',
    says: /ends too early/,
  },
  {
    what: 'foreign',
    file: () => Buffer.from('PK\u0003\u0004 this is a zip'),
    reason: 'snapshot_damaged',
    says: /not compressed as one, or damaged/,
  },
  {
    what: 'empty',
    file: () => Buffer.alloc(0),
    reason: 'snapshot_damaged',
    says: /not a snapshot|too early/,
  },
  {
    what: 'another tar',
    file: () => packed([{ name: 'README', bytes: Buffer.from('hello') }]),
    reason: 'snapshot_damaged',
    says: /does not begin with manifest.json/,
  },
  {
    what: 'a manifest that is none',
    file: () => packed([{ name: 'manifest.json', bytes: Buffer.from('{"format":1}') }]),
    reason: 'snapshot_damaged',
    says: /manifest of .* is not one/,
  },
  {
    what: 'a newer format',
    file: () =>
      changed({
        manifest: (manifest) => {
          Object.assign(manifest, { format: 2 });
        },
      }),
    reason: 'snapshot_newer',
    says: /its format is 2, and this one knows 1/,
  },
  {
    what: 'a newer ledger',
    file: () =>
      changed({ ledger: ledgerWith(`insert into migrations (number, name) values (9999, '9999-later')`) }),
    reason: 'snapshot_newer',
    says: /its ledger has migration 9999/,
  },
  {
    what: 'a path out of the folder',
    file: () => changed({ more: [{ name: '../../escaped', bytes: Buffer.from('x') }] }),
    reason: 'snapshot_damaged',
    says: /an entry "..\/..\/escaped" that no snapshot has/,
  },
  {
    what: 'a path out of the chain',
    file: () => changed({ more: [{ name: 'chain/../../escaped', bytes: Buffer.from('x') }] }),
    reason: 'snapshot_damaged',
    says: /that no snapshot has/,
  },
  {
    what: 'a link',
    file: () => changed({ more: [{ name: 'site.sqlite', type: 'symlink', bytes: Buffer.alloc(0) }] }),
    reason: 'snapshot_damaged',
    says: /an entry "site.sqlite" that no snapshot has/,
  },
  {
    what: 'another hash',
    file: () =>
      changed({
        manifest: (manifest) => {
          Object.assign(manifest.parts[0] ?? {}, { sha256: '0'.repeat(64) });
        },
      }),
    reason: 'snapshot_damaged',
    says: /is not the one that its manifest names/,
  },
  {
    what: 'a part less',
    file: () =>
      changed({
        manifest: (manifest) => {
          manifest.parts.push({ name: 'site.sqlite', bytes: 1, sha256: '0'.repeat(64) });
        },
      }),
    reason: 'snapshot_damaged',
    says: /lacks its part site.sqlite/,
  },
  {
    what: 'another end of the chain',
    file: () =>
      changed({
        manifest: (manifest) => {
          manifest.chain.block += 1;
        },
      }),
    reason: 'snapshot_damaged',
    says: /ends elsewhere/,
  },
  {
    what: 'a damaged ledger',
    file: () => changed({ ledger: Buffer.alloc(8_192, 'x') }),
    reason: 'snapshot_damaged',
    says: /ledger of .* cannot be opened/,
  },
  {
    what: 'a trigger in the ledger',
    file: () =>
      changed({
        ledger: ledgerWith('create trigger t after insert on rewards begin delete from rewards; end'),
      }),
    reason: 'snapshot_damaged',
    says: /has a trigger t/,
  },
];

test.each(cases)('$what', async ({ file, reason, says }) => {
  const path = join(folder, 'some.rewards');
  await writeFile(path, await file());
  const before = await stack.chain.getBlock();
  const answer = await stack.control('/restore', { file: path });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.body).toMatchObject({ details: { reason }, message: expect.stringMatching(/\.$/) });
  expect(answer.body.error).toMatch(says);
  expect(answer.body.error).toMatch(/nothing was changed$/);
  expect((await stack.chain.getBlock()).hash).toBe(before.hash);
  const difference = await stack.request(`${stack.ready.urls.control}/snapshots/base/diff`);
  expect(difference.body).toMatchObject({ isSame: true });
});

test('a file that is too large is not even opened', async () => {
  const path = join(folder, 'large.rewards');
  const file = await open(path, 'w');
  await file.truncate(snapshotSettings.snapshots.fileBytesMax + 1);
  await file.close();
  const answer = await stack.control('/restore', { file: path });
  expect(answer).toMatchObject({ status: 413, body: { details: { reason: 'snapshot_too_large' } } });
});

test('a small file that unpacks to very much is given up', async () => {
  const path = join(folder, 'bomb.rewards');
  const [first] = entries as [Entry];
  const writing = pack();
  writing.entry({ name: first.name }, first.bytes);
  const header = { name: 'ledger.sqlite', size: snapshotSettings.snapshots.unpackedBytesMax + 1 };
  const entry = writing.entry(header);
  entry.write(Buffer.alloc(1_000_000));
  entry.on('error', () => undefined);
  writing.on('error', () => undefined);
  const beginning: Buffer[] = [];
  writing.on('data', (piece) => beginning.push(piece as Buffer));
  await new Promise(setImmediate);
  await writeFile(path, gzipSync(Buffer.concat(beginning)));
  writing.destroy();
  const answer = await stack.control('/restore', { file: path });
  expect(answer).toMatchObject({ status: 413, body: { details: { reason: 'snapshot_too_large' } } });
});

test('a file that is not there, and a body that names nothing, are told', async () => {
  const missing = await stack.control('/restore', { file: join(folder, 'none.rewards') });
  expect(missing).toMatchObject({ status: 404, body: { details: { reason: 'snapshot_not_found' } } });
  expect((await stack.control('/restore', {})).status).toBe(400);
  expect((await stack.control('/restore', { name: '../base' })).status).toBe(400);
});
