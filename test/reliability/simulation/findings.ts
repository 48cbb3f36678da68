/** What a run found to be wrong: each under the invariant that it breaks. */

export type Invariant =
  | 'no answer without its payout'
  | 'no refusal with a payout'
  | 'one reward a key'
  | 'one answer a key'
  | 'no sequence paid twice'
  | 'no payout without a reward'
  | 'no reward without its payout'
  | 'no failed reward paid'
  | 'no failure without a cause'
  | 'everything comes to an end'
  | 'claims within their limits'
  | 'cooldown between claims'
  | 'claims are counted right'
  | 'brand money is conserved'
  | 'stored before sent'
  | 'one payload a nonce'
  | 'one nonce a reward'
  | 'nonces without gaps'
  | 'replacements offer enough'
  | 'no write under a lost lease'
  | 'a lease holds for its time'
  | 'no call executed twice'
  | 'no call without its request'
  | 'no request without its call'
  | 'one nonce a call'
  | 'one call a key'
  | 'a permit just before its call'
  | 'calls within their limits'
  | 'no refusal below a limit'
  | 'gas is charged right'
  | 'no answer without its call'
  | 'no refusal with a call'
  | 'no payment minted twice'
  | 'no mint without its payment'
  | 'no payment without its mint'
  | 'one nonce a mint'
  | 'no answer without its mint'
  | 'no redemption debited twice'
  | 'no debit without its code'
  | 'no code without its debit'
  | 'no RWT or stock promised twice'
  | 'no RWT without its word'
  | 'no RWT kept for nothing'
  | 'a refused row holds nobody'
  | 'every webhook arrives'
  | 'webhooks by their schedule'
  | 'each fact has its effect once'
  | 'no fact set aside'
  | 'one nonce a redemption'
  | 'no answer without its redemption'
  | 'no refusal with a redemption'
  | 'a plan changes nothing'
  | 'a plan lists what was lost'
  | 'what is recovered equals the chain'
  | 'no lost number for somebody else'
  | 'no surprise';

export interface Finding {
  invariant: Invariant;
  what: string;
}

/** Collects findings; the first is the one that counts. */
export function createFindings() {
  const list: Finding[] = [];
  return {
    list,
    add: (invariant: Invariant, what: string) => void list.push({ invariant, what }),
  };
}
export type Findings = ReturnType<typeof createFindings>;
