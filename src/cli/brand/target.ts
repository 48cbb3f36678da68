/** Where brands are managed: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import type { CommandContext } from '../machine/context.ts';
import { withControl } from '../service/control.ts';
import type { LedgerOptions } from '../start/options.ts';

export type BrandOptions = LedgerOptions;

interface BrandTarget {
  brands: Client['control']['brands'];
  /** The brand that a command without a brand means; undefined when the target has no default. */
  defaultBrand?: string | undefined;
}

export const withBrands = <T>(
  context: CommandContext,
  options: BrandOptions,
  work: (target: BrandTarget) => Promise<T>,
): Promise<T> =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.brands(),
    work: ({ control, run }) => work({ brands: control.brands, defaultBrand: run?.brands[0]?.brandId }),
  });
