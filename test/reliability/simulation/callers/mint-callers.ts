/** Callers of payment-mint: several for each session, at any process, again and again. */
import type { Hex } from 'viem';
import { isMinted } from '../../../../src/ledger/payments/mints.ts';
import type { ModelBlock } from '../model/model-chain.ts';
import { expected, type Replica, textOf } from '../replica.ts';
import type { World } from '../world.ts';

/** One call and what came of it; 'unknown': no answer, or one that leaves it open. */
export interface MintRequest {
  replica: Replica;
  session: number;
  status: 'open' | 'done' | 'unknown';
  /** The transaction that the caller was told of. */
  told?: Hex;
}

export function askMint(world: World, replica: Replica): void {
  const request: MintRequest = { replica, session: world.chance.below(world.plan.mints), status: 'open' };
  world.mintRequests.push(request);
  world.note(`${replica.name} is to mint session ${request.session}`);
  answer(world, request).then(
    () => world.note(`${replica.name} answers of session ${request.session}: ${request.status}`),
    (error: unknown) => {
      request.status = 'unknown';
      if (replica.alive && !expected(error)) world.findings.add('no surprise', textOf(error));
    },
  );
}

async function answer(world: World, request: MintRequest): Promise<void> {
  const progress = await request.replica.mintSession(request.session);
  request.replica.crash('answer.before-reply');
  if (!progress || !isMinted(progress) || !progress.hash) {
    request.status = 'unknown';
    return;
  }
  const { hash } = progress;
  request.status = 'done';
  request.told = hash;
  const holds = ({ receipts }: ModelBlock) => receipts.some((one) => one.hash === hash && one.succeeded);
  if (!world.chain.heads.some(holds))
    world.findings.add('no answer without its mint', `session ${request.session} was told of ${hash}`);
}
