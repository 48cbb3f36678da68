/** Answers that may be kept, and asked for again by what names them. */
import { z } from 'zod';

export const CACHE_HEADER_NAMES = ['ETag', 'Cache-Control'] as const;

export const unchanged = {
  description: 'Nothing has changed since the state that `If-None-Match` names.',
  headers: CACHE_HEADER_NAMES,
};

export const ifNoneMatch = {
  in: 'header' as const,
  schema: z.object({
    'If-None-Match': z.string().optional().meta({ description: 'The `ETag` of an earlier answer.' }),
  }),
};
