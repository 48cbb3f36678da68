/** What steps act on: one target, what it can do, the ways to it, and what steps see. */
import type { ChainView } from '../../client/chain/chain-view.ts';
import type { UserWallets } from '../../client/chain/user-wallet.ts';
import type { createClient } from '../../client/create-client.ts';
import type { HostUrls } from '../../client/host-urls.ts';
import type { Reply } from '../../client/reply.ts';
import type { Random } from '../../lib/ids.ts';

export type JsonObject = Record<string, unknown>;

/** What only some targets have. */
export const capabilities = {
  clock: 'a clock that can be moved: a stack of the emulator',
  payments: 'the emulated payment processor',
  chain: 'the address of its chain',
  code: 'accounts that can be given code: a stack of the emulator',
  site: 'the demo site',
  inbox: 'the built-in receiver of webhooks',
  users: 'users whose keys are known: a stack of the emulator',
  controls: 'the control API of the emulator',
  snapshots: 'snapshots: a stack of the emulator',
  faults: 'faults: a stack of the emulator',
} as const;
export type Capability = keyof typeof capabilities;

/** What a step saw, for `expect`, `save` and later steps. */
export type Seen = Record<string, unknown>;

export type Client = ReturnType<typeof createClient>;

/** A service that a scenario runs against: a stack of its own, or one that runs already. */
export interface ScenarioTarget {
  urls: HostUrls;
  can: ReadonlySet<Capability>;
  /** Known of a stack of the emulator. */
  controlToken?: string | undefined;
  brands: readonly { brandId: string; domain: string; apiKey: string }[];
  users: readonly { email: string; address: string; login: string }[];
  contracts: Readonly<Record<string, string>>;
  rpcUrl?: string | undefined;
  /** What the emulated processor signs its events with. */
  webhookSecret?: string | undefined;
  /** The brand's key for a target that is not ours; goes with every event, check-in and redemption. */
  apiKey?: string | undefined;
}

export interface StepContext {
  target: ScenarioTarget;
  client: Client;
  random: Random;
  wallets: () => UserWallets;
  chain: () => ChainView;
  /** The newest block when the scenario began, and what each brand had in escrow then. */
  start: () => Promise<{ block: number; escrow: Record<string, bigint> }>;
  /** The wallet of a user, which never changes; asked for once. */
  walletOf: (user: string) => Promise<{ user: string; address: string; index: number | null }>;
  /** The clock of the target, or this machine's where the target has none that we know. */
  nowMs: () => Promise<number>;
}

/** A step that cannot be done as it is written. */
export class StepError extends Error {
  override name = 'StepError';
}

/** The brand of a name, or the first that the target has. */
export function brandOf(
  context: StepContext,
  name: string | undefined,
): { brandId: string; domain: string; apiKey: string } {
  const { brands } = context.target;
  const wanted = name?.toLowerCase();
  const [first] = brands;
  const found =
    wanted === undefined
      ? first
      : brands.find((one) => one.brandId.toLowerCase() === wanted || one.domain === wanted);
  if (found) return found;
  if (wanted !== undefined && /^0x[0-9a-f]{40}$/.test(wanted))
    return { brandId: wanted, domain: '', apiKey: '' };
  const known = brands.map(({ domain }) => domain).join(', ');
  throw new StepError(
    wanted === undefined
      ? 'no brand is named, and this target does not list its brands: give `brand`, or run with --brand'
      : `there is no brand ${name}${known ? `; the brands are ${known}` : ', and this target does not list its brands'}`,
  );
}

/** The e-mail of a login of the stack; every other name stands for itself. */
export function userNamed({ target }: StepContext, name: string): string {
  if (/[@:]/.test(name) || name.startsWith('0x')) return name;
  const user = target.users.find(({ login, email }) => login === name || email.startsWith(`${name}@`));
  if (user) return user.email;
  const known = target.users.map(({ login }) => login).join(', ');
  throw new StepError(`there is no user ${name}${known ? `; the users are ${known}` : ': give an e-mail'}`);
}

/** The brand's key, where it is wanted or the target needs it. */
export function keyHeader(
  context: StepContext,
  brand: { apiKey: string },
  wanted: boolean | undefined,
): Record<string, string> {
  const key = wanted === false ? undefined : (context.target.apiKey ?? (wanted ? brand.apiKey : undefined));
  if (wanted && !key) throw new StepError('the key of this brand is not known; give it with --api-key-file');
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** An answer as a step sees it. */
export const answerSeen = ({ status, headers, body }: Reply): Seen => ({ status, headers, body });

/** The body of a control's answer; a refusal of it ends the step. */
export function controlBody<Body>(reply: Reply<Body>): Body {
  if (reply.status < 400) return reply.body;
  const { error, message } = (reply.body ?? {}) as { error?: string; message?: string };
  throw new StepError(
    `the emulator answered ${reply.status}: ${[error, message].filter(Boolean).join(': ')}`,
  );
}
