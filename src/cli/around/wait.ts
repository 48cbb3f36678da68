/** `rewards wait`: what it can wait for, and the waiting. */
import { ClientError } from '../../client/client-error.ts';
import type { ControlReply } from '../../client/control-call.ts';
import type { Reply } from '../../client/reply.ts';
import { mintOfSession } from '../../contract/control/mints.ts';
import { showProcessorEvent, showSession } from '../../contract/control/processor.ts';
import { showDelivery } from '../../contract/control/webhooks.ts';
import { formatDuration } from '../../lib/duration.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { askNode } from '../service/ask-node.ts';
import { isObject } from '../service/assignments.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { namedBrand } from '../service/named-brand.ts';
import { callFor, clientFor, resolveTarget } from '../service/target.ts';

/** One look: whether the condition holds, and what was seen, for people. */
interface Look {
  holds: boolean;
  seen: string;
}

/** Looks once. Throws E_REFUSED when the condition can never hold any more. */
type Condition = (context: CommandContext) => Promise<Look>;

const FORMS = 'ready, tx:HASH, minted:SESSION, balance:USER>=AMOUNT and webhook:EVENT';

/** Reads a condition; E_USAGE for what is not one. */
function parseCondition(text: string): Condition {
  if (text === 'ready') return ready;
  const [, kind, what = ''] = /^(tx|minted|webhook|balance):(.+)$/s.exec(text) ?? [];
  if (kind === 'tx' && /^0x[0-9a-f]{64}$/i.test(what)) return inBlock(what);
  if (kind === 'minted') return minted(what);
  if (kind === 'webhook') return delivered(what);
  const [, user, least] = kind === 'balance' ? (/^(.+?)\s*>=\s*(\d{1,15})$/s.exec(what) ?? []) : [];
  if (user !== undefined) return balance(user, Number(least));
  throw usageError(`--for ${text} is not understood.`, `The conditions are ${FORMS}.`);
}

const never = (message: string, fix: string) => new CliError('E_REFUSED', { message, fix });

const ready: Condition = async (context) => {
  try {
    const { status, body } = await clientFor(await resolveTarget(context), context).health();
    const healthy = status === 200 && isObject(body) && body.status === 'healthy';
    return { holds: healthy, seen: healthy ? 'healthy' : `health answers ${status}` };
  } catch (error) {
    if (error instanceof ClientError) return { holds: false, seen: error.message };
    if (error instanceof CliError && error.problem.code === 'E_NOT_RUNNING')
      return { holds: false, seen: 'no stack runs here' };
    throw error;
  }
};

const inBlock =
  (hash: string): Condition =>
  async (context) => {
    const { run } = await resolveTarget(context);
    const url = run?.urls.rpc ?? context.runtime.env.REWARDS_RPC_URL;
    if (url === undefined) {
      throw usageError(
        'The node of this target is not known.',
        'Set REWARDS_RPC_URL, or run the command where the stack was started.',
      );
    }
    const node = { url, timeoutMs: context.settings.timeout };
    const receipt = await askNode<{ status: string; blockNumber: string } | null>(
      node,
      'eth_getTransactionReceipt',
      [hash],
    );
    if (!receipt) return { holds: false, seen: 'the transaction is in no block' };
    if (receipt.status !== '0x1')
      throw never(
        `The transaction is in block ${Number(receipt.blockNumber)}, where it was reverted.`,
        '`rewards requests list` shows what sent it.',
      );
    return { holds: true, seen: `in block ${Number(receipt.blockNumber)}` };
  };

const minted =
  (name: string): Condition =>
  async (context) => {
    const call = await callFor(context);
    const session = await call(showSession, { path: { session: name } });
    mustSucceed(session);
    const { id, status, paymentStatus } = session.body;
    const reply = await call(mintOfSession, { path: { session: id } });
    mustSucceed(reply);
    const { state, failure, transactionHash } = reply.body;
    if (state === 'given_up')
      throw never(`The mint of ${id} was given up: ${failure}.`, '`rewards verify` shows what is open.');
    if (state === 'none' && status === 'expired')
      throw never(
        `${id} has expired, so nobody can pay it any more.`,
        'Begin another: `rewards checkout create`.',
      );
    if (state === 'minted') return { holds: true, seen: `minted by ${transactionHash}` };
    return {
      holds: false,
      seen: state === 'waiting' ? 'the mint waits for its block' : `${id} is ${paymentStatus}`,
    };
  };

