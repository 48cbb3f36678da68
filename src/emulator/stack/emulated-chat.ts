/** The emulator's chat provider: what a developer has set over the control API. */
import type { ChatProvider } from '../../constraints/chat-provider.ts';
import type { Database } from '../../ledger/database/database.ts';
import { emulatedStandings } from '../../ledger/emulator/chat.ts';

/** Users who share a wallet count as one: the highest level, and all their roles. */
export const emulatedChat = ({ database }: { database: Database }): ChatProvider => ({
  async standingsOf({ brandId, userKeys }) {
    if (userKeys.length === 0) return [];
    const byPlatform = new Map<string, { platform: string; level: number; roles: string[] }>();
    for (const { platform, level, roles } of await emulatedStandings(database.db, { brandId, userKeys })) {
      const known = byPlatform.get(platform) ?? { platform, level: 0, roles: [] };
      byPlatform.set(platform, {
        platform,
        level: Math.max(known.level, level),
        roles: [...new Set([...known.roles, ...roles])],
      });
    }
    return [...byPlatform.values()];
  },
});
