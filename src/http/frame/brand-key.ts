/** Which brand's key came with a request; looked up once, however many parts of the service ask. */
import type { Context } from 'hono';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { RequestNotes } from './request-record.ts';

export interface BrandKeyDeps {
  /** The brand whose key is in the header `authorization`. */
  verifyBrandKey: (authorization: string) => Promise<BrandId | undefined>;
}

/** Undefined at once, without a promise, where the request has no such header. */
export function brandOfKey(
  { verifyBrandKey }: BrandKeyDeps,
  context: Pick<Context, 'req' | 'get'>,
): Promise<BrandId | undefined> | undefined {
  const authorization = context.req.header('authorization');
  if (authorization === undefined) return undefined;
  const notes: RequestNotes = context.get('notes');
  notes.brandOfKey ??= verifyBrandKey(authorization);
  return notes.brandOfKey;
}
