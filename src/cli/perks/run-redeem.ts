/** `rewards perks redeem`: a perk for a user's RWT, with the code that the user shows to the brand. */
import type { RedeemedPerkBody } from '../../client/bodies.ts';
import type { Handler } from '../machine/context.ts';
import { keyHeader } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { personOf } from '../service/person.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { redeemedLine } from './view.ts';

interface RedeemOptions {
  user: string;
  perk: string;
  brand?: string;
  idempotencyKey?: string;
  apiKeyFile?: string;
  expect?: string;
}

export const redeemPerk: Handler<RedeemOptions> = async (context, options) => {
  const expected = options.expect === undefined ? undefined : parseExpectation(options.expect);
  const { runtime } = context;
  const { apiKeyFile, idempotencyKey } = options;
  const key = await keyHeader(runtime, apiKeyFile);
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, options.brand);
  const client = clientFor(target, context);
  const perkId = await perkIdOf(client, { brandId, perk: options.perk });
  const reply = await client.request<RedeemedPerkBody>({
    ...{ host: 'services', path: '/perks/redeem', method: 'POST' },
    body: { brandId, perkId, ...personOf(options.user) },
    headers: {
      ...key,
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
  });
  noteRequest(context, reply);
  return serviceResult(reply, { expected, text: (style) => redeemedLine(reply.body, options.user, style) });
};

/** A perk may be named by its token or its name as well; what is none of these is left for the service to refuse. */
async function perkIdOf(
  client: ReturnType<typeof clientFor>,
  { brandId, perk }: { brandId: string; perk: string },
): Promise<string> {
  const { body } = await client.request<unknown>({
    ...{ host: 'services', path: `/perks/${brandId}?activeOnly=false`, method: 'GET' },
  });
  const perks: unknown[] = isObject(body) && Array.isArray(body.perks) ? body.perks : [];
  const named = perks
    .filter(isObject)
    .find(
      ({ name, tokenId }) => String(tokenId) === perk || String(name).toLowerCase() === perk.toLowerCase(),
    );
  return typeof named?.id === 'string' ? named.id : perk;
}
