/** Who sends a write to the services host. */
import type { Context } from 'hono';
import type { Writer } from '../../actions/engagement/admit-write.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export interface WriterDeps {
  /** The brand whose key came with the request. */
  verifyBrandKey: (authorization: string | undefined) => Promise<BrandId | undefined>;
}

export const writerOf = async (
  { verifyBrandKey }: WriterDeps,
  { req }: Pick<Context, 'req'>,
): Promise<Writer> => ({
  keyOf: await verifyBrandKey(req.header('authorization')),
  origin: req.header('origin'),
});
