/** What a run measures, and for how long. */

/** The loads of `--only`, in the order in which they are measured. */
export const loadNames = [
  ...['naive', 'events', 'raw', 'relays', 'relays-many', 'concurrency', 'latency'],
  ...['instant', 'console', 'postgres', 'replicas', 'growth', 'gas', 'starts', 'memory'],
] as const;
export type LoadName =
  | ('naive' | 'events' | 'raw' | 'relays' | 'relays-many' | 'concurrency' | 'latency')
  | ('instant' | 'console' | 'postgres' | 'replicas' | 'growth' | 'gas' | 'starts' | 'memory');

/** What `--quick` leaves out. */
export const longLoads: readonly LoadName[] = [
  ...(['relays-many', 'concurrency', 'console', 'replicas', 'growth', 'memory'] as const),
];

export interface Plan {
  names: LoadName[];
  callers: number;
  brands: number;
  rounds: number;
  warmUpSeconds: number;
  seconds: { naive: number; events: number; relays: number; latency: number; concurrency: number };
  /** Of each caller in a round. */
  transfersEach: number;
  /** How often `serve` and `--help` are started. */
  starts: number;
  /** Claims in the largest ledger of `growth`. */
  claims: number;
  /** Events of `memory`. */
  events: number;
  /** A server on which databases may be created. */
  postgres?: string | undefined;
  profile?: string | undefined;
}

export const quick = {
  rounds: 3,
  warmUpSeconds: 2,
  seconds: { naive: 2, events: 5, relays: 5, latency: 5, concurrency: 3 },
  transfersEach: 16,
  starts: 5,
};

/** Rounds stay short: a block of Anvil costs by what its chain holds, half a second with 250,000 holders. */
export const full = {
  rounds: 5,
  warmUpSeconds: 4,
  seconds: { naive: 5, events: 6, relays: 6, latency: 30, concurrency: 5 },
  transfersEach: 48,
  starts: 21,
};
