/** Values of the stack that runs here, for a shell that completes a word: quickly, and without a word about what fails. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../client/create-client.ts';
import { listBrands, showBrand } from '../../contract/control/brands.ts';
import { listSessions } from '../../contract/control/processor.ts';
import { SNAPSHOTS } from '../../emulator/state/data-files.ts';
import { within } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { dataFolder } from '../run/data-folder.ts';
import { clientFor, resolveTarget, type Target } from '../service/target.ts';
import type { Kind } from './completion-kinds.ts';

/** A person at a prompt does not wait longer than this. */
const LONGEST_MS = 1_000;
const SESSIONS_SHOWN = 20;

type Ask = (stack: { client: Client; target: Target; context: CommandContext }) => Promise<string[]>;

/** A word, or a word and what it is, with a tab between. */
const asking: Record<Kind, Ask> = {
  async brands({ client }) {
    const { body } = await client.call(listBrands);
    return body.brands.flatMap(({ brandId, domains }) => [
      ...domains.map((domain) => `${domain}\t${brandId}`),
      `${brandId}\t${domains[0] ?? ''}`,
    ]);
  },
  async events({ client }) {
    const { body } = await client.call(listBrands);
    const details = await Promise.all(
      body.brands.map(({ brandId }) => client.call(showBrand, { path: { name: brandId } })),
    );
    return [...new Set(details.flatMap((detail) => detail.body.rules.map(({ eventType }) => eventType)))];
  },
  users: async ({ target }) => (target.run?.users ?? []).map(({ email }) => email),
  async sessions({ client }) {
    const { body } = await client.call(listSessions, { query: { limit: SESSIONS_SHOWN } });
    return [
      'latest\tthe newest checkout',
      ...body.sessions.map(({ id, paymentStatus, amount }) => `${id}\t${paymentStatus}, ${amount} cents`),
    ];
  },
  async snapshots({ target, context }) {
    const folder = join(target.run?.dataDir ?? dataFolder(context, undefined), SNAPSHOTS);
    const files = await readdir(folder);
    return files.flatMap((file) => /^(.+)\.rewards$/.exec(file)?.[1] ?? []);
  },
};

export const printValues: Handler<{ kind: Kind }> = async (context, { kind }) => {
  const timeout = Math.min(context.settings.timeout, LONGEST_MS);
  const silent = { ...context, settings: { ...context.settings, timeout }, note: () => {} };
  const ask = async () => {
    // Snapshots outlive the stack.
    const target = await resolveTarget(silent).catch((error: unknown) => {
      if (kind !== 'snapshots') throw error;
      return {} as Target;
    });
    const client = clientFor(target, silent);
    return asking[kind]({ client, target, context: silent });
  };
  const values = await within(LONGEST_MS, ask()).catch(() => undefined);
  for (const value of values ?? []) context.runtime.stdout.write(`${value}\n`);
  return exitCodes.done;
};
