/** What an emulator is started with. */
import type { EngineOverrides, RelayOverrides } from '../compose/config.ts';
import type { Crash } from '../lib/crash-points.ts';
import type { Log } from '../lib/log.ts';
import type { Workbench } from './workbench.ts';

/** The config of an emulator, from the command line. */
export interface ServeConfig {
  bindAddress: string;
  port: number;
  /** True: the user chose the port, so another one must not replace it. */
  portExplicit: boolean;
  splitHosts: boolean;
  ephemeral: boolean;
  /** The folder of a persistent stack; unused when ephemeral. */
  dataDir: string;
  /** Fixtures to load; empty: the packaged demo. */
  seedFiles: string[];
  /** Keeps the state before each change, for `undo`. */
  undo?: boolean | undefined;
  /** A snapshot's file: its data takes the place of what the folder has, which becomes a snapshot itself. */
  importFile?: string | undefined;
  clockStartMs?: number | undefined;
  frozen: boolean;
  /** A development node that is already running. */
  rpcUrl?: string | undefined;
  rpcPort: number;
  rpcPortExplicit: boolean;
  /** 0 mines each transaction at once. */
  blockTimeSeconds: number;
  /** A Postgres database instead of SQLite. */
  databaseUrl?: string | undefined;
  log: Log;
  /** Hears how far it is: blocks of its own chain that are mined again, and those of another node that are read. */
  onBlocks?: ((phase: 'restoring' | 'reading', progress: { block: number; of: number }) => void) | undefined;
  /** Domain of the stand-in e-mails of chat users. Default: one that exists nowhere. */
  ownDomain?: string | undefined;
  /** Which of the contract's two wordings a refused cooldown has. Default: current. */
  errorDialect?: 'current' | 'earlier' | undefined;
  /** Requests a minute of one address without a brand's key; 0 for any number. */
  addressRequestsMax?: number | undefined;
  /** Default: the contract's 60 s; its other statement is 5 s. */
  duplicateWindowMs?: number | undefined;
  /** Asks this machine's DNS or these servers instead of the fixture's table. */
  dns?: 'system' | { servers: string[] } | undefined;
  /** Lets it start load tests and scenarios; a stack inside of another program has none. */
  workbench?: Workbench | undefined;
}

/** Overrides for tests only. */
export interface Overrides {
  /** Ends the process at a named moment. */
  crash?: Crash | undefined;
  /** Shortens the engine's patience. */
  engine?: EngineOverrides | undefined;
  /** Other limits of the relay. */
  relay?: RelayOverrides | undefined;
  /** Where the service finds the payment processor, given where that is. */
  processorAt?: ((origin: string) => string) | undefined;
  /** A commit inside another fails, rather than to wait for itself; Node follows every promise for it. */
  watchNesting?: boolean | undefined;
}
