/** The channel rule: a chat event counts only in the channels that the brand lists (contract: Channel rule). */

const bare = (channel: string) => channel.trim().replace(/^#/, '').toLowerCase();

/** Passes when the brand has no list or the event names no channel. */
export function channelAllowed(channel: string | undefined, allowed: readonly string[] | undefined): boolean {
  if (!allowed?.length || channel === undefined) return true;
  return allowed.some((one) => bare(one) === bare(channel));
}
