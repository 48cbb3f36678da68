/** `rewards perks redeem`: a perk for a user's RWT, with the code that the user shows to the brand. */
import type { RedeemedPerkBody } from '../../client/bodies.ts';
import { personOf } from '../../client/person.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { keyHeader } from '../machine/read-input.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { isObject } from '../service/assignments.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, type Target } from '../service/target.ts';
import { logIn, permitOf, secondsFromNow, userWalletsOf } from '../talk/relay-user.ts';
import { redeemedLine, serviceTarget } from './perks.ts';

interface RedeemOptions extends LedgerOptions {
  user: string;
  perk: string;
  brand?: string;
  idempotencyKey?: string;
  apiKeyFile?: string;
  as?: string;
  token?: string;
  permit?: true;
  expect?: string;
}

const PERMIT_MS = 3_600_000;

export const redeemPerk: Handler<RedeemOptions> = async (context, options) => {
  const expected = options.expect === undefined ? undefined : parseExpectation(options.expect);
  const { idempotencyKey } = options;
  if (options.as !== undefined && options.token !== undefined)
    throw usageError('--as and --token name a user twice.', 'Give one of the two.');
  const target = await serviceTarget(context, options);
  const { brandId } = await demandBrand(context, target, options.brand, options);
  const client = clientFor(target, context);
  const { perkId, cost } = await perkOf(client, { brandId, perk: options.perk });
  const permit = options.permit && (await permitFor(context, target, { ...options, cost }));
  const reply = await client.request<RedeemedPerkBody>({
    host: 'services',
    path: '/perks/redeem',
    method: 'POST',
    body: { brandId, perkId, ...personOf(options.user), ...(permit && { permit }) },
    headers: {
      ...(await authorizationOf(context, target, options)),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
  });
  noteRequest(context, reply);
  return serviceResult(reply, { expected, text: (style) => redeemedLine(reply.body, options.user, style) });
};

/** The user's token where one is asked for, else the brand's key where there is one. */
async function authorizationOf(
  context: CommandContext,
  target: Target,
  { as, token, apiKeyFile }: RedeemOptions,
): Promise<Record<string, string>> {
  const { runtime } = context;
  if (as !== undefined) {
    const user = await logIn(clientFor(target, context), target, as);
    return { authorization: `Bearer ${user.token}` };
  }
  if (token === undefined) return keyHeader(runtime, apiKeyFile);
  const text = token === '-' ? (await runtime.readStdin()).trim() : token;
  return { authorization: `Bearer ${text}` };
}

/** Signed as the user's own wallet would, for the perk's price. */
async function permitFor(
  context: CommandContext,
  target: Target,
  { user, as, cost }: RedeemOptions & { cost: number | undefined },
) {
  if (cost === undefined)
    throw usageError('--permit needs a perk that the brand has.', 'rewards perks list shows them.');
  const client = clientFor(target, context);
  const wallets = userWalletsOf(context, target);
  const { wallet } = await logIn(client, target, as ?? user);
  const spender = wallets.contractAddress('escrow') ?? '0x';
  const deadline = await secondsFromNow(client, PERMIT_MS);
  return permitOf(wallets, wallet, { spender, value: BigInt(cost), deadline });
}

/** A perk may be named by its token or its name as well; the service refuses any other name. */
async function perkOf(
  client: ReturnType<typeof clientFor>,
  { brandId, perk }: { brandId: string; perk: string },
): Promise<{ perkId: string; cost: number | undefined }> {
  const { body } = await client.request<unknown>({
    host: 'services',
    path: `/perks/${brandId}?activeOnly=false`,
    method: 'GET',
  });
  const perks: unknown[] = isObject(body) && Array.isArray(body.perks) ? body.perks : [];
  const named = perks
    .filter(isObject)
    .find(
      ({ id, name, tokenId }) =>
        [String(id), String(tokenId)].includes(perk) || String(name).toLowerCase() === perk.toLowerCase(),
    );
  return {
    perkId: typeof named?.id === 'string' ? named.id : perk,
    cost: typeof named?.cost === 'number' ? named.cost : undefined,
  };
}
