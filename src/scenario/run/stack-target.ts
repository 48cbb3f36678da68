/** A stack of the emulator as steps see it. */
import type { Ready } from '../../stack/ready.ts';
import { type Capability, capabilities, type ScenarioTarget } from '../steps/step-context.ts';

/** What a stack tells of itself, and its run file keeps. */
type KnownStack = Pick<Ready, 'urls' | 'controlToken' | 'brands' | 'contracts' | 'processor'> & {
  users: ScenarioTarget['users'];
};

/** Everything is possible on it. */
export const targetOf = (ready: KnownStack): ScenarioTarget => ({
  urls: ready.urls,
  can: new Set(Object.keys(capabilities) as Capability[]),
  controlToken: ready.controlToken,
  brands: ready.brands,
  users: ready.users,
  contracts: ready.contracts,
  rpcUrl: ready.urls.rpc,
  webhookSecret: ready.processor.webhookSecret,
});

/** What a stack of a scenario's own can do: everything, but snapshots are of a ledger in a file. */
export const canOfOwn = (isOnPostgres: boolean): ReadonlySet<Capability> =>
  new Set((Object.keys(capabilities) as Capability[]).filter((one) => !isOnPostgres || one !== 'snapshots'));
