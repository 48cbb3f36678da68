/** The channel rule: a chat event counts only in the channels that the brand lists (contract: Channel rule). */

const bare = (channel: string) => channel.trim().replace(/^#/, '').toLowerCase();

/** Without a list, or without a channel in the event, there is nothing to check. */
export function channelAllowed(channel: string | undefined, allowed: readonly string[] | undefined): boolean {
  if (!allowed?.length || channel === undefined) return true;
  return allowed.some((one) => bare(one) === bare(channel));
}
