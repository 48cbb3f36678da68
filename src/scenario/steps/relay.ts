/** The step that has the relay call a contract for a user. */

import { z } from 'zod';
import type { RelayRequestBody } from '../../client/bodies.ts';
import { issueToken } from '../../contract/control/users.ts';
import { parseDuration } from '../../lib/duration.ts';
import { answerSeen, brandOf, controlBody, type StepContext, StepError, userNamed } from './step-context.ts';
import {
  answer,
  brandField,
  decision,
  duration,
  stepKind,
  text,
  textOrNumber,
  userField,
  whenGiven,
  whole,
} from './step-kind.ts';

const permitInput = z.strictObject({
  spender: text('a contract, or an address; default: the called contract').optional(),
  value: textOrNumber('RWT that it allows; default: the price in the call').optional(),
  deadline: duration('how long it is valid; default: 1h').optional(),
});

const relayInput = z.strictObject({
  as: userField().meta({ description: 'the user, whose token and signatures the emulator makes' }).optional(),
  token: text('access token of the user, in place of one from the emulator').optional(),
  call: z
    .strictObject({
      contract: text('`token`, `perks`, `pointsSale` or `escrow`'),
      function: text('its name, or its whole signature'),
      args: z
        .array(z.union([z.string(), z.number(), z.boolean()]), { error: 'must be a list of values' })
        .optional()
        .meta({ description: 'one for each parameter; `me` is the address of the user' }),
    })
    .optional()
    .meta({
      description: 'a call by names; `transferWithAuthorization` with from, to and value is signed here',
    }),
  to: text('address of the contract, with `data`').optional(),
  data: text('the encoded call').optional(),
  userAddress: text("the user's wallet, where `as` is left out").optional(),
  permit: permitInput.optional().meta({ description: 'signs a permit of the user, and sends it along' }),
  gasLimit: whole('default: an estimate').optional(),
  brand: brandField().meta({ description: 'whose page the call comes from; default: the first' }),
  origin: text('Origin header; default: the domain of the brand').optional(),
  idempotencyKey: text('the same key gets the first answer again').optional(),
});
type RelayInput = z.output<typeof relayInput>;

/** The wallet of a user with its place in the key tree of the emulator. */
interface RelayUser {
  token: string;
  address: string;
  index: number | null;
}

export const relay = stepKind({
  about: 'Has the relay call a contract for a user (`POST relay`)',
  needs: whenGiven('users', 'as', 'call', 'permit'),
  needsText: '`users` with `as`, `call` or `permit`',
  sees: { ...answer, ...decision },
  input: relayInput,
  async run(context, input) {
    const user = await userOf(context, input);
    const called = await calledOf(context, input, user);
    const body: RelayRequestBody = { to: called.to, data: called.data, userAddress: user.address };
    if (input.gasLimit !== undefined) body.gasLimit = input.gasLimit;
    if (input.permit) {
      const permit = await permitOf(context, input.permit, { user, called });
      body.metadata = { ...(called.name && { action: called.name }), permit };
    }
    const { domain } = brandOf(context, input.brand);
    const origin = input.origin ?? (domain && `https://${domain}`);
    const headers = {
      ...(origin && { origin }),
      ...(input.idempotencyKey !== undefined && { 'idempotency-key': input.idempotencyKey }),
    };
    return answerSeen(await context.client.relay(body, user.token, { headers }));
  },
});

async function userOf(context: StepContext, { as, token, userAddress }: RelayInput): Promise<RelayUser> {
  if (as === undefined) {
    if (token === undefined || userAddress === undefined)
      throw new StepError('the user is missing: give `as`, or `token` and `userAddress`');
    return { token, address: userAddress, index: null };
  }
  if (!context.target.can.has('users'))
    throw new StepError('`as` works with a stack of the emulator only: give `token` and `userAddress`');
  const { user, address, index } = await context.walletOf(userNamed(context, as));
  if (token !== undefined) return { token, address, index };
  return {
    token: controlBody(await context.client.call(issueToken, { body: { user } })).token,
    address,
    index,
  };
}

interface Called {
  to: string;
  data: string;
  name?: string;
  args: Record<string, unknown>;
}

const AUTHORIZATION_HOLDS_MS = 3_600_000;

async function calledOf(
  context: StepContext,
  { call, to, data }: RelayInput,
  user: RelayUser,
): Promise<Called> {
  if (!call) {
    if (to === undefined || data === undefined)
      throw new StepError('the call is missing: give `call`, or `to` and `data`');
    return { to, data, args: {} };
  }
  const given = (call.args ?? []).map(String);
  // A call with all nine arguments is signed already.
  const signHere = call.function === 'transferWithAuthorization' && given.length === 3;
  const word = `0x${'0'.repeat(64)}`;
  const args = signHere ? [...given, '0', '0', word, '0', word, word] : given;
  const wallets = context.wallets();
  const read = wallets.readCall({ contract: call.contract, function: call.function, args, me: user.address });
  if ('problem' in read) throw new StepError(`${read.problem}. ${read.fix}`);
  const name = read.signature.replace(/\(.*/, '');
  if (!signHere) return { ...read, name };
  const { to: recipient, value } = read.args as { to: `0x${string}`; value: bigint };
  const validBefore = await secondsFromNow(context, AUTHORIZATION_HOLDS_MS);
  return { ...(await wallets.transfer(user, { to: recipient, value, validBefore })), name, args: read.args };
}

async function permitOf(
  context: StepContext,
  wish: z.output<typeof permitInput>,
  { user, called }: { user: RelayUser; called: Called },
) {
  const wallets = context.wallets();
  const spender = wish.spender === undefined ? called.to : wallets.contractAddress(wish.spender);
  if (!spender) throw new StepError(`${wish.spender} is neither a contract of the stack nor an address`);
  const value = wish.value ?? called.args.maxPrice ?? called.args.amount;
  if (value === undefined || !/^\d+$/.test(String(value)))
    throw new StepError('the permit needs a `value`, in whole RWT: the call does not name a price');
  const deadline = await secondsFromNow(context, parseDuration(wish.deadline ?? '1h') ?? 0);
  return wallets.permit(user, { spender: spender as `0x${string}`, value: BigInt(String(value)), deadline });
}

const secondsFromNow = async (context: StepContext, ms: number) =>
  Math.floor(((await context.nowMs()) + ms) / 1_000);
