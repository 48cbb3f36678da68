/** The context of one case: a client for each step, and what all steps share. */

import { type ChainView, openChainView } from '../../client/chain/chain-view.ts';
import { openUserWallets, type UserWallets } from '../../client/chain/user-wallet.ts';
import { createClient } from '../../client/create-client.ts';
import { showClock } from '../../contract/control/clock.ts';
import { issueToken, showWallet } from '../../contract/control/users.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import {
  type Client,
  controlBody,
  type ScenarioTarget,
  type StepContext,
  StepError,
} from '../steps/step-context.ts';
import { createExchanges } from './exchanges.ts';

export interface CaseContext {
  target: ScenarioTarget;
  /** A context for one step, and the requests that the step makes in it. */
  forStep: (timeoutMs: number) => { context: StepContext; exchanges: ReturnType<typeof createExchanges> };
  nowMs: () => Promise<number>;
}

export async function createCaseContext(
  deps: { random: Random; clock: Clock; userAgent: string },
  target: ScenarioTarget,
): Promise<CaseContext> {
  const once = lazily(target, deps.random);
  // Asked before the first step, for what has changed since; a step that needs it says why it has no answer.
  if (target.can.has('chain')) await once.start().catch(() => undefined);
  const clientWith = (fetch: (request: Request) => Promise<Response>, timeoutMs: number) =>
    createClient({
      urls: target.urls,
      controlToken: target.controlToken,
      timeoutMs,
      fetch,
      userAgent: deps.userAgent,
    });
  const ownClient = clientWith((request) => fetch(request), 10_000);
  const nowMs = async () => {
    if (!target.can.has('clock')) return deps.clock.now();
    return (await ownClient.call(showClock)).body.nowMs;
  };
  const wallets = new Map<string, ReturnType<StepContext['walletOf']>>();
  const walletOf: StepContext['walletOf'] = (user) => {
    const asked = wallets.get(user) ?? findWallet(ownClient, user);
    wallets.set(user, asked);
    asked.catch(() => wallets.delete(user));
    return asked;
  };
  return {
    target,
    nowMs,
    forStep(timeoutMs) {
      const exchanges = createExchanges({ controlUrl: target.urls.control, timeoutMs });
      const client = clientWith(exchanges.fetch, timeoutMs);
      return { context: { ...once, target, client, random: deps.random, nowMs, walletOf }, exchanges };
    },
  };
}

/** What is opened once, when a step first needs it. */
function lazily(target: ScenarioTarget, random: Random) {
  const { rpcUrl, contracts, brands } = target;
  let wallets: UserWallets | undefined;
  let chain: ChainView | undefined;
  let start: ReturnType<StepContext['start']> | undefined;
  const node = () => {
    if (rpcUrl === undefined) throw new StepError('this target does not tell the address of its chain');
    return rpcUrl;
  };
  const view = () => {
    chain ??= openChainView({ rpcUrl: node(), contracts });
    return chain;
  };
  return {
    wallets: () => {
      wallets ??= openUserWallets({ contracts, rpcUrl: node(), random });
      return wallets;
    },
    chain: view,
    start: () => {
      start ??= (async () => {
        const block = await view().head();
        const amounts = brands.map(async ({ brandId }) => [brandId, await view().escrowOf(brandId)] as const);
        return { block, escrow: Object.fromEntries(await Promise.all(amounts)) };
      })();
      return start;
    },
  };
}

/** A login gives a user a wallet who has none yet. */
async function findWallet({ call }: Client, user: string) {
  const known = await call(showWallet, { path: { user } });
  if (known.status !== 404 || !user.includes('@')) return controlBody(known);
  const { address } = controlBody(await call(issueToken, { body: { user } }));
  return controlBody(await call(showWallet, { path: { user: address } }));
}
