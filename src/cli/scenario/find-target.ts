/** The target of `scenario run --target`: a stack that runs here, with all that it can do, or a service that only has its API. */
import { targetOf } from '../../scenario/run/stack-target.ts';
import type { ScenarioTarget } from '../../scenario/steps/step-context.ts';
import type { CommandContext } from '../machine/context.ts';
import { readApiKey } from '../machine/read-input.ts';
import { resolveTarget } from '../service/target.ts';

export interface TargetOptions {
  brand?: string;
  domain?: string;
  apiKeyFile?: string;
}

/** Undefined without --target: every file gets a stack of its own. */
export async function findScenarioTarget(
  context: CommandContext,
  { brand, domain, apiKeyFile }: TargetOptions,
): Promise<{ url: string; target: ScenarioTarget } | undefined> {
  const url = context.settings.target;
  if (url === undefined) return undefined;
  const { urls, run } = await resolveTarget(context);
  if (run) {
    const users = run.users.map((user) => ({ ...user, login: user.email.replace(/@.*/, '') }));
    return { url, target: targetOf({ ...run, users }) };
  }
  const apiKey = await readApiKey(context.runtime, apiKeyFile);
  const named = brand === undefined ? [] : [{ brandId: brand, domain: domain ?? '', apiKey: apiKey ?? '' }];
  return { url, target: { urls, can: new Set(), brands: named, users: [], contracts: {}, apiKey } };
}
