/** Where constraints are looked at: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import { namesOf } from '../../lib/setting.ts';
import { startSettings } from '../../production/settings.ts';
import type { CommandContext } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { withControl } from '../service/control.ts';
import { meansLedger } from '../service/ledger.ts';
import { demandBrand } from '../service/named-brand.ts';
import { resolveTarget } from '../service/target.ts';
import type { LedgerOptions } from '../start/options.ts';

interface Asked {
  /** Its id, or the domain that was given. */
  brand: string;
  constraints: Client['control']['constraints'];
}

/** Throws a usage error for a ledger without a brand's name: none of its brands is the first. */
export async function withConstraints<T>(
  context: CommandContext,
  { brand, ...options }: LedgerOptions & { brand?: string | undefined },
  work: (asked: Asked) => Promise<T>,
): Promise<T> {
  const isLedger = meansLedger(context, options);
  return withControl(context, options, {
    ofLedger: (ledger) => ledger.constraints(ownDomain(context)),
    async work({ control: { constraints } }) {
      if (!isLedger) return work({ constraints, brand: await brandHere(context, brand) });
      if (brand === undefined)
        throw usageError('A ledger has no first brand.', 'Name the brand: --brand shop.example');
      return work({ constraints, brand });
    },
  });
}

const brandHere = async (context: CommandContext, brand: string | undefined) =>
  (await demandBrand(context, await resolveTarget(context), brand)).brandId;

/** As `start` takes it from the same variables: users of chat platforms are known by it. */
function ownDomain({ runtime: { env } }: CommandContext): string {
  const { ownDomain: own, publicDomains } = startSettings;
  const [first = ''] = publicDomains.kind.parse(env[namesOf(publicDomains).variable] ?? '') ?? [];
  return env[namesOf(own).variable] ?? first;
}
