/** Takes a snapshot of a stack: while it runs, without holding anything up, or of the files of a stopped one. */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { settings } from '../../compose/config.ts';
import type { AdjustableClock } from '../../lib/clock.ts';
import { snapshotSettings } from '../limits.ts';
import { CHAIN, LEDGER, SITE_STORE } from '../state/data-files.ts';
import { FORMAT, isPart, type Manifest, type Snapshot } from './manifest.ts';
import { damaged, SnapshotError } from './snapshot-error.ts';
import { hashOf } from './snapshot-file.ts';
import {
  imageOf,
  type JournalEnd,
  ledgerImageOf,
  newestMigration,
  type OpenImage,
  openImage,
} from './store-images.ts';

/** Blocks that come between the journal's last entry and the image of the ledger are caught by another try. */
const TRIES = 5;

export interface Running {
  dataDir: string;
  clock: Pick<AdjustableClock, 'state'>;
  node: SavedNode;
}

/** The chain's node, as a snapshot needs it. */
export interface SavedNode {
  /** Brings every block into the ledger's journal, and takes a checkpoint where the chain has any. */
  save(): Promise<void>;
  /** The same without a checkpoint. */
  flush(): Promise<void>;
  head(): Promise<{ hash: string }>;
}

export interface Images {
  ledger: Buffer;
  /** Where the ledger's chain ends. */
  end: JournalEnd | undefined;
  site: Buffer | undefined;
  clock: Manifest['clock'];
}

/**
 * The stores and the clock of one moment, in which the ledger knows the whole chain. Nothing waits for it but the event
 * loop, a millisecond for each megabyte. `checkpoint`: with the chain's state, so that opening it replays no blocks.
 */
export async function takeImages(
  { dataDir, clock, node }: Running,
  { checkpoint, storeBytesMax }: { checkpoint: boolean; storeBytesMax: number },
): Promise<Images> {
  if (checkpoint) await node.save();
  for (let tries = 1; ; tries += 1) {
    // First, since nothing has to be written for one that is refused.
    await refuseLarge(dataDir, storeBytesMax);
    await node.flush();
    const image = ledgerImageOf(join(dataDir, LEDGER));
    const site = imageOf(join(dataDir, SITE_STORE));
    const { nowMs, frozen } = clock.state();
    if (!image) throw new SnapshotError('snapshot_unsupported', NO_LEDGER);
    const head = await node.head();
    // A block that was mined since belongs to the next snapshot: the ledger of this one does not know it either.
    if (image.end?.hash === head.hash || tries === TRIES) return { ...image, site, clock: { nowMs, frozen } };
  }
}

const NO_LEDGER = {
  message: 'This stack keeps its data in a database of its own, and a snapshot takes the file of the ledger',
  fix: 'Run `rewards serve` without --database-url; copies of a Postgres database are made with pg_dump.',
};

/** A snapshot of a stack that runs. */
export async function takeSnapshot(
  running: Running,
  of: { name: string; note: string | null; atMs: number },
): Promise<Snapshot> {
  const images = await takeImages(running, {
    checkpoint: true,
    storeBytesMax: snapshotSettings.snapshots.storeBytesMax,
  });
  return described(images, { ...of, checkpoint: await newestCheckpoint(running.dataDir, images) });
}

/** A snapshot of the files of a stopped stack; undefined where it has no ledger. Throws for one that cannot be read. */
export async function takeOfFiles(
  dataDir: string,
  of: { name: string; note: string | null; atMs: number },
): Promise<Snapshot | undefined> {
  if (!existsSync(join(dataDir, LEDGER))) return undefined;
  await refuseLarge(dataDir, snapshotSettings.snapshots.storeBytesMax);
  const image = ledgerImageOf(join(dataDir, LEDGER));
  if (!image?.end) return undefined;
  const images = {
    ...image,
    site: imageOf(join(dataDir, SITE_STORE)),
    clock: keptClock(image.ledger, of.atMs),
  };
  return described(images, { ...of, checkpoint: await newestCheckpoint(dataDir, images) });
}

