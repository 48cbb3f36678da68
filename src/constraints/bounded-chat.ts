/** A chat provider that is waited for no longer than a question may take: one user whom it tells nothing about holds up no other. */
import { within } from '../lib/timers.ts';
import type { ChatProvider } from './chat-provider.ts';

/** Rejects when the provider takes longer than `answerMs`. */
export const boundedChat = (chat: ChatProvider, { answerMs }: { answerMs: number }): ChatProvider => ({
  ...chat,
  async standingsOf(user) {
    const standings = await within(answerMs, chat.standingsOf(user));
    if (!standings) throw new Error(`the chat provider gave no answer within ${answerMs} ms`);
    return standings;
  },
});
