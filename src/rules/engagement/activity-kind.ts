/** What users do on chat platforms, told by the `claimType` of a report. */

/** As `user-stats` names them. */
export type ActivityKind = 'messages' | 'voiceMinutes' | 'reactions';

/** `voice_claim` is also the source of events that bots send for time in a voice channel. */
export const activityClaimTypes: Record<ActivityKind, readonly string[]> = {
  messages: ['message', 'messages', 'chat_message'],
  voiceMinutes: ['voice', 'voice_minutes', 'voice_claim'],
  reactions: ['reaction', 'reactions'],
};

const kinds = new Map(
  (Object.keys(activityClaimTypes) as ActivityKind[]).flatMap((kind) =>
    activityClaimTypes[kind].map((claimType) => [claimType, kind] as const),
  ),
);

/** Undefined for a report of anything else. */
export const activityKindOf = (claimType: string | undefined): ActivityKind | undefined =>
  kinds.get(claimType?.toLowerCase() ?? '');
