/** Shares the posts that may be under way at once among endpoints, so that slow and failing ones leave room for the others. */

/** An endpoint for which something is due. */
interface Due {
  id: string;
  /** Nothing but failures since then; null after a success. */
  failingSince: number | null;
}

/**
 * How many posts each endpoint may begin now. An endpoint that only fails has one at a time, and all of those have half of
 * `atOnce` together. The others have up to `ofEndpoint` each while less than half is under way, and one each from there on.
 */
export function shareSlots(
  due: Due[],
  {
    underWay,
    atOnce,
    ofEndpoint,
  }: {
    /** Posts under way, by endpoint; whether that one was failing when they began. */
    underWay: ReadonlyMap<string, { count: number; isFailing: boolean }>;
    atOnce: number;
    ofEndpoint: number;
  },
): { id: string; slots: number }[] {
  const half = Math.ceil(atOnce / 2);
  const running = [...underWay.values()];
  let all = running.reduce((sum, { count }) => sum + count, 0);
  let failing = running.reduce((sum, { count, isFailing }) => sum + (isFailing ? count : 0), 0);
  const shares: { id: string; slots: number }[] = [];
  const healthyFirst = [...due].sort(
    (a, b) => Number(a.failingSince !== null) - Number(b.failingSince !== null),
  );
  for (const { id, failingSince } of healthyFirst) {
    const isFailing = failingSince !== null;
    const most = isFailing || all >= half ? 1 : ofEndpoint;
    const room = Math.min(atOnce - all, isFailing ? half - failing : atOnce);
    const slots = Math.min(most - (underWay.get(id)?.count ?? 0), room);
    if (slots <= 0) continue;
    shares.push({ id, slots });
    all += slots;
    if (isFailing) failing += slots;
  }
  return shares;
}
