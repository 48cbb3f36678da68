/** Who sends a write to the services host. */
import type { Context } from 'hono';
import type { Writer } from '../../actions/engagement/admit-write.ts';
import { type BrandKeyDeps, brandOfKey } from '../frame/brand-key.ts';

export type WriterDeps = BrandKeyDeps;

export const writerOf = async (deps: WriterDeps, context: Pick<Context, 'req' | 'get'>): Promise<Writer> => ({
  keyOf: await brandOfKey(deps, context),
  origin: context.req.header('origin'),
});
