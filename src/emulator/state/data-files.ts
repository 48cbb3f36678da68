/** What a stack keeps in its data folder. */

export const LEDGER = 'ledger.sqlite';
/** The store of the demo site. */
export const SITE_STORE = 'site.sqlite';
/** Checkpoints of the chain, and the ledger's mark. */
export const CHAIN = 'chain';

const database = (file: string) => [file, `${file}-wal`, `${file}-shm`];

/** All of a stack's data; its snapshots are kept in a folder beside it. Anything else there is somebody else's. */
export const DATA_FILES = [...database(LEDGER), ...database(SITE_STORE), CHAIN];

/** While a snapshot is put in the place of the data: the new files, the old ones, and the old ones once they are not needed any more. */
export const SWAP = { staged: 'restore.new', kept: 'restore.old', done: 'restore.done' } as const;

export const SNAPSHOTS = 'snapshots';