const balance =
  (user: string, least: number): Condition =>
  async (context) => {
    const target = await resolveTarget(context);
    const brand = await namedBrand(context, target, context.runtime.env.REWARDS_BRAND_ID);
    if (!brand) throw usageError('The target does not list its brands.', 'Set REWARDS_BRAND_ID.');
    const asked = { brandId: brand.brandId, userIdentifier: user };
    const reply: Reply = await clientFor(target, context).balance(asked);
    const { status, body } = reply;
    if (status === 400)
      throw never(
        `The balance of ${user} cannot be asked: ${reasonIn(body)}.`,
        'Name an e-mail or an address.',
      );
    const rwt = isObject(body) && typeof body.balance === 'number' ? body.balance : undefined;
    if (status !== 200 || rwt === undefined) return { holds: false, seen: `the service answers ${status}` };
    return { holds: rwt >= least, seen: `${user} has ${rwt} RWT` };
  };

const reasonIn = (body: unknown) =>
  isObject(body) ? String(body.message ?? body.error ?? 'no reason was given') : 'no reason was given';

const delivered =
  (id: string): Condition =>
  async (context) => {
    const call = await callFor(context);
    const own = await call(showDelivery, { path: { id } });
    const found: ControlReply<{ deliveries: { state: string }[] }> =
      own.status === 404 ? await call(showProcessorEvent, { path: { event: id } }) : own;
    if (found.status === 404) return { holds: false, seen: `nobody knows an event ${id}` };
    mustSucceed(found);
    const { deliveries } = found.body;
    const count = (state: string) => deliveries.filter((one) => one.state === state).length;
    if (count('failed') > 0)
      throw never(
        `${count('failed')} of ${deliveries.length} deliveries of ${id} failed, and are not tried again.`,
        '`rewards webhooks deliveries replay` and `rewards webhooks replay` send an event once more.',
      );
    const taken = count('delivered');
    return {
      holds: deliveries.length > 0 && taken === deliveries.length,
      seen: `${taken} of ${deliveries.length} deliveries taken`,
    };
  };

/** Quick enough for somebody who watches, and few enough for the service. */
const LOOK_EVERY_MS = 100;

export const wait: Handler<{ for?: string[] }> = async (context, { for: wishes = ['ready'] }) => {
  const conditions = wishes.map((text) => ({ text, look: parseCondition(text) }));
  const elapsedMs = stopwatch();
  const met: { condition: string; seen: string }[] = [];
  for (const { text, look } of conditions) {
    met.push({ condition: text, seen: await until(context, { text, look, elapsedMs }) });
  }
  const waitedMs = Math.round(elapsedMs());
  return {
    ok: true,
    data: { conditions: met, waitedMs },
    text: (style) =>
      met.map(({ condition, seen }) => `${style.green(condition)}  ${style.dim(seen)}`).join('\n'),
  };
};

/** What was seen when the condition held. Throws E_TIMEOUT with what was seen last. */
async function until(
  context: CommandContext,
  { text, look, elapsedMs }: { text: string; look: Condition; elapsedMs: () => number },
): Promise<string> {
  const { timeout } = context.settings;
  for (;;) {
    // The notes of one look are enough.
    const { holds, seen } = await look({ ...context, note: () => {} });
    if (holds) return seen;
    if (elapsedMs() >= timeout) {
      throw new CliError('E_TIMEOUT', {
        message: `${text} did not hold within ${formatDuration(timeout)}; last seen: ${seen}.`,
        details: { condition: text, seen },
      });
    }
    await delay(Math.min(LOOK_EVERY_MS, Math.max(1, timeout - elapsedMs())));
  }
}
