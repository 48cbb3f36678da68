/** Users who ask for relayed calls: they lose answers, hang up, and ask again. */
import { concat, type Hex, numberToHex, pad, slice, toFunctionSelector } from 'viem';
import { createAnswerOnce, type Effect, type TriedAnswer } from '../../../../src/actions/answer-once.ts';
import type { RelayOutcome } from '../../../../src/actions/relay/relay-transaction.ts';
import { PERMIT } from '../../../../src/rules/relay-policy.ts';
import { ESCROW, TOKEN, USERS } from '../model/accounts.ts';
import type { ModelBlock } from '../model/model-chain.ts';
import { RELAY_WINDOW_MS } from '../relaying.ts';
import { expected, type Replica, textOf } from '../replica.ts';
import type { World } from '../world.ts';
import { PATIENCE_MS, whileClaimed } from './event-callers.ts';

/** One request for a call and what came of it; 'unknown': no answer, or one that leaves it open. */
export interface RelayRequest {
  replica: Replica;
  user: Hex;
  /** Unlike that of every other request, but for the same one asked again. */
  data: Hex;
  originHost: string | undefined;
  key: string | undefined;
  startedMs: number;
  status: 'open' | 'done' | 'refused' | 'unknown';
  /** The transaction that the caller was told of. */
  told?: Hex;
}

/** `cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)`: a call that users may have relayed. */
const SELECTOR: Hex = '0x5a049a70';
const PERMIT_SELECTOR = toFunctionSelector(PERMIT);
const ZERO_WORD = numberToHex(0, { size: 32 });

const callOf = (user: Hex, number: number): Hex =>
  concat([
    SELECTOR,
    pad(user),
    numberToHex(number + 1, { size: 32 }),
    numberToHex(27, { size: 32 }),
    ZERO_WORD,
    ZERO_WORD,
  ]);

/** The permit of a call: of its user, with a signature that names the call. */
export const permitFor = (data: Hex): Hex => {
  const [owner, number] = [slice(data, 4, 36), slice(data, 36, 68)];
  const [spender, nothing] = [pad(ESCROW), ZERO_WORD];
  return concat([
    PERMIT_SELECTOR,
    owner,
    spender,
    nothing,
    nothing,
    numberToHex(27, { size: 32 }),
    number,
    number,
  ]);
};

/** Asks a replica for a call; `again` repeats an earlier request under its key. */
export function askRelay(world: World, replica: Replica, again?: RelayRequest): void {
  const { chance, plan, relayRequests } = world;
  const number = relayRequests.length;
  const user = again?.user ?? chance.one(USERS);
  const request: RelayRequest = {
    replica,
    user,
    data: again?.data ?? callOf(user, number),
    originHost: again ? again.originHost : chance.hit(0.6) ? 'shop-0.example' : undefined,
    key: again ? again.key : chance.hit(plan.keyed) ? `call-${number}` : undefined,
    startedMs: world.time.now(),
    status: 'open',
  };
  relayRequests.push(request);
  const about = `${user.slice(-4)}'s call ${Number(`0x${request.data.slice(74, 138)}`)}`;
  world.note(`${replica.name} gets ${about}${request.key ? ` under ${request.key}` : ''}`);
  answer(world, request).then(
    () => world.note(`${replica.name} answers ${about}: ${request.status}`),
    (error: unknown) => {
      request.status = 'unknown';
      if (replica.alive && !expected(error)) world.findings.add('no surprise', textOf(error));
    },
  );
}

async function answer(world: World, request: RelayRequest): Promise<void> {
  const { replica, user, key } = request;
  const perform = async (effect?: Effect): Promise<RelayOutcome> => {
    const { data, originHost } = request;
    const asked = { to: TOKEN, data, valueWei: 0n, userAddress: user, wallets: [user], originHost };
    const outcome = await replica.relayTransaction(asked, effect);
    replica.crash('answer.before-reply');
    return outcome;
  };
  if (key === undefined) return take(world, request, await perform());
  let outcome: RelayOutcome | undefined;
  const { answerDatabase: database, realClock } = replica;
  const answerOnce = createAnswerOnce({ database, realClock, random: world.random });
  const performOnce = (effect: Effect) =>
    whileClaimed(world, key, async (): Promise<TriedAnswer> => {
      outcome = await perform(effect);
      return replyOf(outcome);
    });
  const reply = await answerOnce({ scope: `relay ${user}`, key, body: key }, performOnce);
  if (outcome) return take(world, request, outcome);
  // The answer to another try.
  if (!('status' in reply) || reply.status !== 200) request.status = 'unknown';
  else tell(world, request, { status: 'done', hash: JSON.parse(reply.body).hash });
}

/** What is kept of an answer is kept as `http/relay` does it. */
function replyOf(outcome: RelayOutcome): TriedAnswer {
  if ('relayed' in outcome)
    return { status: 200, body: JSON.stringify({ hash: outcome.relayed.hash }), kept: 'answer' };
  const { code } = outcome.refusal;
  const isSent = code === 'transaction_failed' || code === 'confirmation_timeout';
  return { status: 500, body: JSON.stringify({ code }), kept: isSent ? 'id' : 'nothing' };
}

async function take(world: World, request: RelayRequest, outcome: RelayOutcome): Promise<void> {
  if ('relayed' in outcome)
    return tell(world, request, { status: 'done', hash: outcome.relayed.hash ?? undefined });
  const { refusal } = outcome;
  if (refusal.code === 'confirmation_timeout')
    return tell(world, request, { status: 'unknown', hash: refusal.hash ?? undefined });
  if (refusal.code === 'transaction_failed')
    return tell(world, request, { status: 'unknown', hash: refusal.relay.hash ?? undefined });
  tell(world, request, { status: 'refused', hash: undefined });
  if (refusal.code === 'rate_limit_exceeded')
    await checkFull(world, request, { resetAtMs: refusal.window.resetAtMs });
}

/** Notes what the caller hears, unless nobody listens any more. */
function tell(
  world: World,
  request: RelayRequest,
  told: { status: 'done' | 'refused' | 'unknown'; hash: Hex | undefined },
): void {
  const isSlow = world.time.now() - request.startedMs >= PATIENCE_MS;
  request.status = isSlow ? 'unknown' : told.status;
  if (told.hash === undefined) {
    if (told.status === 'done')
      world.findings.add('no answer without its call', 'done without a transaction');
    return;
  }
  request.told = told.hash;
  const isIn = ({ receipts }: ModelBlock) => receipts.some(({ hash }) => hash === told.hash);
  if (told.status === 'done' && !world.chain.heads.some(isIn))
    world.findings.add('no answer without its call', 'done before a block held it');
  if (!world.stored.has(told.hash))
    world.findings.add('no answer without its call', 'answered before the transaction was stored');
}

/** A user who is told that the window is full has used it up. */
async function checkFull(
  { ledger, plan, findings }: World,
  { user, startedMs }: RelayRequest,
  { resetAtMs }: { resetAtMs: number },
): Promise<void> {
  const [row] = await ledger.rows<{ used: number }>(
    `select count(*) as used from relays r join sim_admissions a on a.position = r.position
     where r.user_address = ? and a.at_ms >= ? and a.at_ms < ?`,
    user,
    resetAtMs - RELAY_WINDOW_MS,
    resetAtMs,
  );
  const used = row?.used ?? 0;
  if (used < plan.relayLimit || resetAtMs <= startedMs)
    findings.add('no refusal below a limit', `${user}: ${used} of ${plan.relayLimit}`);
}
