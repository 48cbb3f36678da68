/** What a setting of `rewards start` is: a row of the table, the kinds that only `start` has, and how a row is built. */
import type { Kind, Setting } from '../lib/setting.ts';
import type { Fault } from './setting-forms.ts';
import type { Problem } from './start-errors.ts';

export type Worker = 'api' | 'outbox';

/** The values that the rows of other settings ask for. */
export interface Others {
  workers: readonly Worker[];
  identity: string;
  payments: string;
  stripeMode: string;
  allowSqlite: boolean;
  allowSingleRpc: boolean;
  allowPlainRpc: boolean;
  allowPlainDatabase: boolean;
}

export interface StartSetting<Value> extends Setting<Value> {
  /** Required: `start` refuses to run without it. */
  needed?: true | ((config: Others) => boolean);
  /** What is wrong with a value's form, each beginning with the setting's `name`; they become an E_SETTINGS. */
  check?(value: Value, name: string, config: Others): Fault | Fault[] | undefined;
  /** Why production must not run with a well-formed value. */
  unsafe?(value: Value, config: Others): Problem | undefined;
  /** What the value names outside this program, which `start --check` asks. */
  reach?: Reach;
}

/** What settings name outside this program: a row of reach/reach.ts says how it is asked. */
export type Reach = 'database' | 'nodes' | 'accounts' | 'prices' | 'listeners' | 'issuer' | 'processor';

export const asksApi = (config: Pick<Others, 'workers'>) => config.workers.includes('api');
export const asksOutbox = (config: Pick<Others, 'workers'>) => config.workers.includes('outbox');

type More<Value> = Omit<StartSetting<Value>, 'flag' | 'kind' | 'help'>;

/** Builds a row. Its value is always present when it has a default, is needed or is a list. */
export function setting<Value>(
  flag: string,
  kind: Kind<Value>,
  help: string,
  more: More<Value> & ({ default: string } | { needed: true }),
): StartSetting<Value>;
export function setting(
  flag: string,
  kind: Kind<string[]>,
  help: string,
  more?: More<string[]>,
): StartSetting<string[]>;
export function setting<Value>(
  flag: string,
  kind: Kind<Value>,
  help: string,
  more?: More<Value>,
): StartSetting<Value | undefined>;
export function setting<Value>(flag: string, kind: Kind<Value>, help: string, more: More<Value> = {}) {
  return { flag, kind, help, ...more };
}

export const workers: Kind<Worker[]> = {
  parse(words) {
    const known = words.split(',').map((word) => word.trim());
    return known.every((word): word is Worker => word === 'api' || word === 'outbox') ? known : undefined;
  },
  mustBe: 'api, outbox, or api,outbox',
  late: true,
};
