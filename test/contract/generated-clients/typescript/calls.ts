/** Calls every endpoint through clients that openapi-typescript and openapi-fetch make of the served descriptions. */
import createClient from 'openapi-fetch';
import type { components as Events, paths as EventsPaths } from './events.js';
import type { paths as RegisterPaths } from './register.js';
import type { components as Relay, paths as RelayPaths } from './relay.js';
import type { components as Services, paths as ServicesPaths } from './services.js';
import { world } from './world.js';

type Schemas = Events['schemas'];
const { brandId, domain } = world;
const headers = { authorization: `Bearer ${world.apiKey}` };
const events = createClient<EventsPaths>({ baseUrl: world.events, headers });
const register = createClient<RegisterPaths>({ baseUrl: world.register, headers });
const services = createClient<ServicesPaths>({ baseUrl: world.services, headers });
const relay = createClient<RelayPaths>({
  baseUrl: world.relay,
  headers: { authorization: `Bearer ${world.userToken}` },
});

/** What every call has answered, for whoever has started this program. */
const answers: { host: string; id: string; status: number; body: unknown }[] = [];

/** The answer of a call that has succeeded, with the type that the description gives it. */
async function answered<Data>(
  host: string,
  id: string,
  call: Promise<{ data?: Data; error?: unknown; response: { status: number } }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  if (data === undefined || data === null)
    throw new Error(`${id}: ${response.status} ${JSON.stringify(error)}`);
  answers.push({ host, id, status: response.status, body: data });
  return data;
}

async function callEvents() {
  const event: Schemas['EventByEmail'] = {
    brandId,
    eventType: 'account_creation',
    userEmail: world.person,
    domain,
  };
  const rewarded = await answered(
    'events',
    'manualEvent',
    events.POST('/rewards-api/manual-event', {
      params: { header: { 'Idempotency-Key': 'typescript-1' } },
      body: event,
    }),
  );
  const amount: number = rewarded.reward.amount;
  if (amount !== rewarded.rewardAmount) throw new Error('the reward is told twice, and differs');

  const byPlatform: Schemas['EventByIdentifier'] = {
    brandId,
    eventType: 'account_creation',
    userIdentifier: { platform: 'discord', platformUserId: world.platformUser },
    metadata: { source: 'chat_manual_reward', anything: ['else'] },
  };
  const { results, processed } = await answered(
    'events',
    'bulkEvents',
    events.POST('/rewards-api/bulk-events', {
      body: { events: [byPlatform, { ...event, eventType: 'custom_unknown' }] },
    }),
  );
  const [first, second] = results;
  if (processed !== 1 || !first?.success || second?.success !== false)
    throw new Error(JSON.stringify(results));
  const hash: string = first.transactionHash;
  const refused: string[] | undefined = second.details.errors;
  if (!hash.startsWith('0x') || !refused?.length) throw new Error(JSON.stringify(results));

  const { status } = await answered(
    'events',
    'eventState',
    events.GET('/rewards-api/events/{eventId}', { params: { path: { eventId: rewarded.eventId } } }),
  );
  const known: 'waiting' | 'sent' | 'included' | 'final' | 'failed' = status;
  if (known === 'failed') throw new Error('the reward has failed');
  const config = await answered(
    'events',
    'eventConfig',
    events.GET('/rewards-api/event-config', { params: { query: { brandId } } }),
  );
  const patterns: string[] | undefined = config.events[0]?.detectionConfig.urlPatterns;
  if (!patterns) throw new Error('there are no events');
  await answered(
    'events',
    'checkEligibility',
    events.POST('/rewards-api/check-eligibility', { body: event }),
  );
  const script: string = await answered('events', 'clientScript', events.GET('/sdk.js', { parseAs: 'text' }));
  if (!script.includes('rewards-api')) throw new Error('that is not the script');
  await answered(
    'events',
    'userBalance',
    events.GET('/rewards-api/user-balance', {
      params: { query: { brandId, userEmail: world.person, includeHistory: true, historyLimit: 5 } },
    }),
  );
  const { history = [] } = await answered(
    'events',
    'userBalanceByBody',
    events.POST('/rewards-api/user-balance', {
      body: { brandId, userEmail: world.person, includeHistory: true, historyLimit: 5 },
    }),
  );
  if (history[0]?.eventType !== 'account_creation') throw new Error('the reward is not in the history');
  await callPayments();
  const { services: parts } = await answered('events', 'health', events.GET('/rewards-api/health'));
  const database: 'connected' | 'disconnected' = parts.database;
  if (database !== 'connected') throw new Error('there is no database');
  await answered('events', 'diagnostic', events.GET('/rewards-api/diagnostic'));
  await answered('events', 'debug', events.GET('/rewards-api/debug'));
  await answered('events', 'openapi', events.GET('/openapi.json'));
  await answered('events', 'docs', events.GET('/docs', { parseAs: 'text' }));
}

