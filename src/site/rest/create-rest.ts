/** The REST API, and its callers: a browser with its session and a nonce, or a program. Contract: Endpoints, Authentication. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Accounts } from '../accounts/create-accounts.ts';
import type { SiteUser } from '../accounts/users.ts';
import { type LeaderboardWish, metrics, type Outcome, type Plugin, periods } from '../plugin/plugin.ts';
import { addressIn } from './address.ts';
import { type Fields, readFields } from './read-fields.ts';
import { answer, refuse, refusePlugin, refuseToWait } from './refusals.ts';

export interface RestDeps {
  accounts: Accounts;
  plugin: Plugin;
  /** Whether the address may ask the service once more. */
  mayCall(address: string | undefined): boolean;
}

const LIMIT_MAX = 100;
const PERK_ID_MAX = 64;
const limitProblem = `limit must be a number from 1 to ${LIMIT_MAX}`;

const orList = (words: readonly string[]) => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** `claims` is the shortcode's in the contract, and harmless here. */
const leaderboardQuery = z.object({
  metric: z.enum(metrics, { error: `metric must be ${orList(metrics)}` }).default('rwt_earned'),
  period: z.enum(periods, { error: `period must be ${orList(periods)}` }).default('week'),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, limitProblem)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= LIMIT_MAX, limitProblem)
    .default(10),
});

const perkIdField = z
  .string()
  .regex(/^[\w-]+$/)
  .max(PERK_ID_MAX);
const daysField = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,4}$/)
      .transform(Number),
  ])
  .refine((days) => days >= 1 && days <= 9_999);

/** Mounted at /wp-json/rewards/v1. */
export function createRest(deps: RestDeps): Hono {
  const { plugin } = deps;
  const app = new Hono();
  app.post('/checkin', (context) =>
    forUser(deps, context, async (user) => {
      const done = await plugin.checkIn(user);
      return answerOf(done, ({ streak, reward, alreadyClaimed }) => ({ streak, reward, alreadyClaimed }));
    }),
  );
  app.post('/redeem', (context) =>
    forUser(deps, context, async (user, { perkId }) => {
      if (isAbsent(perkId)) return refuse('missing_perk_id');
      const read = perkIdField.safeParse(perkId);
      if (!read.success) return refuseParam('perkId', 'perkId must be the id of a perk');
      return answerOf(await plugin.redeem(user, read.data), ({ confirmationCode, perk }) => ({
        confirmationCode,
        perk,
      }));
    }),
  );
  app.post('/claim-milestone', (context) =>
    forUser(deps, context, async (user, { milestoneDays }) => {
      if (isAbsent(milestoneDays)) return refuse('missing_milestone');
      const read = daysField.safeParse(milestoneDays);
      if (!read.success)
        return refuseParam('milestoneDays', 'milestoneDays must be the days of a milestone, such as 7');
      return answerOf(await plugin.claimMilestone(user, read.data), ({ bonusRwt, milestone }) => ({
        bonusRwt,
        milestone,
      }));
    }),
  );
  app.get('/leaderboard', (context) => leaderboard(deps, context));
  app.all('*', () => refuse('rest_no_route'));
  return app;
}

async function leaderboard({ plugin, mayCall }: RestDeps, context: Context): Promise<Response> {
  const read = leaderboardQuery.safeParse(context.req.query());
  if (!read.success) {
    const [issue] = read.error.issues;
    return refuseParam(String(issue?.path[0]), issue?.message ?? 'A parameter is wrong');
  }
  if (!mayCall(addressIn(context.env))) return refuse('too_many_requests');
  const wish: LeaderboardWish = read.data;
  return answerOf(await plugin.leaderboard(wish), ({ leaderboard, metric, period, total }) => ({
    leaderboard,
    metric,
    period,
    total,
  }));
}

/** Who it is comes before what they want. A body's `userIdentifier` is never looked at: the user is the caller. */
async function forUser(
  { accounts, mayCall }: RestDeps,
  context: Context,
  work: (user: SiteUser, fields: Fields) => Promise<Response>,
): Promise<Response> {
  const address = addressIn(context.env);
  const caller = authenticate(accounts, context.req.raw, address);
  if ('refused' in caller) return caller.refused;
  const body = await readFields(context.req.raw);
  if (body.outcome === 'too_large') return refuse('rest_body_too_large');
  if (body.outcome === 'invalid') return refuse('rest_invalid_json');
  if (!mayCall(address)) return refuse('too_many_requests');
  return work(caller.user, body.fields);
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

const refuseParam = (name: string, message: string): Response =>
  refuse('rest_invalid_param', { message, more: { params: { [name]: message } } });

const answerOf = <Value>(
  outcome: Outcome<Value>,
  body: (value: Value) => Record<string, unknown>,
): Response => (outcome.ok ? answer(body(outcome.value)) : refusePlugin(outcome.refusal));

const LOGGED_IN = 'User must be logged in';

/** The user, or the answer for those who are not. `address`: the caller's, for counting wrong passwords. */
function authenticate(
  accounts: Accounts,
  request: Request,
  address: string | undefined,
): { user: SiteUser } | { refused: Response } {
  const program = accounts.programOf(request, address);
  if (program.outcome === 'in') return { user: program.caller.user };
  if (program.outcome === 'wait') return { refused: refuseToWait(program.waitMs) };
  if (program.outcome === 'wrong') return notLoggedIn('the login or the application password is wrong');
  const caller = accounts.callerOf(request);
  if (caller.by === 'guest') return notLoggedIn();
  if (!accounts.isOwnPage(request)) return notLoggedIn('the request comes from a page of another site');
  const nonce = request.headers.get('x-site-nonce');
  if (!nonce) return notLoggedIn('the header X-Site-Nonce is missing, with a nonce for the action rest');
  if (!accounts.isNonce(caller, 'rest', nonce))
    return notLoggedIn('the nonce is wrong, too old, or of another session: load the page again');
  return { user: caller.user };
}

const notLoggedIn = (why?: string) => ({
  refused: refuse('not_logged_in', { message: why === undefined ? LOGGED_IN : `${LOGGED_IN}: ${why}` }),
});
