/** What a brand's server says about a buyer: kept for its time to live, and asked once by all who want to know at once. */
import type { EligibilityAnswer, EligibilityQuestion } from '../../constraints/external-api.ts';
import {
  beginQuestion,
  dropQuestion,
  findResult,
  isLatestQuestion,
  type KeptResult,
  keepAnswer,
  type ResultKey,
} from '../../ledger/constraint-results.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';

export interface ExternalApiDeps {
  database: Database;
  businessTime: BusinessTime;
  random: Random;
  log: Log;
  /** `constraints/external-api` in its turn; undefined while the server is left alone. */
  ask: (question: EligibilityQuestion) => Promise<EligibilityAnswer | undefined>;
  /** How the buyer stands in the brand's chats now, where a look compares it before a result of this TTL expires. */
  standing: (key: ResultKey, ttlSeconds: number) => Promise<string | null>;
  /** How long the note of a question lasts at most: longer than a question may take. */
  questionMs: number;
}

/** Undefined: the server gave no usable answer, now or a moment ago. */
export type ExternalApi = (question: ResultKey & { ttlSeconds: number }) => Promise<KeptResult | undefined>;

interface UnderWay {
  askedBy: string;
  /** The question is noted in the ledger. */
  begun: Promise<void>;
  answer: Promise<KeptResult | undefined>;
}

export function createExternalApi(deps: ExternalApiDeps): ExternalApi {
  const { database, businessTime, random, log } = deps;
  const underWay = new Map<string, UnderWay>();
  let ended = 0;

  function begin(name: string, key: ResultKey, ttlSeconds: number): UnderWay {
    const askedBy = random.uuid();
    const begun = beginQuestion(database.db, {
      ...key,
      askedBy,
      now: businessTime(),
      forMs: deps.questionMs,
    });
    const find = async (): Promise<KeptResult | undefined> => {
      await begun;
      const [standing, answer] = await Promise.all([deps.standing(key, ttlSeconds), deps.ask(key)]);
      if (answer?.outcome === 'answered') {
        const result = { isMet: answer.isMet, message: answer.message };
        await keepAnswer(database.db, {
          ...key,
          askedBy,
          result,
          standing,
          now: businessTime(),
          ttlMs: ttlSeconds * 1_000,
        });
        return result;
      }
      if (answer)
        log.warn(
          { brandId: key.brandId, why: answer.why },
          "a brand's server gave no answer on a constraint",
        );
      await dropQuestion(database.db, { ...key, askedBy });
      return undefined;
    };
    const question = { askedBy, begun, answer: find() };
    underWay.set(name, question);
    const forget = () => {
      ended += 1;
      if (underWay.get(name) === question) underWay.delete(name);
    };
    question.answer.then(forget, forget);
    return question;
  }

  /** Joins the question that is under way, unless its key was invalidated since it began. */
  return async function externalApi({ ttlSeconds, ...key }) {
    const look = () => findResult(database.db, { ...key, now: businessTime() });
    const name = JSON.stringify([key.brandId, key.url, key.userAddress, key.collectionId]);
    const endedBefore = ended;
    let kept = await look();
    // A question that ended while we looked has kept an answer that we may not have seen yet.
    if (!kept && ended !== endedBefore && !underWay.has(name)) kept = await look();
    if (kept) return kept;
    const other = underWay.get(name);
    if (!other) return begin(name, key, ttlSeconds).answer;
    await other.begun;
    if (await isLatestQuestion(database.db, { ...key, askedBy: other.askedBy })) return other.answer;
    const meanwhile = await look();
    if (meanwhile) return meanwhile;
    const newer = underWay.get(name);
    return (newer && newer !== other ? newer : begin(name, key, ttlSeconds)).answer;
  };
}
