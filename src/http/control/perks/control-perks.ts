/** Perks over the control API: the same handlers whether an emulator or a database is behind them. */
import type { Handler } from 'hono';
import type { z } from 'zod';
import { dropRedemption } from '../../../actions/perks/drop-redemption.ts';
import { showRedemptions } from '../../../actions/perks/list-redemptions.ts';
import { addPerk, changePerk, type ManagePerksDeps, showPerks } from '../../../actions/perks/manage-perks.ts';
import {
  perkChange,
  perkSettingNames,
  perkWish,
  REDEMPTIONS_DEFAULT,
  REDEMPTIONS_MAX,
} from '../../../contract/control/perks.ts';
import type { SettingProblem } from '../../../rules/brands/settings.ts';
import { readSettings, refuse } from '../refuse.ts';
import { managedPerkReply, redemptionReply } from './perk-reply.ts';

export type ControlPerksDeps = ManagePerksDeps;

export function controlPerks(deps: ControlPerksDeps): Record<string, Handler> {
  return {
    async showPerks(context) {
      const shown = await showPerks(deps, context.req.query('brand'));
      if ('refusal' in shown) return refuse(context, shown.refusal);
      return context.json({ perks: shown.perks.map(managedPerkReply) });
    },
    async listRedemptions(context) {
      const { brand, waiting, limit: text } = context.req.query();
      const limit = text === undefined ? REDEMPTIONS_DEFAULT : Number(text);
      if (!Number.isInteger(limit) || limit < 1 || limit > REDEMPTIONS_MAX)
        return refuse(context, { code: 'invalid_limit', limitMax: REDEMPTIONS_MAX });
      if (waiting !== undefined && waiting !== 'true')
        return refuse(context, {
          code: 'invalid_settings',
          problems: [
            { setting: 'waiting', message: `must be true, or left out, not ${waiting.slice(0, SHOWN_MAX)}` },
          ],
        });
      const shown = await showRedemptions(deps, { brand, limit, isWaiting: waiting === 'true' });
      if ('refusal' in shown) return refuse(context, shown.refusal);
      return context.json({ redemptions: shown.redemptions.map(redemptionReply) });
    },
    async dropRedemption(context) {
      const dropped = await dropRedemption(deps, context.req.param('id') ?? '');
      if ('refusal' in dropped) return refuse(context, dropped.refusal);
      return context.json(redemptionReply(dropped));
    },
    async addPerk(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const wish = perkWish.safeParse(body, { reportInput: true });
      if (!wish.success) return refuse(context, { code: 'invalid_settings', problems: problems(wish.error) });
      const { brand, ...perk } = wish.data;
      const added = await addPerk(deps, brand, perk);
      return 'refusal' in added ? refuse(context, added.refusal) : context.json(managedPerkReply(added), 201);
    },
    async setPerk(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const change = perkChange.safeParse(body, { reportInput: true });
      if (!change.success)
        return refuse(context, { code: 'invalid_settings', problems: problems(change.error) });
      const changed = await changePerk(deps, context.req.param('name') ?? '', change.data);
      return 'refusal' in changed
        ? refuse(context, changed.refusal)
        : context.json(managedPerkReply(changed));
    },
  };
}

const SHOWN_MAX = 60;
const UNKNOWN = `is not a setting of a perk; the settings are ${perkSettingNames.join(', ')}`;

const problems = ({ issues }: z.ZodError): SettingProblem[] =>
  issues.flatMap((issue) => {
    const at = issue.path.join('.');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ setting: at ? `${at}.${key}` : key, message: UNKNOWN }));
    if (issue.input === undefined) return [{ setting: at, message: `is missing: ${issue.message}` }];
    const shown = JSON.stringify(issue.input) ?? '';
    const instead = shown.length <= SHOWN_MAX ? `, not ${shown}` : '';
    return [{ setting: at || 'perk', message: `${issue.message}${instead}` }];
  });
