/** The body of bulk-events. Its items are checked one by one, so that a bad one does not spoil the others. */
import { z } from 'zod';

/** Room for more than a body of 10 KB can hold; it bounds the work of one request. */
export const BULK_EVENTS_MAX = 100;

export const bulkEventsOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    events: z
      .array(item)
      .min(1)
      .max(BULK_EVENTS_MAX)
      .meta({ description: 'Each is decided on its own, in this order.' }),
  });

export const bulkEventsBody = bulkEventsOf(z.unknown());