async function callPayments() {
  const page = `https://${domain}/`;
  const session = await answered(
    'events',
    'createCheckout',
    events.POST('/rewards-api/create-checkout', {
      body: { brandId, amount: 500, userEmail: world.person, successUrl: page, cancelUrl: page },
    }),
  );
  await world.pay(session.sessionId);
  const minted = await answered(
    'events',
    'paymentMint',
    events.POST('/rewards-api/payment-mint', { body: { sessionId: session.sessionId } }),
  );
  if ('received' in minted) throw new Error('that was no event');
  const rwt: number = minted.rwtAmount;
  if (rwt !== 5_000) throw new Error(`5 dollars buy ${rwt} RWT`);
  await answered(
    'events',
    'invalidateExternalApi',
    events.POST('/constraint-updater/invalidate-external-api', {
      body: { api_url: 'https://api.demo.example/eligible' },
    }),
  );
  await answered('events', 'verifyDns', events.POST('/rewards-api/verify-dns', { body: { domain } }));
}

async function callRegister() {
  const wallet = await answered(
    'register',
    'pregenerateUser',
    register.POST('/rewards-api/pregenerate-user', {
      body: { brand_id: brandId, oauth_provider: 'discord', oauth_user_id: world.platformUser },
    }),
  );
  if (wallet.created_new) throw new Error('the event has made this wallet');
  await answered(
    'register',
    'pregenerateUser',
    register.POST('/rewards-api/pregenerate-user', { body: { brand_id: brandId, email: world.person } }),
  );
  await answered('register', 'openapi', register.GET('/openapi.json'));
  await answered('register', 'docs', register.GET('/docs', { parseAs: 'text' }));
}

async function callRelay() {
  const call: Relay['schemas']['RelayRequest'] = world.relayCall;
  const sent = await answered('relay', 'relay', relay.POST('/relay', { body: call }));
  const state = await answered(
    'relay',
    'relayStatus',
    relay.GET('/relay/{hash}', { params: { path: { hash: sent.transactionHash } } }),
  );
  const status: 'pending' | 'confirmed' | 'failed' = state.status;
  if (status !== 'confirmed') throw new Error(`the call is ${status}`);
  await answered('relay', 'openapi', relay.GET('/openapi.json'));
  await answered('relay', 'docs', relay.GET('/docs', { parseAs: 'text' }));
}

async function callServices() {
  const user = { brandId, userIdentifier: world.person };
  const path = { path: user };
  const stats = await answered(
    'services',
    'userStats',
    services.GET('/user-stats/{brandId}/{userIdentifier}', { params: path }),
  );
  const claims: number = stats.lifetime.claims;
  if (claims < 1) throw new Error('the reward is not counted');
  const board = await answered(
    'services',
    'leaderboard',
    services.GET('/leaderboard/{brandId}', {
      params: {
        path: { brandId },
        query: { metric: 'rwt_earned', period: 'weekly', limit: 5, userIdentifier: world.person },
      },
    }),
  );
  const period: 'day' | 'week' | 'month' | 'all' = board.period;
  const entry: Services['schemas']['LeaderboardEntry'] | undefined = board.leaderboard[0];
  if (period !== 'week' || !entry) throw new Error(JSON.stringify(board));
  await answered(
    'services',
    'updateStats',
    services.POST('/leaderboard/update-stats', { body: { ...user, rwtAmount: 5, count: 1 } }),
  );
  await answered(
    'services',
    'achievements',
    services.GET('/achievements/{brandId}/{userIdentifier}', { params: path }),
  );
  await answered(
    'services',
    'updateProgress',
    services.POST('/achievements/update-progress', {
      body: { ...user, achievementType: 'chatterbox', increment: true },
    }),
  );
  await answered(
    'services',
    'recordActivity',
    services.POST('/streak/record-activity', { body: { ...user, streakType: 'daily' } }),
  );
  const streak = await answered(
    'services',
    'streakStatus',
    services.GET('/streak/status/{brandId}/{userIdentifier}', { params: path }),
  );
  const next: { days: number; bonus: number } | null = streak.nextMilestone;
  if (streak.currentStreak !== 1 || next === null) throw new Error(JSON.stringify(streak));
  await answered(
    'services',
    'streakStatusByQuery',
    services.GET('/streak/status', { params: { query: user } }),
  );
  await answered(
    'services',
    'claimMilestone',
    services.POST('/streak/claim-milestone', { body: { ...user, milestoneDays: 1, streakType: 'daily' } }),
  );
  await callPerks();
  await answered('services', 'openapi', services.GET('/openapi.json'));
  await answered('services', 'docs', services.GET('/docs', { parseAs: 'text' }));
}

