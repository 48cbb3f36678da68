/** Constraints for people. */
import type { ChatStandingBody, ConstrainedPerksBody, ConstraintsVerdictBody } from '../../client/bodies.ts';
import type { Style } from '../terminal/style.ts';

export function perksText(perks: ConstrainedPerksBody['perks'], style: Style): string {
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

export const verdictText = ({ user, name }: ConstraintsVerdictBody, style: Style): string =>
  `${style.green('yes')}  ${user} meets all constraints of ${style.bold(name)}`;

export const standingLine = ({ user, platform, level, roles }: ChatStandingBody, style: Style): string =>
  `${style.bold(user)}  ${platform}  level ${level}  ${roles.join(', ') || style.dim('no roles')}`;
