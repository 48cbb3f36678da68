/** Asks the control API of the running emulator or, where a production database is given, of that ledger without a service. */
import type { ControlCall } from '../../client/control-call.ts';
import { createClient } from '../../client/create-client.ts';
import { type HostUrls, hostUrls } from '../../client/host-urls.ts';
import type {
  AnswerOf,
  ControlEndpoint,
  LedgerEndpoint,
  RequestOf,
} from '../../contract/control/control-endpoint.ts';
import { namesOf } from '../../lib/setting.ts';
import type { OwnReach } from '../../production/offline/control-routes.ts';
import type { OfflineLedger } from '../../production/offline/offline-ledger.ts';
import { startSettings } from '../../production/settings.ts';
import type { RunInfo } from '../../stack/run-file.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Style } from '../terminal/style.ts';
import { replyResult } from './control-reply.ts';
import { meansLedger, withLedger } from './ledger.ts';
import { clientFor, resolveTarget } from './target.ts';

/** The running service, which answers everything. */
export interface Emulator {
  call: ControlCall;
  urls: HostUrls;
  /** The stack's run file; absent when it runs elsewhere. */
  run?: RunInfo | undefined;
}

interface ControlTarget {
  /** What a ledger answers as well. */
  call: ControlCall<LedgerEndpoint>;
  /** Absent for a ledger. */
  emulator?: Emulator;
}

export interface ControlOptions extends LedgerOptions {
  /** Has the key of the hashes of users, by which a ledger's requests are looked for. */
  walletsXpubFile?: string;
}

/** Requests have to have an address; these do not leave the process. */
const IN_PROCESS = hostUrls('http://in-process');

/** Passes the calls to `work` and closes their connections afterwards, even when it fails. */
export async function withControl<T>(
  context: CommandContext,
  options: ControlOptions,
  work: (target: ControlTarget) => Promise<T>,
): Promise<T> {
  if (!meansLedger(context, options)) {
    const target = await resolveTarget(context);
    const { call } = clientFor(target, context);
    return work({ call, emulator: { call, urls: target.urls, run: target.run } });
  }
  return withLedger(context, options, async (ledger) =>
    work({ call: await ledgerCall(context, ledger, options) }),
  );
}

/** Calls of the control API that an open ledger answers. */
export async function ledgerCall(
  context: CommandContext,
  ledger: OfflineLedger,
  { walletsXpubFile: file }: Pick<ControlOptions, 'walletsXpubFile'> = {},
): Promise<ControlCall<LedgerEndpoint>> {
  const fetch = await ledger.control({
    reach: ownReach(context),
    ownDomain: ownDomain(context),
    walletsXpub: file === undefined ? { value: context.runtime.env.REWARDS_WALLETS_XPUB } : { files: [file] },
  });
  return createClient({ urls: IN_PROCESS, timeoutMs: context.settings.timeout, fetch }).call;
}

/** As `start` takes it from the same variables: users of chat platforms are known by it. */
function ownDomain({ runtime: { env } }: CommandContext): string {
  const { ownDomain: own, publicDomains } = startSettings;
  const [first = ''] = publicDomains.kind.parse(env[namesOf(publicDomains).variable] ?? '') ?? [];
  return env[namesOf(own).variable] ?? first;
}

/** What `start` is given by the same variables; a URL that leads elsewhere is refused at once. */
export function ownReach({ runtime }: CommandContext): OwnReach {
  const { outgoingNetworks, outgoingPorts } = startSettings;
  const textOf = (setting: typeof outgoingNetworks) => runtime.env[namesOf(setting).variable];
  const listOf = (setting: typeof outgoingNetworks) => {
    const text = textOf(setting);
    return text === undefined ? [] : (setting.kind.parse(text) ?? []);
  };
  return { networks: listOf(outgoingNetworks), ports: listOf(outgoingPorts).map(Number) };
}

/** How a command that is one endpoint asks it, and how it prints the answer. */
interface Asking<E extends ControlEndpoint, Options> {
  /** What is sent, of what was typed; or a function that asks for a part of it first. */
  request?: (options: Options, context: CommandContext) => Sent<E> | Promise<Sent<E>>;
  text: (body: AnswerOf<E>, style: Style, options: Options) => string;
  /** What is shown while the answer takes its time. */
  phase?: string;
  /** What `-o env` prints; all of the answer by default. */
  env?: (body: AnswerOf<E>) => unknown;
}
type Sent<E> = RequestOf<E> | ((call: ControlCall) => Promise<RequestOf<E>>);

/**
 * A command that is one endpoint of the control API and one view. Where the command takes the address of a database and is
 * given one, that ledger is asked.
 */
export const asks =
  <E extends ControlEndpoint, Options = object>(
    endpoint: E,
    { request, text, phase, env }: Asking<E, Options>,
  ): Handler<Options & Partial<ControlOptions>> =>
  async (context, options) => {
    const wanted = await request?.(options, context);
    return withControl(context, { allowSqlite: false, ...options }, async (target) => {
      // A command with the options of a ledger has an endpoint that a ledger answers.
      const call = target.call as ControlCall;
      const isFound = (one: unknown): one is (call: ControlCall) => Promise<RequestOf<E>> =>
        typeof one === 'function';
      const sent = isFound(wanted) ? await wanted(call) : wanted;
      const progress = createProgress(context);
      if (phase !== undefined) progress.show(phase);
      const reply = await call<E>(endpoint, ...([sent] as never)).finally(progress.clear);
      return replyResult(reply, { text: (body, style) => text(body, style, options), ...(env && { env }) });
    });
  };
