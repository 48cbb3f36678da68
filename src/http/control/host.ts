/** The emulator's control host: moves the clock and whatever else only a developer may move. Never part of production. */
import { timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import type { VerifyReport } from '../../audit/report.ts';
import { controlHostContract } from '../../contract/control/host.ts';
import { isDatabaseUnavailable } from '../../ledger/database/database.ts';
import type { ClockState } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import type { Log } from '../../lib/log.ts';
import { rootMessage } from '../../lib/root-cause.ts';
import { readJsonBody } from '../frame/json-body.ts';
import { apiDocument } from '../openapi.ts';
import { apiReference } from '../reference/api-reference.ts';
import { type ControlBrandsDeps, controlBrands } from './brands.ts';
import { controlProblem } from './problem.ts';
import { type ControlRequestsDeps, controlRequests } from './requests.ts';
import { type ControlTokensDeps, controlTokens } from './tokens.ts';
import { type ControlWalletsDeps, controlWallets } from './wallets.ts';

/** What the control host can do to the emulator. */
export interface EmulatorControl {
  clock: {
    state(): ClockState;
    /** Each resolves when the chain follows and what became due is under way. */
    advance(ms: number): Promise<void>;
    set(nowMs: number): Promise<void>;
    freeze(frozen: boolean): Promise<void>;
  };
}

/** `limit` differences are shown at most. */
type Verify = (limit: number) => Promise<VerifyReport>;

export interface ControlHostDeps extends Omit<ControlRequestsDeps, 'nowMs'> {
  control: EmulatorControl;
  brands: Omit<ControlBrandsDeps, 'maySeeSecrets'>;
  tokens: ControlTokensDeps;
  wallets: ControlWalletsDeps;
  /** Compares ledger and chain. */
  verify: Verify;
  log: Log;
  /** Needed to change anything. */
  token: string;
  /** Host names under which this listener may be addressed: keeps pages of other sites out (DNS rebinding). */
  allowedHosts: readonly string[];
}

/** Control requests are small. */
const BODY_LIMIT_BYTES = 64 * 1024;
const DIFFERENCES_SHOWN = 50;
const DIFFERENCES_MAX = 1_000;

export function createControlHost(deps: ControlHostDeps): Hono {
  const app = new Hono();
  const { clock } = deps.control;

  const problem = (context: Context, status: 400 | 401 | 403 | 404, error: string, message: string) =>
    controlProblem(context, status, { error, message });
  const hostOf = (text: string) => (URL.canParse(text) ? new URL(text).hostname : undefined);

  app.use(async (context, next) => {
    const host = hostOf(`http://${context.req.header('host') ?? ''}`);
    const origin = context.req.header('origin');
    const fromHere = (name: string | undefined) => name !== undefined && deps.allowedHosts.includes(name);
    if (!fromHere(host) || (origin !== undefined && !fromHere(hostOf(origin)))) {
      return problem(context, 403, 'Forbidden', 'The control API answers only to this machine.');
    }
    if (context.req.method !== 'GET' && !carriesToken(context.req.header('authorization'), deps.token)) {
      return problem(
        context,
        401,
        'Unauthorized',
        'Send `Authorization: Bearer <controlToken>` from the ready line.',
      );
    }
    return next();
  });

  const clockReply = () => {
    const { nowMs, frozen, offsetMs } = clock.state();
    return { now: new Date(nowMs).toISOString(), nowMs, frozen, offsetMs };
  };
  app.get('/clock', (context) => context.json(clockReply()));
  app.post('/clock', async (context) => {
    const body = await readJsonBody(context.req.raw, BODY_LIMIT_BYTES);
    const change = 'value' in body ? parseClockChange(body.value, clock.state().nowMs) : undefined;
    if (!change) {
      const message =
        'Send one of {"advance":"61s"}, {"set":"2030-01-01T00:00:00Z"}, {"freeze":true}; time moves only forward.';
      return problem(context, 400, 'Invalid clock change', message);
    }
    if ('advanceMs' in change) await clock.advance(change.advanceMs);
    else if ('setMs' in change) await clock.set(change.setMs);
    else await clock.freeze(change.frozen);
    return context.json(clockReply());
  });

  const maySeeSecrets = (context: Context) => carriesToken(context.req.header('authorization'), deps.token);
  app.route('/brands', controlBrands({ ...deps.brands, maySeeSecrets }));
  app.route('/requests', controlRequests({ ...deps, nowMs: () => clock.state().nowMs }));

  app.route('/tokens', controlTokens(deps.tokens));
  app.route('/wallets', controlWallets(deps.wallets));

  app.get('/verify', async (context) => {
    const limit = Number(context.req.query('limit') ?? DIFFERENCES_SHOWN);
    if (!Number.isInteger(limit) || limit < 1 || limit > DIFFERENCES_MAX) {
      return problem(context, 400, 'Invalid limit', `Use limit=1..${DIFFERENCES_MAX}.`);
    }
    return context.json(await deps.verify(limit));
  });

  const reference = apiReference(() =>
    apiDocument(controlHostContract, {
      serverUrl: '/_rewards',
      apiPrefix: '',
      bodyLimitBytes: BODY_LIMIT_BYTES,
    }),
  );
  app.get('/openapi.json', reference.openapi);
  app.get('/docs', reference.docs);

  app.all('*', (context) =>
    problem(context, 404, 'Not found', `There is no ${context.req.method} ${context.req.path} here.`),
  );
  app.onError((error, context) => {
    deps.log.error({ path: context.req.path, error: rootMessage(error) }, 'a control request failed');
    return failed(context, error);
  });
  return app;
}

/** Something is wrong that the request is not to blame for; what, is in the log and for nobody else. */
function failed(context: Context, error: Error): Response {
  if (isDatabaseUnavailable(error)) {
    const message = 'The ledger cannot be reached: try again when its database is back.';
    const details = { reason: 'database_unavailable' };
    return controlProblem(context, 503, { error: 'Database unavailable', message, details });
  }
  return controlProblem(context, 500, {
    error: 'Internal server error',
    message: 'The log of the service says what failed; look whether it took effect before you repeat it.',
    details: { reason: 'internal_error' },
  });
}

type ClockChange = { advanceMs: number } | { setMs: number } | { frozen: boolean };

/** Far enough for every rule, and representable as a date. */
const LATEST_MS = Date.UTC(9999, 0, 1);

function parseClockChange(body: unknown, nowMs: number): ClockChange | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { advance, set, freeze } = body as Record<string, unknown>;
  if ([advance, set, freeze].filter((field) => field !== undefined).length !== 1) return undefined;
  if (typeof freeze === 'boolean') return { frozen: freeze };
  if (set !== undefined) {
    const setMs = typeof set === 'number' ? set : typeof set === 'string' ? Date.parse(set) : Number.NaN;
    return setMs >= nowMs && setMs < LATEST_MS ? { setMs } : undefined;
  }
  const advanceMs =
    typeof advance === 'number' ? advance : typeof advance === 'string' ? parseDuration(advance) : undefined;
  if (advanceMs === undefined || !(advanceMs >= 0) || nowMs + advanceMs >= LATEST_MS) return undefined;
  return { advanceMs };
}

function carriesToken(header: string | undefined, token: string): boolean {
  const sent = Buffer.from(header ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
