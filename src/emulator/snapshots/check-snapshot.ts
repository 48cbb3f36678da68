/** Whether this program can open what a snapshot has: sound stores of ours, none newer than it knows. */
import { newestMigration as newestKnown } from '../../ledger/database/migrate.ts';
import { LEDGER, SITE_STORE } from '../state/data-files.ts';
import type { Snapshot } from './manifest.ts';
import { damaged, SnapshotError } from './snapshot-error.ts';
import { journalEnd, newestMigration, type OpenImage, openImage } from './store-images.ts';

/** Throws `SnapshotError`. `what` names the snapshot in its message. */
export function checkSnapshot({ manifest, parts }: Snapshot, what: string): void {
  const ledger = parts.get(LEDGER);
  if (!ledger) throw damaged(`${what} has no ledger`);
  inside(ledger, `the ledger of ${what}`, (store) => {
    if (!store.tables().includes('migrations')) throw damaged(`the ledger of ${what} is not one of rewards`);
    const migration = newestMigration(store);
    if (migration > newestKnown) {
      throw new SnapshotError('snapshot_newer', {
        message: `${what} is of a newer version of rewards (${manifest.program}): its ledger has migration ${migration}, and this one knows ${newestKnown}; nothing was changed`,
        fix: 'Run the newer version.',
      });
    }
    const end = journalEnd(store);
    const { block, hash } = manifest.chain;
    if (end?.block !== block || end.hash !== hash)
      throw damaged(`the chain of ${what} ends elsewhere than its manifest says`);
  });
  const site = parts.get(SITE_STORE);
  if (site) inside(site, `the site's store of ${what}`, () => undefined);
}

function inside(image: Buffer, what: string, look: (store: OpenImage) => void): void {
  let store: OpenImage | undefined;
  try {
    store = openImage(image);
    const damage = store.damage();
    if (damage !== undefined) throw damaged(`${what} is damaged: ${damage}`);
    const [stranger] = store.strangers();
    if (stranger !== undefined) throw damaged(`${what} has a ${stranger}, which no snapshot has`);
    look(store);
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw damaged(`${what} cannot be opened`, { cause: error });
  } finally {
    store?.close();
  }
}
