/** What can be told by name of the stack whose requests become steps. */
import type { KnownStack } from '../../../scenario/record/known-names.ts';
import type { Emulator } from '../../requests/target.ts';
import { isObject } from '../../service/assignments.ts';
import { mustBe } from '../../service/control-reply.ts';

/** Of the run file; of a stack that runs elsewhere its brands. */
export async function knownStack({ run, control }: Emulator): Promise<KnownStack> {
  if (run) return run;
  const reply = await control.brands.list();
  mustBe(reply, (body) => isObject(body) && Array.isArray(body.brands));
  const brands = reply.body.brands.map(({ brandId, domains }) => ({
    ...{ brandId, apiKey: '' },
    domain: domains[0] ?? '',
  }));
  return { brands, users: [], contracts: {} };
}
