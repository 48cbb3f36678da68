/** A ledger that has lost commits says so at its next start. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { seededChance } from '../kits/run/seeded-chance.ts';
import { serve, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { clientOf, someone } from '../kits/service/service.ts';

test('a deleted write-ahead log: the start tells what is gone, and a start that finds all tells nothing', async () => {
  const project = await temporaryDirectory();
  const data = join(project.path, 'data');
  const start = () => serve(['--port', '0', '--persist-to', data], { cwd: project.path });
  const marked = async () => {
    const text = await readFile(join(data, 'chain', 'ledger-mark.json'), 'utf8').catch(() => '{}');
    return (JSON.parse(text) as { rewards?: number }).rewards ?? 0;
  };
  try {
    const first = await start();
    await first.stop();
    const second = await start();
    expect(second.stderr()).not.toContain('has lost its last commits');
    const { event } = clientOf(second.ready);
    for (let times = 0; times < 3; times++) {
      const { status } = await event({ userEmail: someone(), eventType: 'form_submit' });
      expect(status).toBe(200);
    }
    await until('the mark', async () => (await marked()) === 3);
    await second.stop('SIGKILL');
    await rm(join(data, 'ledger.sqlite-wal'));
    await rm(join(data, 'ledger.sqlite-shm'), { force: true });
    const third = await start();
    expect(third.stderr()).toMatch(
      /the ledger has lost its last commits: \d+ that were answered, with at least 3 rewards and \d+ blocks, are gone/,
    );
    await third.stop();
    const fourth = await start();
    expect(fourth.stderr()).not.toContain('has lost its last commits');
    await fourth.stop();
  } finally {
    await project.remove();
  }
});

/** Frames of the log that no checkpoint has copied into the ledger, by their numbers; SQLite keeps both in its index of the log. */
async function unsavedFrames(index: string): Promise<{ from: number; to: number }> {
  const bytes = await readFile(index);
  return { from: bytes.readUInt32LE(96) + 1, to: bytes.readUInt32LE(16) };
}

/** Where a frame begins: after the log's head of 32 bytes, each page has a head of 24. */
const offsetOfFrame = (log: Buffer, number: number) => 32 + (number - 1) * (24 + log.readUInt32BE(8));

test.each([1, 2, 3])(
  'commits that were answered a moment before the kill are counted, also those whose log is damaged somewhere (seed %i)',
  async (seed) => {
    const chance = seededChance(seed);
    const project = await temporaryDirectory();
    const data = join(project.path, 'data');
    const wal = join(data, 'ledger.sqlite-wal');
    const start = () => serve(['--port', '0', '--persist-to', data], { cwd: project.path });
    /** As the file has it: the number of its last commit. */
    const commitsOf = () => {
      const file = new Sqlite(join(data, 'ledger.sqlite'));
      const commits = Number(file.pragma('user_version', { simple: true }));
      file.close();
      return commits;
    };
    try {
      const first = await start();
      await first.stop();
      let unsaved = { from: 0, to: 0 };
      // After a checkpoint that comes just before the kill, nothing is in the log alone.
      while (unsaved.to - unsaved.from < 2) {
        const second = await start();
        const { event } = clientOf(second.ready);
        for (let times = 3 + chance.below(10); times > 0; times--)
          expect((await event({ userEmail: someone(), eventType: 'form_submit' })).status).toBe(200);
        await second.stop('SIGKILL');
        unsaved = await unsavedFrames(join(data, 'ledger.sqlite-shm'));
      }
      const answered = Number(await readFile(join(data, 'chain', 'ledger-commits'), 'utf8'));
      const bytes = await readFile(wal);
      const frame = unsaved.from + chance.below(unsaved.to - unsaved.from + 1);
      const [begins, ends] = [offsetOfFrame(bytes, frame), offsetOfFrame(bytes, frame + 1)];
      const length = 1 + chance.below(64);
      const damaged = begins + chance.below(ends - begins - length);
      for (let at = damaged; at < damaged + length; at++) bytes[at] = (bytes[at] as number) ^ 0xff;
      await writeFile(wal, bytes);
      await rm(join(data, 'ledger.sqlite-shm'), { force: true });
      const has = commitsOf();
      expect(has).toBeLessThan(answered);
      const third = await start();
      expect(third.stderr()).toContain(`has lost its last commits: ${answered - has} that were answered`);
      await third.stop();
    } finally {
      await project.remove();
    }
  },
);
