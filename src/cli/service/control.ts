/** Asks the control API of the running emulator or, where a production database is given, of that ledger without a service. */
import { type Client, createClient } from '../../client/create-client.ts';
import { type HostUrls, hostUrls } from '../../client/host-urls.ts';
import type { ControlRoutes } from '../../production/offline/control-routes.ts';
import type { OfflineLedger } from '../../production/offline/offline-ledger.ts';
import type { RunInfo } from '../../stack/run-file.ts';
import type { CommandContext } from '../machine/context.ts';
import type { LedgerOptions } from '../start/options.ts';
import { meansLedger, withLedger } from './ledger.ts';
import { clientFor, resolveTarget } from './target.ts';

interface ControlTarget {
  control: Client['control'];
  /** The service's address; absent for a ledger. */
  url?: string;
  /** Those of all its hosts. */
  urls?: HostUrls;
  /** Of the stack that runs here; absent for a ledger and for another service. */
  run?: RunInfo | undefined;
}

/** Requests have to have an address; these do not leave the process. */
const IN_PROCESS = hostUrls('http://in-process');

/** Passes the calls to `work` and closes their connections afterwards, even when it fails. */
export async function withControl<T>(
  context: CommandContext,
  options: LedgerOptions,
  {
    ofLedger,
    work,
  }: {
    /** The part of the control API that a ledger answers by itself. */
    ofLedger: (ledger: OfflineLedger) => Promise<ControlRoutes>;
    work: (target: ControlTarget) => Promise<T>;
  },
): Promise<T> {
  if (!meansLedger(context, options)) {
    const target = await resolveTarget(context);
    const { control } = clientFor(target, context);
    return work({ control, url: target.urls.events, urls: target.urls, run: target.run });
  }
  return withLedger(context, options, async (ledger) => {
    const fetch = await ofLedger(ledger);
    return work({
      control: createClient({ urls: IN_PROCESS, timeoutMs: context.settings.timeout, fetch }).control,
    });
  });
}
