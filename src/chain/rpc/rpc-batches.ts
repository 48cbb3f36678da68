/**
 * Requests made in one turn of the event loop go to the node in one post, and the same question asked several times is
 * asked once. Each request has its own answer or error. A node that takes no such batches gets the requests one by one.
 */

/** What a node says to one request. */
export interface Answer {
  id?: unknown;
  result?: unknown;
  error?: unknown;
}

interface BatchesDeps {
  /** The most requests in one post. */
  batchMax: number;
  /** Sends a body and parses what comes back; rejects when nothing does that could be an answer. */
  exchange: (body: string) => Promise<unknown>;
  /** What the caller of a request is told instead, when an exchange rejects. */
  failureOf: (method: string, error: unknown) => Error;
  /** Whether that may be about the batch, so that each of its requests may have an answer. */
  isAboutBatch: (failure: Error) => boolean;
  /** What the caller gets for an answer; throws what the caller is told. */
  resultOf: (method: string, answer: Answer | undefined) => unknown;
}

interface Question {
  method: string;
  /** In JSON. */
  params: string;
  askers: { resolve: (result: unknown) => void; reject: (error: unknown) => void }[];
}

const SEND = 'eth_sendRawTransaction';

/** Methods whose answers are small; what grows with a block is asked for by itself, since it meets limits of size. */
const SHORT = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_simulateV1',
  SEND,
]);
export const mayShareBatch = (method: string) => SHORT.has(method);

/** JSON-RPC's "invalid request": said of a batch, or in place of the answers that did not fit into it. */
const INVALID_REQUEST = -32600;
const isInvalidRequest = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === INVALID_REQUEST;

const bodyOf = ({ method, params }: Question, id: number) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** Asks one by one, and tells the askers what comes back. */
function createTelling({ exchange, failureOf, resultOf }: BatchesDeps) {
  const answer = ({ method, askers }: Question, found: Answer | undefined) => {
    for (const { resolve, reject } of askers) {
      try {
        resolve(resultOf(method, found));
      } catch (error) {
        reject(error);
      }
    }
  };
  const fail = ({ method, askers }: Question, error: unknown) => {
    for (const { reject } of askers) reject(failureOf(method, error));
  };

  /** Whether there was an answer. */
  const askAlone = async (question: Question): Promise<boolean> => {
    try {
      answer(question, (await exchange(bodyOf(question, 1))) as Answer | undefined);
      return true;
    } catch (error) {
      fail(question, error);
      return false;
    }
  };

  /** Signed bytes one after the other, so that those of one account arrive in the order of their nonces. */
  const askEachAlone = async (questions: Question[]): Promise<boolean> => {
    if (questions[0]?.method !== SEND)
      return (await Promise.all(questions.map(askAlone))).some((answered) => answered);
    let answered = false;
    for (const question of questions) answered = (await askAlone(question)) || answered;
    return answered;
  };

  return { answer, fail, askEachAlone };
}

/** Returns the function that asks one thing. */
export function createRpcBatches(deps: BatchesDeps) {
  const { batchMax, exchange, failureOf } = deps;
  const { answer, fail, askEachAlone } = createTelling(deps);
  let reads = new Map<string, Question>();
  let sends: Question[] = [];
  let takesBatches = true;

  const askTogether = async (questions: Question[]): Promise<void> => {
    if (questions.length === 1 || !takesBatches) return void (await askEachAlone(questions));
    const body = `[${questions.map((question, place) => bodyOf(question, place + 1)).join()}]`;
    let answers: unknown;
    try {
      answers = await exchange(body);
    } catch (error) {
      if (deps.isAboutBatch(failureOf(SEND, error))) return refused(questions);
      for (const question of questions) fail(question, error);
      return;
    }
    if (!Array.isArray(answers)) {
      const error = (answers as Answer | undefined)?.error;
      // Overload and limits of rate are told to each; anything else may be about the batch.
      if (error !== undefined && !isInvalidRequest(error) && isBusy(error))
        for (const question of questions) answer(question, { error });
      else if (error === undefined) for (const question of questions) answer(question, undefined);
      else await refused(questions);
      return;
    }
    const byId = new Map((answers as (Answer | null)[]).map((one) => [one?.id, one ?? undefined]));
    const left: Question[] = [];
    for (const [place, question] of questions.entries()) {
      const found = byId.get(place + 1);
      if (found === undefined || isInvalidRequest(found.error)) left.push(question);
      else answer(question, found);
    }
    await askEachAlone(left);
  };

  /** The node takes no batch. That is remembered once it has answered one of its requests alone. */
  const refused = async (questions: Question[]) => {
    if (await askEachAlone(questions)) takesBatches = false;
  };

  const flush = () => {
    const [asked, sent] = [[...reads.values()], sends];
    reads = new Map();
    sends = [];
    for (const some of inParts(asked, batchMax)) void askTogether(some);
    void sendInOrder(inParts(sent, batchMax));
  };
  const sendInOrder = async (parts: Question[][]) => {
    for (const some of parts) await askTogether(some);
  };

  return (method: string, parameters: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const params = JSON.stringify(parameters);
      if (reads.size === 0 && sends.length === 0) setImmediate(flush);
      const asker = { resolve, reject };
      if (method === SEND) return void sends.push({ method, params, askers: [asker] });
      const key = `${method} ${params}`;
      const same = reads.get(key);
      if (same) same.askers.push(asker);
      else reads.set(key, { method, params, askers: [asker] });
    });
}

/** The codes with which nodes and providers say "not now". */
const isBusy = (error: unknown) =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  [-32005, 429].includes(Number(error.code));

const inParts = (questions: Question[], size: number): Question[][] =>
  Array.from({ length: Math.ceil(questions.length / size) }, (_, part) =>
    questions.slice(part * size, (part + 1) * size),
  );
