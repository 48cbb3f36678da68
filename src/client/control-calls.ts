/** The emulator's own controls; a production service answers 404 to all of them. */
import type {
  AddedEndpointBody,
  AliasBody,
  AliasListBody,
  BrandBody,
  BrandDetail,
  ChatStandingBody,
  ChatStandingsBody,
  ClockBody,
  ConstrainedPerksBody,
  ConstraintsVerdictBody,
  DeliveryBody,
  DeliveryDetail,
  DnsRecordBody,
  FundingBody,
  InboxBody,
  InvalidatedResultsBody,
  ManagedPerkBody,
  MintBody,
  MovedClockBody,
  NewKeyBody,
  PublishedKeysBody,
  RedemptionBody,
  RequestDetail,
  RequestFilter,
  RequestListBody,
  RuleBody,
  SeedBody,
  SessionMintBody,
  TokenBody,
  TokenVerdictBody,
  TotalsBody,
  VerifyBody,
  WalletBody,
  WebhookEndpointBody,
} from './bodies.ts';
import type { ControlSend } from './control-send.ts';
import { faultCalls } from './emulator/fault-calls.ts';
import { processorCalls } from './emulator/processor-calls.ts';
import { snapshotCalls } from './emulator/snapshot-calls.ts';
import { queryOf } from './query.ts';
import { siteCalls } from './site-calls.ts';

/** Settings by name, as texts or as JSON values: `{automation: 'off'}`, `{domains: ['a.example']}`. */
export type Settings = Record<string, unknown>;

export function controlCalls(send: ControlSend) {
  return {
    clock: clockCalls(send),
    /** Mints RWT by hand. */
    mint: (wish: { to: string; amount: string; reason?: string }) => send<MintBody>('POST', '/mints', wish),
    /** The mint of a checkout, by the processor's id of its session; asking mints nothing. */
    mintOf: (session: string) => send<SessionMintBody>('GET', `/mints/${encodeURIComponent(session)}`),
    /** Compares ledger and chain; the search ends at `limit` differences. `since`: a block, or an RFC 3339 time. */
    verify: (choice: { limit: number; since?: string | undefined }) =>
      send<VerifyBody>('GET', `/verify${queryOf(choice)}`),
    /** Compares seed files with the ledger, or applies them; without files, those that the stack was started with. */
    seed: (wish: { apply: boolean; files?: { name: string; text: string }[] }) =>
      send<SeedBody>('POST', '/seed', wish),
    /** What the ledger holds, in numbers. */
    totals: () => send<TotalsBody>('GET', '/totals'),
    requests: {
      list: (filter: RequestFilter = {}) => send<RequestListBody>('GET', `/requests${queryOf(filter)}`),
      /** `id` in full, its beginning, or `latest`. */
      show: (id: string) => send<RequestDetail>('GET', `/requests/${encodeURIComponent(id)}`),
    },
    /** What the built-in receiver of webhooks got. */
    inbox: {
      list: (choice: { limit?: number; after?: string | undefined } = {}) =>
        send<InboxBody>('GET', `/inbox${queryOf(choice)}`),
    },
    tokens: {
      /** `user` is an e-mail; `expires` a duration such as 1h. */
      issue: (wish: { user: string; expires?: string | undefined; audience?: string | undefined }) =>
        send<TokenBody>('POST', '/tokens', wish),
      verify: (token: string) => send<TokenVerdictBody>('POST', '/tokens/verify', { token }),
      rotateKeys: (wish: { revoke: boolean }) => send<PublishedKeysBody>('POST', '/tokens/rotate-keys', wish),
    },
    processor: processorCalls(send),
    site: siteCalls(send),
    faults: faultCalls(send),
    snapshots: snapshotCalls(send),
    wallets: {
      /** `user` is an e-mail, an address, or `<platform>:<id there>`. */
      show: (user: string) => send<WalletBody>('GET', `/wallets/${encodeURIComponent(user)}`),
    },
    perks: managedPerkCalls(send),
    constraints: constraintCalls(send),
    webhooks: webhookCalls(send),
    brands: brandCalls(send),
  };
}

/** A brand is named by its id or by one of its domains. */
function brandCalls(send: ControlSend) {
  const brand = (name: string) => `/brands/${encodeURIComponent(name)}`;
  const rule = (name: string, eventType: string) => `${brand(name)}/rules/${encodeURIComponent(eventType)}`;
  return {
    list: () => send<{ brands: BrandBody[] }>('GET', '/brands'),
    show: (name: string) => send<BrandDetail>('GET', brand(name)),
    create: (settings: Settings) => send<BrandDetail & NewKeyBody>('POST', '/brands', settings),
    set: (name: string, settings: Settings) => send<BrandDetail>('PATCH', brand(name), settings),
    /** Changes an event's rule, or adds one. */
    setRule: (name: string, eventType: string, settings: Settings) =>
      send<RuleBody>('PATCH', rule(name, eventType), settings),
    removeRule: (name: string, eventType: string) =>
      send<{ removed: string }>('DELETE', rule(name, eventType)),
    aliases: (name: string, after?: string) =>
      send<AliasListBody>('GET', `${brand(name)}/aliases${queryOf({ after })}`),
    alias: (name: string, wish: { alias: string; user: string }) =>
      send<AliasBody>('POST', `${brand(name)}/aliases`, wish),
    removeAlias: (name: string, alias: string) =>
      send<{ removed: string }>('DELETE', `${brand(name)}/aliases/${encodeURIComponent(alias)}`),
    /** `overlap`: how long the earlier keys still work, such as 24h. */
    rotateKey: (name: string, overlap: string) =>
      send<NewKeyBody>('POST', `${brand(name)}/keys`, { overlap }),
    /** Creates RWT in the brand's escrow, or records a `transaction` that did. */
    fund: (name: string, wish: { amount: string; reason?: string; transaction?: string }) =>
      send<FundingBody>('POST', `${brand(name)}/funds`, wish),
    dnsRecord: (name: string, domain: string) =>
      send<DnsRecordBody>('GET', `${brand(name)}/dns${queryOf({ domain })}`),
  };
}

