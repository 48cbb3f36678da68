/** Who sends a write to the services host, and who asks for a redemption: the brand's key, or the user's access token, of which a request carries one. */
import type { Context } from 'hono';
import type { Writer } from '../../actions/engagement/admit-write.ts';
import { parseKeyText } from '../../identity/brand-key.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Asker } from '../../rules/perks/consent.ts';
import { type BrandKeyDeps, brandOfKey } from '../frame/brand-key.ts';

export type WriterDeps = BrandKeyDeps;

export const writerOf = async (deps: WriterDeps, context: Pick<Context, 'req' | 'get'>): Promise<Writer> => ({
  keyOf: await brandOfKey(deps, context),
  origin: context.req.header('origin'),
});

export interface AskerDeps extends WriterDeps {
  /** Absent where users cannot log in. */
  tokens?: Pick<TokenVerifier, 'verify'> | undefined;
}

type AskerProblem =
  | { code: 'unauthorized'; refusal: { code: string; message: string } }
  | { code: 'identity_unavailable' };

/** `name`: whom an idempotency key belongs to, so that nobody gets the answer to another caller's request. */
export async function askerOf(
  deps: AskerDeps,
  context: Pick<Context, 'req' | 'get'>,
  { brandId, withPermit }: { brandId: BrandId; withPermit: boolean },
): Promise<{ asker: Asker; name: string } | { refusal: AskerProblem }> {
  const { keyOf, origin } = await writerOf(deps, context);
  const withBrandKey = keyOf === brandId;
  const asker = { withBrandKey, origin, tokenUser: undefined, withPermit };
  const name = keyOf ? 'its server' : (origin ?? 'no origin');
  const authorization = context.req.header('authorization');
  if (keyOf || !isToken(authorization)) return { asker, name };
  if (!deps.tokens) {
    const message = 'this service takes no access tokens';
    return { refusal: { code: 'unauthorized', refusal: { code: 'not_supported', message } } };
  }
  const user = await deps.tokens.verify(authorization);
  if (!('refusal' in user)) return { asker: { ...asker, tokenUser: user }, name: `user ${user.subject}` };
  const { refusal } = user;
  if (refusal.code === 'keys_unavailable') return { refusal: { code: 'identity_unavailable' } };
  return { refusal: { code: 'unauthorized', refusal } };
}

/** What has a brand key's form is one, if an unknown one; other schemes are somebody else's. */
function isToken(authorization: string | undefined): boolean {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return bearer !== undefined && !parseKeyText(bearer);
}
