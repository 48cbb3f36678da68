/** A snapshot as one file, `NAME.rewards`: a gzipped tar with the manifest first, then its parts. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { FORMAT, isPart, MANIFEST, type Manifest, manifestShape, type Snapshot } from './manifest.ts';
import { damaged, SnapshotError } from './snapshot-error.ts';

export interface FileLimits {
  /** Of the file as it is. */
  fileBytesMax: number;
  /** Of everything in it, unpacked: a small file can hold very much of the same. */
  unpackedBytesMax: number;
  manifestBytesMax: number;
}

/** How a file is called until it is whole. */
export const DRAFT_ENDING = '.part';

/** Stores compress to a fifteenth at any level; the lowest takes the least time. */
const LEVEL = 1;

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Writes the file beside its place, and gives it its name when it is on the disk. An older one of that name is replaced. */
export async function writeSnapshotFile({ manifest, parts }: Snapshot, path: string): Promise<void> {
  const draft = `${path}${DRAFT_ENDING}`;
  const packed = pack();
  const mtime = new Date(manifest.takenAt);
  packed.entry({ name: MANIFEST, mtime }, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [name, bytes] of parts) packed.entry({ name, mtime }, bytes);
  packed.finalize();
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await pipeline(Readable.from(packed), createGzip({ level: LEVEL }), async (pieces) => {
        for await (const piece of pieces) await file.writeFile(piece as Buffer);
      });
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Windows cannot open a directory; its file system decides when a rename is durable. */
export async function syncFolder(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}

/**
 * Reads and checks a whole file: every name is one of ours, every size and hash that of the manifest. Throws
 * `SnapshotError`; nothing of a refused file is kept.
 */
export async function readSnapshotFile(path: string, limits: FileLimits): Promise<Snapshot> {
  await refuseSize(path, limits);
  const { manifest, parts } = await unpacked(path, limits);
  if (!manifest) throw damaged(`${path} is not a snapshot: it does not begin with ${MANIFEST}`);
  for (const { name, bytes, sha256 } of manifest.parts) {
    const part = parts.get(name);
    if (!part) throw damaged(`${path} lacks its part ${name}`);
    if (part.length !== bytes || hashOf(part) !== sha256)
      throw damaged(`the part ${name} of ${path} is not the one that its manifest names`);
  }
  const unnamed = [...parts.keys()].find((name) => !manifest.parts.some((one) => one.name === name));
  if (unnamed !== undefined) throw damaged(`${path} has a part ${unnamed} that its manifest does not name`);
  return { manifest, parts };
}

/** The manifest alone, for lists; undefined for a file that has none. */
export async function readManifest(path: string, limits: FileLimits): Promise<Manifest | undefined> {
  try {
    return (await unpacked(path, limits, 'manifest only')).manifest;
  } catch (error) {
    if (error instanceof SnapshotError) return undefined;
    throw error;
  }
}

async function refuseSize(path: string, { fileBytesMax }: FileLimits): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    return undefined;
  });
  if (!found?.isFile())
    throw new SnapshotError('snapshot_not_found', {
      message: found ? `${path} is not a file` : `There is no file ${path}`,
      fix: 'Name a file that `rewards snapshot save` has written, such as base.rewards.',
    });
  if (found.size > fileBytesMax) throw tooLarge(path, { bytes: found.size, bytesMax: fileBytesMax });
}

const tooLarge = (what: string, { bytes, bytesMax }: { bytes: number; bytesMax: number }) =>
  new SnapshotError('snapshot_too_large', {
    message: `${what} has ${bytes} bytes or more, and at most ${bytesMax} are taken; nothing was changed`,
    fix: 'Take the snapshot of a smaller stack, or begin anew with `rewards reset`.',
  });

async function unpacked(
  path: string,
  limits: FileLimits,
  how: 'whole' | 'manifest only' = 'whole',
): Promise<{ manifest: Manifest | undefined; parts: Map<string, Buffer> }> {
  const entries = extract();
  const parts = new Map<string, Buffer>();
  let manifest: Manifest | undefined;
  let left = limits.unpackedBytesMax;
  const file = createReadStream(path);
  // What ends early, ends the reading of entries with the same reason.
  const unpacking = pipeline(file, createGunzip(), entries).catch((error) => void entries.destroy(error));
  try {
    for await (const entry of entries) {
      const { name, type, size = 0 } = entry.header;
      const isFirst = manifest === undefined;
      if (isFirst && name !== MANIFEST)
        throw damaged(`${path} is not a snapshot: it does not begin with ${MANIFEST}`);
      if (type !== 'file' || (!isFirst && !isPart(name)) || parts.has(name))
        throw damaged(`${path} has an entry ${JSON.stringify(name)} that no snapshot has`);
      if (isFirst && size > limits.manifestBytesMax)
        throw tooLarge(`The manifest of ${path}`, { bytes: size, bytesMax: limits.manifestBytesMax });
      left -= size;
      if (left < 0)
        throw tooLarge(`What ${path} holds`, {
          bytes: limits.unpackedBytesMax - left,
          bytesMax: limits.unpackedBytesMax,
        });
      const bytes = await contentOf(entry);
      if (!isFirst) parts.set(name, bytes);
      else manifest = parsedManifest(path, bytes);
      if (how === 'manifest only') break;
    }
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw damaged(`${path} cannot be read as a snapshot: ${reasonOf(error)}`, { cause: error });
  } finally {
    entries.destroy();
    file.destroy();
    await unpacking;
  }
  return { manifest, parts };
}

async function contentOf(pieces: AsyncIterable<unknown>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece as Uint8Array);
  return Buffer.concat(all);
}

function parsedManifest(path: string, bytes: Buffer): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw damaged(`the manifest of ${path} is not JSON`);
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > FORMAT) {
    throw new SnapshotError('snapshot_newer', {
      message: `${path} is of a newer version of rewards: its format is ${format}, and this one knows ${FORMAT}; nothing was changed`,
      fix: 'Run the newer version.',
    });
  }
  const manifest = manifestShape.safeParse(value);
  if (manifest.success) return manifest.data;
  const [issue] = manifest.error.issues;
  throw damaged(`the manifest of ${path} is not one: ${issue?.path.join('.')} ${issue?.message}`);
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'Z_BUF_ERROR' || /unexpected end/i.test(message ?? '')) return 'it ends too early';
  if (code?.startsWith('Z_')) return 'it is not compressed as one, or damaged';
  return message ?? String(error);
}
