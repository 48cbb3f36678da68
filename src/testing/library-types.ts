/**
 * `rewards/testing`: the steps of scenarios as functions, for tests in TypeScript and JavaScript. This file is the
 * package's declaration (`dist/testing.d.ts`), so it imports nothing of the program.
 */

/** An answer of the service. */
export interface Answer {
  status: number;
  /** Names in small letters. */
  headers: Record<string, string>;
  /** The body as JSON; its fields are those of docs/api.md. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field
  body: any;
}

export interface StackOptions {
  /** Paths of fixtures; default: the demo brand. */
  seed?: string | string[];
  /** Time at which the stack begins, RFC 3339, and whether its clock stands. */
  clock?: { start?: string; frozen?: boolean };
  /** Wording of a refused cooldown; default: current. */
  errors?: 'current' | 'earlier';
  /** Longest wait for an answer, in milliseconds; default: 30,000. */
  timeoutMs?: number;
}

/** An e-mail, `<platform>:<id>`, or the login of a user of the stack, such as `alice`. */
export type User = string;

/** Id or domain of the brand; default: the first. */
interface OfBrand {
  brand?: string;
}
interface Sending {
  /** Sends the brand's key along. */
  brandKey?: boolean;
  headers?: Record<string, string>;
}

export interface EventInput extends OfBrand {
  type: string;
  user?: User;
  /** Where it happened; null for nowhere; default: the domain of the brand. */
  domain?: string | null;
  sourceUrl?: string;
  channel?: string;
  skipCooldown?: boolean;
  metadata?: Record<string, unknown>;
  /** Further fields of the body, as they are. */
  body?: Record<string, unknown>;
}

export interface RelayInput extends OfBrand {
  /** The user, whose token and signatures the stack makes. */
  as?: User;
  token?: string;
  userAddress?: string;
  call?: {
    contract: 'token' | 'perks' | 'pointsSale' | 'escrow';
    function: string;
    /** `me` is the address of the user. */
    args?: (string | number | boolean)[];
  };
  to?: string;
  data?: string;
  permit?: { spender?: string; value?: string | number; deadline?: string };
  gasLimit?: number;
  origin?: string;
  idempotencyKey?: string;
}

/** A session of the payment processor by its id; default: the latest. */
interface OfSession {
  session?: string;
}

/** What the built-in receiver of webhooks got. */
export interface Delivery {
  id: string;
  receivedAt: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field
  body: any;
  headers: Record<string, string>;
  signature: { valid: boolean } | null;
}

/** Durations are texts such as `61s` and `24h`. */
export interface Stack {
  /** Bases of the hosts, and the address of the chain. */
  readonly urls: Readonly<
    Record<'events' | 'relay' | 'register' | 'services' | 'site' | 'control' | 'rpc', string>
  >;
  /** For a program under test: what `rewards env` prints. */
  readonly env: Readonly<Record<string, string>>;
  /** The first brand. */
  readonly brand: { readonly id: string; readonly domain: string; readonly apiKey: string };
  readonly users: readonly { readonly login: string; readonly email: string; readonly address: string }[];
  readonly contracts: Readonly<Record<'token' | 'escrow' | 'perks' | 'pointsSale', string>>;