const clockCalls = (send: ControlSend) => ({
  show: () => send<ClockBody>('GET', '/clock'),
  /** `duration` as people write it: 61s, 1h30m. */
  advance: (duration: string) => send<MovedClockBody>('POST', '/clock', { advance: duration }),
  /** `time` is RFC 3339. */
  set: (time: string) => send<MovedClockBody>('POST', '/clock', { set: time }),
  /** To the moment from which a condition holds, such as `cooldown:alice@demo.example/purchase`. */
  until: (condition: string, brand?: string) =>
    send<MovedClockBody>('POST', '/clock', { until: condition, ...(brand !== undefined && { brand }) }),
  freeze: () => send<MovedClockBody>('POST', '/clock', { freeze: true }),
  run: () => send<MovedClockBody>('POST', '/clock', { freeze: false }),
});

/** What brands offer. */
const managedPerkCalls = (send: ControlSend) => ({
  /** Of one brand, or of all. */
  list: (choice: { brand?: string | undefined } = {}) =>
    send<{ perks: ManagedPerkBody[] }>('GET', `/perks${queryOf(choice)}`),
  /** Redemptions, newest first. */
  redemptions: (
    choice: { brand?: string | undefined; waiting?: 'true' | undefined; limit?: number | undefined } = {},
  ) => send<{ redemptions: RedemptionBody[] }>('GET', `/redemptions${queryOf(choice)}`),
  /** Gives up one that waits. */
  dropRedemption: (id: string) => send<RedemptionBody>('POST', `/redemptions/${encodeURIComponent(id)}/drop`),
  add: (wish: Settings) => send<ManagedPerkBody>('POST', '/perks', wish),
  /** `name`: the perk's id, or its token. */
  set: (name: string, settings: Settings) =>
    send<ManagedPerkBody>('PATCH', `/perks/${encodeURIComponent(name)}`, settings),
});

/** What buyers of perks must fulfil, and the emulated chat. A brand is named by its id or a domain, a user as for wallets. */
const constraintCalls = (send: ControlSend) => ({
  list: (brand: string) => send<ConstrainedPerksBody>('GET', `/constraints${queryOf({ brand })}`),
  check: (wish: { brand: string; perk: string; user: string }) =>
    send<ConstraintsVerdictBody>('POST', '/constraints/check', wish),
  invalidate: (wish: {
    brand: string;
    url: string;
    user?: string | undefined;
    tokenId?: number | undefined;
  }) => send<InvalidatedResultsBody>('POST', '/constraints/invalidate', wish),
  standings: (brand: string) => send<ChatStandingsBody>('GET', `/chat/standings${queryOf({ brand })}`),
  setStanding: (wish: {
    brand: string;
    user: string;
    platform: string;
    level?: number | undefined;
    roles?: string[] | undefined;
  }) => send<ChatStandingBody>('POST', '/chat/standings', wish),
});

/** Where webhooks go, and what was delivered. */
function webhookCalls(send: ControlSend) {
  const endpoint = (id: string) => `/webhooks/endpoints/${encodeURIComponent(id)}`;
  const delivery = (id: string) => `/webhooks/deliveries/${encodeURIComponent(id)}`;
  return {
    endpoints: {
      list: (choice: { brand?: string | undefined } = {}) =>
        send<{ endpoints: WebhookEndpointBody[] }>('GET', `/webhooks/endpoints${queryOf(choice)}`),
      /** Without `brand` the only one that there is; `isDefault`: the brand's default endpoint gets the URL. */
      add: (wish: {
        brand?: string | undefined;
        url: string;
        types?: string | undefined;
        isDefault?: boolean;
      }) => send<AddedEndpointBody>('POST', '/webhooks/endpoints', wish),
      set: (id: string, settings: Settings) => send<WebhookEndpointBody>('PATCH', endpoint(id), settings),
      remove: (id: string) => send<{ removed: string }>('DELETE', endpoint(id)),
      /** `overlap`: how long the previous secret signs as well, such as 24h. */
      rotateSecret: (id: string, overlap: string) =>
        send<AddedEndpointBody>('POST', `${endpoint(id)}/secrets`, { overlap }),
      /** `since`: an RFC 3339 time, or a duration before now. */
      recover: (id: string, since: string) =>
        send<{ recovered: number }>('POST', `${endpoint(id)}/recover`, { since }),
    },
    deliveries: {
      list: (
        choice: Partial<Record<'brand' | 'endpoint' | 'state', string | undefined>> & { limit?: number } = {},
      ) => send<{ deliveries: DeliveryBody[] }>('GET', `/webhooks/deliveries${queryOf(choice)}`),
      show: (id: string) => send<DeliveryDetail>('GET', delivery(id)),
      /** Under its id, to every endpoint that it went to or to one of them. */
      replay: (id: string, choice: { endpoint?: string | undefined } = {}) =>
        send<{ replayed: number }>('POST', `${delivery(id)}/replay`, choice),
    },
  };
}
