/** How the relay stands, over the control API. */
import { type RelayStateDeps, readRelayState } from '../../actions/relay/read-relay-state.ts';
import { showRelay } from '../../contract/control/relay.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { Hex } from '../../lib/hex.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export type ControlRelayDeps = RelayStateDeps;

export const controlRelay = (deps: ControlRelayDeps): ControlRoute[] => [
  controlHandler(showRelay, async ({ query: { user, limit } }) => {
    const state = await readRelayState(deps, { user, limit });
    if ('refusal' in state) return state;
    const { users, addresses, payers, lanes } = state;
    const { userLimit, addressLimit } = deps.limits;
    return {
      users: windowsReply(userLimit, users),
      addresses: windowsReply(addressLimit, addresses),
      payers: {
        resetAt: instant(state.budgetsResetAtMs),
        total: payers.total,
        shown: payers.shown.map((payer) => ({
          ...payer,
          address: checksummed(payer.address as Hex),
          leftGwei: payer.budgetGwei - payer.spentGwei,
        })),
      },
      lanes: {
        total: lanes.total,
        shown: lanes.shown.map(({ leaseUntilMs, ...lane }) => ({
          ...lane,
          address: checksummed(lane.address as Hex),
          leaseUntil: leaseUntilMs === null ? null : instant(leaseUntilMs),
        })),
      },
    };
  }),
];

const instant = (ms: number) => new Date(ms).toISOString();

const windowsReply = (
  { limit, windowMs }: { limit: number; windowMs: number },
  { total, shown }: { total: number; shown: { subject: string; used: number; resetAtMs: number }[] },
) => ({
  limit,
  windowSeconds: windowMs / 1_000,
  total,
  shown: shown.map(({ subject, used, resetAtMs }) => ({
    subject,
    used,
    left: Math.max(0, limit - used),
    resetAt: instant(resetAtMs),
  })),
});
