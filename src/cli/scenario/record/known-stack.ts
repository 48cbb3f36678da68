/** What can be told by name of the stack whose requests become steps. */
import { listBrands } from '../../../contract/control/brands.ts';
import type { KnownStack } from '../../../scenario/record/known-names.ts';
import type { Emulator } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';

/** Of the run file; of a stack that runs elsewhere its brands. */
export async function knownStack({ run, call }: Emulator): Promise<KnownStack> {
  if (run) return run;
  const reply = await call(listBrands);
  mustSucceed(reply);
  const brands = reply.body.brands.map(({ brandId, domains }) => ({
    brandId,
    apiKey: '',
    domain: domains[0] ?? '',
  }));
  return { brands, users: [], contracts: {} };
}
