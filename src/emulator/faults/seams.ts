/** What can be made to fail, and how: the table that the control API, the command line and docs/faults.md follow. */

/** What follows an effect's name after a colon: a wait in real time, a span of the emulator's clock, a price of gas. */
export type Argument = 'wait' | 'span' | 'gwei';

export interface Effect {
  /** What the outside does while the fault is set. */
  does: string;
  argument?: Argument;
}

interface Seam {
  is: string;
  /** The first one is meant where no effect is named. */
  effects: Readonly<Record<string, Effect>>;
}

const slow = (what: string): Effect => ({ does: `${what} that much later`, argument: 'wait' });

const table = {
  node: {
    is: "the chain's node, as the service reaches it",
    effects: {
      away: { does: 'no call reaches the node' },
      'answer-lost': { does: 'the node takes a transaction, and its answer is lost' },
      refused: { does: 'the node answers 429, too many requests' },
      slow: slow('each call is made'),
      'fee-cap': { does: 'the node refuses every transaction as above its own fee cap' },
      'base-fee': { does: 'the newest block has this base fee', argument: 'gwei' },
    },
  },
  database: {
    is: 'the ledger, as the service reaches it',
    effects: {
      away: { does: 'no statement and no commit reaches the database' },
      'commit-lost': { does: 'the connection breaks before a commit, and nothing of it is kept' },
      'answer-lost': { does: 'a commit is kept, and its answer is lost' },
      slow: slow('each statement and each commit is made'),
    },
  },
  disk: {
    is: 'the disk below the ledger',
    effects: {
      slow: slow('a commit is on disk'),
      full: { does: 'a commit finds no room, and nothing of it is kept' },
    },
  },
  processor: {
    is: "the payment processor's API, for the service and everybody else",
    effects: {
      away: { does: 'the connection breaks before a request is read' },
      '500': { does: 'a request is answered with 500 and does nothing' },
      'answer-lost': { does: 'a request is carried out, and its answer is lost' },
      slow: slow('a request is read'),
    },
  },
  'processor-events': {
    is: "the payment processor's events on their way to their endpoints",
    effects: {
      drop: { does: 'an event is lost on its way; the processor counts it as delivered' },
      twice: { does: 'an event arrives twice' },
      delay: { does: 'an event arrives that much later, on the clock of the emulator', argument: 'span' },
      reorder: { does: 'an event arrives after the one that follows it' },
    },
  },
  receiver: {
    is: 'the endpoints to which brands get their webhooks',
    effects: {
      away: { does: 'the connection is refused' },
      '500': { does: 'a delivery is answered with 500' },
      '410': { does: 'a delivery is answered with 410, gone' },
      hang: { does: 'a delivery arrives, and is not answered in time' },
      'answer-lost': { does: 'a delivery arrives, and its answer is lost' },
    },
  },
  'constraint-api': {
    is: "the brands' servers that are asked whether a buyer may have a perk",
    effects: {
      away: { does: 'the connection is refused' },
      '500': { does: 'a question is answered with 500' },
      slow: slow('a question is asked'),
    },
  },
  identity: {
    is: "the identity provider's keys",
    effects: {
      away: { does: 'the keys cannot be fetched, and none are kept' },
    },
  },
  dns: {
    is: "DNS, when it is asked for a domain's record",
    effects: {
      servfail: { does: 'the name servers fail' },
      nxdomain: { does: 'there is no such name' },
      slow: slow('the answer comes'),
    },
  },
  clock: {
    is: "the machine's clock, below that of the emulator",
    effects: {
      ahead: { does: 'the clock jumps ahead, and back when the fault is over', argument: 'span' },
      behind: { does: 'the clock jumps back, and ahead when the fault is over', argument: 'span' },
    },
  },
} as const satisfies Record<string, Seam>;

export type SeamName = keyof typeof table;
export type EffectName<Name extends SeamName> = Extract<keyof (typeof table)[Name]['effects'], string>;

export const seams: Readonly<Record<SeamName, Seam>> = table;

/** An example of an argument, for texts. */
export const argumentExamples: Readonly<Record<Argument, string>> = {
  wait: '300ms',
  span: '5m',
  gwei: '120gwei',
};

/** How an effect is written: `slow:300ms`. */
export const spelled = (name: string, { argument }: Effect): string =>
  argument ? `${name}:${argumentExamples[argument]}` : name;

/** The table as the control API shows it. */
export const describedSeams = () =>
  Object.entries(seams).map(([seam, { is, effects }]) => ({
    seam,
    is,
    effects: Object.entries(effects).map(([name, effect]) => ({
      effect: spelled(name, effect),
      does: effect.does,
    })),
  }));
