/** The port to chats: which level and roles a user has in a brand's community. */
import { within } from '../lib/timers.ts';

/** A user in one chat; whom the chat does not know has level 0 and no roles there. */
export interface ChatMembership {
  /** By its one name, such as `discord`. */
  platform: string;
  level: number;
  /** Ids or names, as constraints have them. */
  roles: readonly string[];
}

export interface ChatUser {
  brandId: `0x${string}`;
  /** Lower case. */
  address: `0x${string}`;
  /** Every user whose wallet this is. */
  userKeys: readonly string[];
}

export interface ChatProvider {
  /** At most one for each platform; rejects when the provider gives no answer. */
  standingsOf(user: ChatUser): Promise<readonly ChatMembership[]>;
}

// A chat provider that is waited for no longer than a question may take: one user whom it tells nothing about holds up
// no other.

/** Rejects when the provider takes longer than `answerMs`. */
export const boundedChat = (chat: ChatProvider, { answerMs }: { answerMs: number }): ChatProvider => ({
  ...chat,
  async standingsOf(user) {
    const standings = await within(answerMs, chat.standingsOf(user));
    if (!standings) throw new Error(`the chat provider gave no answer within ${answerMs} ms`);
    return standings;
  },
});