async function callPerks() {
  const { perks } = await answered(
    'services',
    'listPerks',
    services.GET('/perks/{brandId}', {
      params: { path: { brandId }, query: { category: 'digital', activeOnly: false } },
    }),
  );
  const [perk] = perks;
  if (perk?.category !== 'digital') throw new Error(JSON.stringify(perks));
  const file = `${(2).toString(16).padStart(64, '0')}.json`;
  const token = await answered(
    'services',
    'perkToken',
    services.GET('/perks/metadata/{file}', { params: { path: { file } } }),
  );
  const category: 'digital' | 'physical' | 'exclusive' = token.properties.category;
  if (category !== 'digital') throw new Error(JSON.stringify(token));
  const wish = { brandId, userIdentifier: world.person, perkId: world.perkId };
  const { eligible } = await answered(
    'services',
    'perkEligibility',
    services.POST('/perks/check-eligibility', { body: wish }),
  );
  if (!eligible) throw new Error('the perk cannot be had');
  const redeemed = await answered('services', 'redeemPerk', services.POST('/perks/redeem', { body: wish }));
  const question = { brandId, code: redeemed.confirmationCode };
  const { state } = await answered(
    'services',
    'checkCode',
    services.POST('/perks/check-code', { body: question }),
  );
  const known: 'valid' | 'used' | 'pending' = state;
  if (known !== 'valid') throw new Error(`the code is ${known}`);
  const used = await answered('services', 'useCode', services.POST('/perks/use-code', { body: question }));
  if (used.usedAt === null) throw new Error('the code is not used');
}

/** Is compiled and never called: each line that is expected to be wrong fails the compilation when it is not. */
export async function mustNotCompile() {
  const event = { brandId, eventType: 'account_creation', domain };
  // @ts-expect-error an event names its user
  await events.POST('/rewards-api/manual-event', { body: event });
  // @ts-expect-error a user has an e-mail that is a text
  await events.POST('/rewards-api/manual-event', { body: { ...event, userEmail: 17 } });
  // @ts-expect-error a user of a platform has an id there
  await events.POST('/rewards-api/manual-event', { body: { ...event, userIdentifier: { platform: 'x' } } });
  // @ts-expect-error events of a list name their users as well
  await events.POST('/rewards-api/bulk-events', { body: { events: [event] } });
  const { data } = await events.POST('/rewards-api/manual-event', { body: { ...event, userEmail: 'x' } });
  // @ts-expect-error amounts are numbers
  const text: string | undefined = data?.rewardAmount;
  // @ts-expect-error there is no such field
  const nothing = data?.amountRewarded;
  // @ts-expect-error the board has no such metric
  await services.GET('/leaderboard/{brandId}', { params: { path: { brandId }, query: { metric: 'luck' } } });
  // @ts-expect-error a perk has an id
  await services.POST('/perks/redeem', { body: { brandId, userIdentifier: 'x' } });
  // @ts-expect-error a question has its brand
  await services.GET('/streak/status', { params: { query: { userIdentifier: 'x' } } });
  // @ts-expect-error a wallet is for somebody
  await register.POST('/rewards-api/pregenerate-user', { body: { brand_id: brandId } });
  // @ts-expect-error a call has data
  await relay.POST('/relay', { body: { to: '0x', userAddress: '0x' } });
  // @ts-expect-error there is no such endpoint
  await services.GET('/nothing');
  return [text, nothing];
}

await callEvents();
await callRegister();
await callRelay();
await callServices();
await world.tell(answers);