  event(input: EventInput & Sending & { idempotencyKey?: string; origin?: string }): Promise<Answer>;
  bulk(input: { events: EventInput[] } & Sending): Promise<Answer>;
  checkIn(input: { user: User; type?: string; platform?: string } & OfBrand & Sending): Promise<Answer>;
  redeem(
    input: { user: User; perk: string | number; idempotencyKey?: string } & OfBrand & Sending,
  ): Promise<Answer>;
  pregenerate(
    input: { user: User; username?: string; headers?: Record<string, string> } & OfBrand,
  ): Promise<Answer>;
  /** `amount` is in US cents. */
  checkout(
    input: {
      amount: number;
      user: User;
      /** Default: usd. */
      currency?: string;
      /** Where the buyer comes back to, paid or not; default: pages of the brand. */
      successUrl?: string;
      cancelUrl?: string;
      idempotencyKey?: string;
    } & OfBrand,
  ): Promise<Answer>;
  pay(
    input?: OfSession & {
      outcome?: 'paid' | 'declined' | 'expired' | 'disputed';
      delay?: string;
      fails?: string;
      /** False: the processor sends no event. */
      webhook?: boolean;
    },
  ): Promise<Answer>;
  refund(input?: OfSession & { amount?: number; reason?: string; webhook?: boolean }): Promise<Answer>;
  /** `mints`: how often the chain has minted for the session. */
  mint(input?: OfSession): Promise<Answer & { mints: number }>;
  /** Delivers an event of the payment processor again. */
  webhook(
    input?: OfSession & { deliver?: string; spoil?: 'body' | 'signature' | 'stale' },
  ): Promise<Answer & { mints: number }>;
  relay(input: RelayInput): Promise<Answer>;
  site(input: { hook: string; user: User; metadata?: Record<string, unknown> }): Promise<Answer>;
  http(input: {
    path: string;
    method?: string;
    host?: 'events' | 'relay' | 'register' | 'services' | 'site' | 'control';
    headers?: Record<string, string>;
    body?: unknown;
  }): Promise<Answer>;
  /** Webhooks that the brand's inbox got; `first` is the oldest. */
  inbox(input?: {
    type?: string;
    user?: User;
  }): Promise<{ count: number; first?: Delivery; last?: Delivery; deliveries: Delivery[] }>;
  /** What an account owns on chain; amounts are texts. `delta`: since the stack began, not of perks. */
  chain(
    input?:
      | { rwtOf: User }
      | { escrowOf: string }
      | { perksOf: User; tokenId: number | string }
      | Record<string, never>,
  ): Promise<{ block: number; balance?: string; delta?: string }>;
  /** Gives an account code of its own, as smart accounts have it; `none` makes it an ordinary wallet again. */
  code(
    input: { of: User } & (
      | { kind: 'accepts' | 'reverts' | 'burns-gas' | 'answers-rubbish' | 'none' }
      | { bytecode: string }
    ),
  ): Promise<{ address: string; code: string }>;
  /** Compares ledger and chain, everything unless `since` is a block or an RFC 3339 time. */
  verify(input?: {
    since: string | number;
  }): Promise<{ ok: boolean; differences: { kind: string; message: string }[] }>;
  /** An answer of `event` or `relay` with why: `rewarded`, `confirmed`, or the name of the check that refused. */
  decided<Of extends Answer>(answer: Of | Promise<Of>): Promise<Of & { decision?: string }>;
  /** Forgets what an external service has said about buyers of perks. */
  invalidate(
    input: { url: string; user?: User; tokenId?: number } & OfBrand,
  ): Promise<{ invalidated: number }>;
  /** Saves the whole stack: ledger, chain, payments, site and clock. Without a name, the stack finds one. */
  snapshot(name?: string): Promise<{ name: string; bytes: number; chain: { block: number; hash: string } }>;
  /** Brings the whole stack back to a snapshot. */
  restore(
    name: string,
  ): Promise<{ chain: { block: number; hash: string }; clock: { now: string; frozen: boolean } }>;
  readonly clock: {
    now(): Promise<Date>;
    advance(duration: string): Promise<ClockMove>;
    /** RFC 3339. */
    set(time: string): Promise<ClockMove>;
    /** As `rewards clock advance --until` takes it, such as `window-reset:alice`. */
    until(condition: string): Promise<ClockMove>;
    freeze(): Promise<ClockMove>;
    run(): Promise<ClockMove>;
  };
  readonly faults: {
    set(wish: {
      seam: string;
      effect?: string;
      times?: number;
      for?: string;
    }): Promise<{ id: string; seam: string; effect: string }>;
    /** A seam or an id; default: all. */
    clear(name?: string): Promise<unknown>;
  };
  /**
   * Tries until `check` neither throws nor resolves with false, and resolves with what it resolved with. After a second
   * the stack's clock moves to the end of `within` (default `30s`) in twenty moves, so that what falls due happens.
   */
  eventually<Result>(check: () => Promise<Result> | Result, within?: string): Promise<Result>;
  /** Ends everything that the stack has started; may be called again. */
  stop(): Promise<void>;
}

export interface ClockMove {
  now: string;
  nowMs: number;
  frozen: boolean;
  /** What fell due on the way. */
  fired?: { at: string; kind: string; what: string }[];
}

/** Where a value does not fit what is expected. */
export interface Difference {
  what: string;
  expected: string;
  got: string;
}

/** Starts a stack in this process, on free ports, with data that is not kept. */
export declare function startStack(options?: StackOptions): Promise<Stack>;

/** As `expect` of a scenario compares: objects are subsets, lists are exact, `$gte` and the like are operators. */
export declare function differences(value: unknown, expected: unknown): Difference[];

/** Throws an error that names every difference. */
export declare function expectFits(value: unknown, expected: unknown): void;
