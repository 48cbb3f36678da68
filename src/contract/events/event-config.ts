/** The question of event-config. */
import { z } from 'zod';
import { brandIdField } from './brand-id.ts';

export const eventConfigQuery = z.object({ brandId: brandIdField });
