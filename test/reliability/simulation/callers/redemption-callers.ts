/** Callers of perks/redeem, each with an idempotency key; who got no answer asks again, at any process. */
import type { Hex } from 'viem';
import type { ModelBlock } from '../model/model-chain.ts';
import { redeemerOf } from '../redeeming.ts';
import { expected, type Replica, textOf } from '../replica.ts';
import type { World } from '../world.ts';
import { drawWord, type Word } from './words.ts';

/** One request and what came of it; 'unknown': no answer, or one that leaves it open. */
export interface RedemptionRequest {
  replica: Replica;
  number: number;
  /** On whose word; the same when it is asked for again. */
  word: Word;
  status: 'open' | 'done' | 'refused' | 'unknown';
  /** Ids that the redemption had; the newest last. */
  ids: string[];
  /** The transaction and the code that the caller was told of. */
  told?: { hash: Hex; code: string };
}

export function askRedemption(world: World, replica: Replica, earlier?: RedemptionRequest): void {
  const number = earlier?.number ?? world.redemptionRequests.length;
  const request: RedemptionRequest = earlier ?? {
    replica,
    number,
    word: drawWord(world, redeemerOf(number)),
    status: 'open',
    ids: [`redemption-${number}`],
  };
  if (!earlier) world.redemptionRequests.push(request);
  Object.assign(request, { replica, status: 'open' });
  const { word } = request;
  world.note(
    `${replica.name} is asked for redemption ${number} by ${JSON.stringify(word)}${earlier ? ' again' : ''}`,
  );
  answer(world, request, earlier !== undefined).then(
    () => world.note(`${replica.name} answers of redemption ${number}: ${request.status}`),
    (error: unknown) => {
      request.status = 'unknown';
      if (replica.alive && !expected(error)) world.findings.add('no surprise', textOf(error));
    },
  );
}

async function answer(world: World, request: RedemptionRequest, mayExist: boolean): Promise<void> {
  const { replica, number, word, ids } = request;
  const outcome = await replica.redeemPerk(
    { number, word },
    {
      id: ids.at(-1) ?? '',
      mayExist,
      async renew() {
        ids.push(`redemption-${number}-${ids.length}`);
        return ids.at(-1) ?? '';
      },
    },
  );
  replica.crash('answer.before-reply');
  if (!('redeemed' in outcome)) {
    request.status = outcome.refusal.code === 'redemption_pending' ? 'unknown' : 'refused';
    world.note(`redemption ${number}: ${outcome.refusal.code}`);
    return;
  }
  const { redemption, transactionHash: hash } = outcome.redeemed;
  request.status = 'done';
  request.told = { hash, code: redemption.confirmationCode };
  const holds = ({ receipts }: ModelBlock) => receipts.some((one) => one.hash === hash && one.succeeded);
  if (!world.chain.heads.some(holds))
    world.findings.add('no answer without its redemption', `${redemption.id} was told of ${hash}`);
}
