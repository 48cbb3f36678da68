/** Constraints for people. */
import type {
  ChatMembership,
  ConstrainedPerks,
  ConstraintsVerdict,
} from '../../contract/control/constraints.ts';
import type { Style } from '../terminal/style.ts';

export function perksText(perks: ConstrainedPerks['perks'], style: Style): string {
  if (perks.length === 0) return 'no perk of this brand has constraints';
  return perks
    .map(({ perkId, name, constraints }) =>
      [
        `${style.bold(name)}  ${style.dim(perkId)}`,
        ...constraints.map((one) => `  ${JSON.stringify(one)}`),
      ].join('\n'),
    )
    .join('\n');
}

export const verdictText = ({ user, name }: ConstraintsVerdict, style: Style): string =>
  `${style.green('yes')}  ${user} meets all constraints of ${style.bold(name)}`;

export const standingLine = ({ user, platform, level, roles }: ChatMembership, style: Style): string =>
  `${style.bold(user)}  ${platform}  level ${level}  ${roles.join(', ') || style.dim('no roles')}`;
