/** Perks over the control API: the same routes whether an emulator or a database is behind them, and how they are shown. */
import type { ManagedPerk as Perk } from '../../actions/perks/manage-perks.ts';
import * as perks from '../../actions/perks/manage-perks.ts';
import * as redemptions from '../../actions/perks/manage-redemptions.ts';
import { type ShownRedemption, showRedemptions } from '../../actions/perks/manage-redemptions.ts';
import {
  addPerk,
  dropRedemption,
  listRedemptions,
  type ManagedPerk,
  type Redemption,
  setPerk,
  showPerks,
} from '../../contract/control/perks.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

const managedPerkReply = ({ createdAt, constraints, ...perk }: Perk): ManagedPerk => ({
  ...perk,
  constraints: constraints.map((one) => ({ ...one })),
  createdAt: new Date(createdAt).toISOString(),
});

const timeOf = (ms: number) => new Date(ms).toISOString();

/** Whether it waits for its next try. */
const isRetried = ({ transactionId, failure, nextTryAt }: ShownRedemption['redemption']) =>
  transactionId === null && failure === null && nextTryAt > 0;

function redemptionReply(shown: ShownRedemption): Redemption {
  const { redemption, perkName, transactionHash, state } = shown;
  const { id, brandId, perkId, userKey, userEmail, wallet, cost, confirmationCode, failure } = redemption;
  return {
    id,
    brandId,
    perkId,
    perkName,
    user: userEmail ?? userKey,
    wallet,
    cost,
    confirmationCode,
    state,
    consent: redemption.consent,
    failure,
    transactionHash,
    createdAt: timeOf(redemption.createdAt),
    refusals: redemption.refusals,
    refusal: redemption.refusal,
    nextTryAt: isRetried(redemption) ? timeOf(redemption.nextTryAt) : null,
    usedAt: redemption.usedAt === null ? null : timeOf(redemption.usedAt),
  };
}

export type ControlPerksDeps = perks.ManagePerksDeps;

/** Perks over the control API: the same routes whether an emulator or a database is behind them. */
export const controlPerks = (deps: ControlPerksDeps): ControlRoute[] => [
  controlHandler(showPerks, async ({ query }) => {
    const shown = await perks.showPerks(deps, query.brand);
    return 'refusal' in shown ? shown : { perks: shown.perks.map(managedPerkReply) };
  }),
  controlHandler(listRedemptions, async ({ query: { brand, waiting, limit } }) => {
    const shown = await showRedemptions(deps, { brand, limit, isWaiting: waiting === 'true' });
    return 'refusal' in shown ? shown : { redemptions: shown.redemptions.map(redemptionReply) };
  }),
  controlHandler(dropRedemption, async ({ path }) => {
    const dropped = await redemptions.dropRedemption(deps, path.id);
    return 'refusal' in dropped ? dropped : redemptionReply(dropped);
  }),
  controlHandler(addPerk, async ({ body: { brand, ...perk } }) => {
    const added = await perks.addPerk(deps, brand, perk);
    return 'refusal' in added ? added : managedPerkReply(added);
  }),
  controlHandler(setPerk, async ({ path, body }) => {
    const changed = await perks.changePerk(deps, path.name, body);
    return 'refusal' in changed ? changed : managedPerkReply(changed);
  }),
];
