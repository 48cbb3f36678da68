/** Perks as the control API shows them. */
import type { z } from 'zod';
import type { ManagedPerk } from '../../../actions/perks/manage-perks.ts';
import type { managedPerkShape } from '../../../contract/control/perks.ts';

export const managedPerkReply = ({
  createdAt,
  constraints,
  ...perk
}: ManagedPerk): z.output<typeof managedPerkShape> => ({
  ...perk,
  constraints: constraints.map((one) => ({ ...one })),
  createdAt: new Date(createdAt).toISOString(),
});
