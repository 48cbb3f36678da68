/** The emulator's control host: moves the clock and whatever else only a developer may move. Never part of production. */
import { type Context, Hono } from 'hono';
import { controlDocs, controlOpenapi } from '../../contract/control/endpoints.ts';
import { controlHostContract } from '../../contract/control/host.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import type { Log } from '../../lib/log.ts';
import { faultOf, mount, tidyPath } from '../frame/host-frame.ts';
import { apiDocument } from '../openapi.ts';
import { apiReference } from '../reference/reference-page.ts';
import { type ControlBrandsDeps, controlBrands } from './brands.ts';
import { type ControlChainDeps, controlChain } from './chain.ts';
import { type ControlClockDeps, controlClock } from './clock.ts';
import { type ControlConstraintsDeps, controlConstraints } from './constraints.ts';
import { BODY_LIMIT_BYTES, type ControlRoute, handlersOf, refuse } from './control-handler.ts';
import { type ControlFaultsDeps, controlFaults } from './faults.ts';
import { controlHistory } from './history.ts';
import { type ControlJobsDeps, controlJobs } from './jobs.ts';
import { type ControlMintsDeps, type ControlMoneyDeps, controlMints, controlMoney } from './mints.ts';
import { type ControlOverviewDeps, controlOverview } from './overview.ts';
import { type ControlPerksDeps, controlPerks } from './perks.ts';
import { type ControlProcessorDeps, controlProcessor } from './processor.ts';
import { type ControlRelayDeps, controlRelay } from './relay.ts';
import { type ControlRequestsDeps, controlRequests } from './requests.ts';
import { type ControlSeedDeps, controlSeed } from './seed.ts';
import { controlAccess, isDelivery } from './session.ts';
import { type ControlSiteDeps, controlSite } from './site.ts';
import { type ControlSnapshotsDeps, controlSnapshots } from './snapshots.ts';
import {
  type ControlTokensDeps,
  type ControlWalletsDeps,
  controlAliases,
  controlTokens,
  controlWallets,
} from './users.ts';
import {
  type ControlInboxDeps,
  type ControlWebhooksDeps,
  controlInbox,
  controlWebhooks,
} from './webhooks.ts';

/** What browsers get; it asks this API itself. */
export interface ControlPages {
  /** Answers `/`, and everything below `/console`. */
  fetch(request: Request): Promise<Response>;
  /** For browsers that may not read: how one comes in. */
  locked(context: Context): Promise<Response>;
}

interface ControlHostDeps extends Omit<ControlRequestsDeps, 'nowMs'> {
  /** Resolves when all that blocks show so far has had its consequences: what is changed or read here comes after it. */
  caughtUp: () => Promise<void>;
  control: ControlClockDeps;
  overview: ControlOverviewDeps;
  brands: Omit<ControlBrandsDeps, 'maySeeSecrets'> & ControlMintsDeps;
  tokens: ControlTokensDeps;
  wallets: ControlWalletsDeps;
  webhooks: ControlWebhooksDeps;
  chain: ControlChainDeps;
  relay: ControlRelayDeps;
  perks: ControlPerksDeps;
  constraints: ControlConstraintsDeps;
  seed: ControlSeedDeps['seed'];
  inbox: ControlInboxDeps['inbox'];
  processor: ControlProcessorDeps;
  site: ControlSiteDeps;
  faults: ControlFaultsDeps;
  snapshots: ControlSnapshotsDeps['snapshots'];
  jobs: ControlJobsDeps['jobs'];
  scenarios: ControlJobsDeps['scenarios'];
  readTotals: ControlMoneyDeps['readTotals'];
  verify: ControlMoneyDeps['verify'];
  log: Log;
  /** Pages for people over this API. */
  pages: ControlPages;
  /** Told of each request that may have changed something. */
  changed: () => void;
  /** Needed for everything but the description of this host. */
  token: string;
  /** Names under which this listener may be addressed: keeps pages of other sites out (DNS rebinding). */
  allowedHosts: readonly string[];
}

export function createControlHost(deps: ControlHostDeps): Hono {
  const app = new Hono({ getPath: tidyPath });
  const { clock } = deps.control;
  const { mayChange, mayRead, opened } = controlAccess(deps.token);

  app.use(async (context, next) => {
    const domain = domainOf(`http://${context.req.header('host') ?? ''}`);
    const origin = context.req.header('origin');
    const fromHere = (name: string | undefined) => name !== undefined && deps.allowedHosts.includes(name);
    if (!fromHere(domain) || (origin !== undefined && !fromHere(domainOf(origin)))) {
      return refuse(context, { code: 'foreign_host' });
    }
    const looks = context.req.method === 'GET' || context.req.method === 'HEAD';
    const entered = looks ? opened(context) : undefined;
    if (entered) return entered;
    if (!(looks ? mayRead(context) : mayChange(context) || isDelivery(context))) {
      if (looks && isPage(context)) return deps.pages.locked(context);
      return refuse(context, { code: 'token_missing', guards: 'host' });
    }
    if (!isDelivery(context)) await deps.caughtUp();
    if (looks && PAGE.test(context.req.path)) return deps.pages.fetch(context.req.raw);
    await next();
    if (!looks) deps.changed();
    return undefined;
  });

  const reference = apiReference(() =>
    apiDocument(controlHostContract, {
      serverUrl: '/_rewards',
      apiPrefix: '',
      bodyLimitBytes: BODY_LIMIT_BYTES,
    }),
  );
  const routes: ControlRoute[] = [
    ...controlOverview(deps.overview),
    ...controlHistory(deps.overview),
    ...controlClock(deps.control),
    ...controlBrands({ ...deps.brands, maySeeSecrets: mayChange }),
    ...controlAliases(deps.brands),
    ...controlMints(deps.brands),
    ...controlMoney({ ...deps, database: deps.brands.database }),
    ...controlRequests({ ...deps, nowMs: () => clock.state().nowMs }),
    ...controlSeed(deps),
    ...controlInbox(deps),
    ...controlTokens(deps.tokens),
    ...controlWallets(deps.wallets),
    ...controlProcessor(deps.processor),
    ...controlSite(deps.site),
    ...controlFaults(deps.faults),
    ...controlSnapshots({ ...deps, maySeeSecrets: mayChange }),
    ...controlJobs(deps),
    ...controlWebhooks(deps.webhooks),
    ...controlChain(deps.chain),
    ...controlRelay(deps.relay),
    ...controlPerks(deps.perks),
    ...controlConstraints(deps.constraints),
    { endpoint: controlOpenapi, handler: reference.openapi },
    { endpoint: controlDocs, handler: reference.docs },
  ];
  mount(app, { apiPrefix: '', contract: controlHostContract, handlers: handlersOf(routes), refuse });

  app.all('*', (context) => {
    const { method, path } = context.req;
    return refuse(context, { code: 'unknown_endpoint', method, path });
  });
  app.onError((error, context) => {
    deps.log.error({ path: context.req.path, error: rootMessage(error) }, 'a control request failed');
    return refuse(context, {
      code: faultOf(error),
    });
  });
  return app;
}

/** What is no endpoint of the API. */
const PAGE = /^\/_rewards(?:\/(?:console(?:\/.*)?)?)?$/;

/** Whether a browser asks for one of the pages. */
const isPage = ({ req }: Context) => PAGE.test(req.path) && /\btext\/html\b/.test(req.header('accept') ?? '');

const domainOf = (text: string) => (URL.canParse(text) ? new URL(text).hostname : undefined);
