/** The channel rule: a chat event counts only in the channels that the brand lists (contract: Channel rule). */

const bare = (channel: string) => channel.trim().replace(/^#/, '').toLowerCase();

/** Passes when the brand has no list. */
export function channelAllowed(channel: string, allowed: readonly string[] | undefined): boolean {
  if (!allowed?.length) return true;
  return allowed.some((one) => bare(one) === bare(channel));
}
