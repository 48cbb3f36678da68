/** Who may report a user's activity: a check-in is admitted as an event would be, since it pays like one. */
import type { Brand } from '../../rules/brands/brand.ts';
import { isPageOf } from '../../rules/brands/domain.ts';
import type { WriteRefusal, Writer } from './admit-write.ts';

export interface ActivityReport {
  brand: Brand;
  writer: Writer;
  /** Set when the user is named by an address of their own: it is paid directly. */
  userAddress: `0x${string}` | undefined;
  /** Whether streaks of this type pay. */
  pays: boolean;
}

export type ActivityRefusal = WriteRefusal | { code: 'automation_disabled'; brandId: string };

/**
 * Why the brand does not take this report, if so: what pays obeys `clientEvents` and `directAddresses` as events do, what
 * only counts obeys `engagementWrites`. `ownHosts`: the service's own.
 */
export function refuseActivity(
  { brand, writer, userAddress, pays }: ActivityReport,
  ownHosts: readonly string[],
): ActivityRefusal | undefined {
  const { brandId, profile, automation } = brand;
  if (!automation) return { code: 'automation_disabled', brandId };
  if (writer.keyOf === brandId) return undefined;
  const { clientEvents, directAddresses, engagementWrites } = profile;
  const needsKey = pays
    ? clientEvents === 'credential' || (userAddress !== undefined && directAddresses === 'credential')
    : engagementWrites === 'credential';
  if (needsKey) return { code: 'brand_key_required', brandId };
  const { origin } = writer;
  if (origin !== undefined && !isPageOf(origin, [...profile.domains, ...ownHosts]))
    return { code: 'origin_not_allowed', brandId, origin };
  return undefined;
}
