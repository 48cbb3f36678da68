/** Words on which redemptions are paid, as tests need them. */
import type { createCollecting } from '../../../src/chain/contracts/reward-token.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { type Agreement, type Asker, agreeOn, type Consent } from '../../../src/rules/perks/consent.ts';

/** The user themself, with an access token. */
export const asking = (tokenUser: Asker['tokenUser'], more: Partial<Asker> = {}): Asker => ({
  withBrandKey: false,
  origin: undefined,
  withPermit: false,
  tokenUser,
  ...more,
});

/** Contracts without a cap that take no permits. */
export const collectsAnything: ReturnType<typeof createCollecting> = {
  takesPermits: async () => false,
  capIn: async () => undefined,
};

/** A word on which this wallet is debited. */
export function agreementOf(consent: Consent, wallet: Hex): Agreement {
  const asker = asking(consent === 'token' ? { wallets: [wallet] } : undefined);
  const agreed = agreeOn(
    { asker, redemptions: 'open' },
    {
      named: { userKey: wallet, userAddress: wallet, wallet },
      ownDomain: 'people.example',
      cost: 0,
      isUser: true,
      permit: consent === 'permit' ? { problem: undefined } : undefined,
      grant: { paid: 0, collected: 0, spentElsewhere: 0 },
    },
  );
  if ('refusal' in agreed) throw new Error(agreed.refusal.code);
  return agreed.agreement;
}