async function refuseLarge(dataDir: string, storeBytesMax: number): Promise<void> {
  for (const name of [LEDGER, SITE_STORE]) {
    const found = await stat(join(dataDir, name)).catch(() => undefined);
    if (!found || found.size <= storeBytesMax) continue;
    throw new SnapshotError('snapshot_too_large', {
      message: `${name} has ${found.size} bytes, and a snapshot takes at most ${storeBytesMax}`,
      fix: 'Stop the stack and copy its data folder, or begin anew with `rewards reset`.',
    });
  }
}

/** The clock as a stopped stack would go on with it. */
function keptClock(ledger: Buffer, atMs: number): Manifest['clock'] {
  const store = openImage(ledger);
  try {
    const kept = factOf(store, 'clock') as { offsetMs: number; frozenAtMs: number | null } | undefined;
    const frozenAtMs = kept?.frozenAtMs ?? null;
    return { nowMs: frozenAtMs ?? atMs + (kept?.offsetMs ?? 0), frozen: frozenAtMs !== null };
  } finally {
    store.close();
  }
}

function factOf(store: OpenImage, name: string): unknown {
  const [row] = store.all('select value from facts where name = ?', name);
  return row && JSON.parse(String(row.value));
}

/** A state of the chain as a part of a snapshot. */
export interface Checkpoint {
  name: string;
  bytes: Buffer;
}

/** The newest one that is not past the ledger's; not read again where it is the one that is `known`. */
export async function newestCheckpoint(
  dataDir: string,
  { end }: Pick<Images, 'end'>,
  known?: Checkpoint,
): Promise<Checkpoint | undefined> {
  const { storeBytesMax } = snapshotSettings.snapshots;
  const found = (await readdir(join(dataDir, CHAIN)).catch(() => []))
    .map((file) => ({ name: `${CHAIN}/${file}`, block: Number(/^checkpoint-(\d+)/.exec(file)?.[1]) }))
    .filter(({ name, block }) => isPart(name) && end !== undefined && block <= end.block)
    .sort((one, other) => other.block - one.block);
  for (const { name } of found) {
    if (name === known?.name) return known;
    const bytes = await readFile(join(dataDir, name)).catch(() => undefined);
    if (bytes && bytes.length <= storeBytesMax) return { name, bytes };
  }
  return undefined;
}

function described(
  { ledger, end, site, clock }: Images,
  of: {
    name: string;
    note: string | null;
    atMs: number;
    checkpoint: Checkpoint | undefined;
  },
): Snapshot {
  const parts = new Map([[LEDGER, ledger]]);
  if (site) parts.set(SITE_STORE, site);
  if (of.checkpoint) parts.set(of.checkpoint.name, of.checkpoint.bytes);
  const { rows, migration, chainId } = factsOf(ledger, site);
  if (!end) throw damaged('the ledger has no chain');
  return {
    manifest: {
      format: FORMAT,
      program: settings.workerVersion,
      migration,
      name: of.name,
      note: of.note,
      takenAt: new Date(of.atMs).toISOString(),
      chain: { id: chainId, ...end },
      clock,
      rows,
      parts: [...parts].map(([name, bytes]) => ({ name, bytes: bytes.length, sha256: hashOf(bytes) })),
    },
    parts,
  };
}

function factsOf(ledger: Buffer, site: Buffer | undefined) {
  const store = openImage(ledger);
  const siteStore = site && openImage(site);
  try {
    const ofSite = Object.entries(siteStore?.counts() ?? {}).map(([table, rows]) => [`site.${table}`, rows]);
    return {
      rows: { ...store.counts(), ...Object.fromEntries(ofSite) },
      migration: newestMigration(store),
      chainId: (factOf(store, 'chain') as { chainId?: number } | undefined)?.chainId ?? 0,
    };
  } finally {
    store.close();
    siteStore?.close();
  }
}
