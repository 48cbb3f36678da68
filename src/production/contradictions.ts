/** Settings that are each well-formed and cannot both hold: THE table, a row for each pair. */
import { namesOf } from '../lib/setting.ts';
import { type StartValues, startSettings } from './settings.ts';
import { type Fault, fault } from './start-setting.ts';

interface Contradiction {
  /** The two settings, by row name. */
  of: readonly [keyof StartValues, keyof StartValues];
  /** Whether the values contradict each other. */
  holds: (values: StartValues) => boolean;
  /** What is wrong, with both names and values. */
  message: (values: StartValues, names: readonly [string, string]) => string;
  fix: string;
}

const EVERYWHERE = new Set(['0.0.0.0', '::']);

/** Whether two servers at one port would be in each other's way. */
const overlap = (one: string, other: string) => one === other || EVERYWHERE.has(one) || EVERYWHERE.has(other);

/** Gas of the smallest payout: one reward. */
const SMALLEST_PAYOUT_GAS = 110_000;

export const contradictions: readonly Contradiction[] = [
  {
    of: ['port', 'adminPort'],
    holds: ({ workers, port, adminPort, bindAddress, adminBindAddress }) =>
      workers.includes('api') && port !== 0 && port === adminPort && overlap(bindAddress, adminBindAddress),
    message: ({ port }, [one, other]) =>
      `${one} and ${other} are both ${port}, and only one server can listen there`,
    fix: 'give one of them another port, or 0 for any free port',
  },
  {
    of: ['priorityFeeGwei', 'feeCapGwei'],
    holds: ({ priorityFeeGwei, feeCapGwei }) => priorityFeeGwei > feeCapGwei,
    message: ({ priorityFeeGwei, feeCapGwei }, [one, other]) =>
      `${one} (${priorityFeeGwei}) is more than ${other} (${feeCapGwei}), of which it is a part`,
    fix: 'raise the cap, or lower the priority fee',
  },
  {
    of: ['offerMax', 'feeCapGwei'],
    holds: ({ workers, offerMax, feeCapGwei }) =>
      workers.includes('outbox') && offerMax * 1e9 < SMALLEST_PAYOUT_GAS * feeCapGwei,
    message: ({ offerMax, feeCapGwei }, [one, other]) =>
      `${one} (${offerMax}) does not pay for a single reward at ${other} (${feeCapGwei}), which takes ${(SMALLEST_PAYOUT_GAS * feeCapGwei) / 1e9}`,
    fix: 'raise the most that is offered, or lower the cap',
  },
  {
    of: ['finalityBlocks', 'confirmations'],
    holds: ({ finalityBlocks, confirmations }) => finalityBlocks < confirmations,
    message: ({ finalityBlocks, confirmations }, [one, other]) =>
      `${one} (${finalityBlocks}) is less than ${other} (${confirmations}): blocks would be final before they are read`,
    fix: 'make the depth of finality the larger one',
  },
  {
    of: ['blockLagMaxMs', 'blockPollMs'],
    holds: ({ blockLagMaxMs, blockPollMs }) => blockLagMaxMs <= blockPollMs,
    message: (_values, [one, other]) =>
      `${one} is not longer than ${other}: every block would be late before it is looked for`,
    fix: 'allow a lag of several polls',
  },
  {
    of: ['gasFull', 'gasLow'],
    holds: ({ gasFull, gasLow }) => gasFull <= gasLow,
    message: ({ gasFull, gasLow }, [one, other]) =>
      `${one} (${gasFull}) must be more than ${other} (${gasLow}): a top-up would end below where it begins`,
    fix: 'raise the balance after a top-up, or lower the one that begins it',
  },
];

/** What contradicts each other in these values. */
export const contradictionsIn = (values: StartValues): Fault[] =>
  contradictions
    .filter(({ holds }) => holds(values))
    .map(({ of: [one, other], message, fix }) => {
      const names = [namesOf(startSettings[one]).variable, namesOf(startSettings[other]).variable] as const;
      return fault(message(values, names), fix);
    });
