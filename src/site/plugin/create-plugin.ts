/** Puts the plugin together. */
import manifest from '../../../package.json' with { type: 'json' };
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';
import { createDailyVisits } from './daily-visits.ts';
import { createDebugLog } from './debug-log.ts';
import type { EventCall, Occurrence, Plugin } from './plugin.ts';
import { createPluginSettings, type HookedEvent, type PluginSettings } from './plugin-settings.ts';
import { type AnsweredEvent, createSendEvent, explainAnswer, type SendEvent } from './send-event.ts';
import { createAskService } from './service/ask-service.ts';
import { createRedemptionKeys, createServiceCalls } from './service/service-calls.ts';

/** Name and version, as the contract wants them in event calls. */
const USER_AGENT = `rewards-site/${manifest.version}`;

interface PluginDeps {
  store: SiteStore;
  clock: Clock;
  random: Random;
  log: Log;
}

/** `url`: where browsers find the site; its host is the domain of events where the settings name none. */
export function createPlugin(
  deps: PluginDeps,
  {
    url,
    settings: defaults,
    callTimeoutMs = siteSettings.callTimeoutMs,
  }: { url: string; settings: PluginSettings; callTimeoutMs?: number | undefined },
): Plugin {
  const settings = createPluginSettings(deps, defaults);
  const debugLog = createDebugLog({ ...deps, settings: settings.read });
  const asking = createAskService({
    settings: settings.read,
    debugLog,
    userAgent: USER_AGENT,
    callTimeoutMs,
  });
  const siteHost = new URL(url).hostname;
  const domain = () => settings.read().domain || siteHost;
  const send = createSendEvent({ ...deps, asking, domain, debugLog });
  const fire = createFire({ send, settings: settings.read, visits: createDailyVisits(deps) });
  const background = createBackground(deps.log);
  return {
    settings,
    ...createServiceCalls(asking, createRedemptionKeys(deps), domain),
    fire,
    fireLater: (hook, occurrence) => background.run(() => fire(hook, occurrence)),
    idle: background.idle,
    async customEvent(eventName, occurrence) {
      const isOpen = settings
        .read()
        .events.some((event) => event.enabled && event.eventName === eventName && mayComeFromPages(event));
      if (isOpen) {
        const { email, metadata } = occurrence;
        return withoutAnswer(await send(eventName, { email, metadata: pageMetadata(metadata) }));
      }
      const message = `Pages may not send the event ${eventName}: the settings do not list it under the hook share, or as one that pages may send, or it is off.`;
      return { eventName, success: false, status: 0, code: 'event_not_allowed', message };
    },
    async testConnection({ email, eventName }) {
      const call = await send(eventName, { email, metadata: { test: true } });
      const now = settings.read();
      const message = explainAnswer(call, { settings: now, domain: now.domain || siteHost });
      return { ...withoutAnswer(call), message };
    },
    debugLog: debugLog.list,
  };
}

function createFire(deps: {
  send: SendEvent;
  settings(): PluginSettings;
  visits: ReturnType<typeof createDailyVisits>;
}): Plugin['fire'] {
  async function sendVisit(eventName: string, occurrence: Occurrence): Promise<EventCall[]> {
    const claim = deps.visits.claim(occurrence.email, eventName);
    if (!claim) return [];
    const call = await deps.send(eventName, occurrence).catch((error: unknown) => {
      claim.giveBack();
      throw error;
    });
    if (!call.success) claim.giveBack();
    return [withoutAnswer(call)];
  }
  return async (hook: string, occurrence: Occurrence) => {
    const events = deps.settings().events.filter((event) => event.hook === hook && event.enabled);
    const calls = events.map(({ eventName }) =>
      hook === 'page_load'
        ? sendVisit(eventName, occurrence)
        : deps.send(eventName, occurrence).then((call) => [withoutAnswer(call)]),
    );
    return (await Promise.all(calls)).flat();
  };
}

const mayComeFromPages = ({ hook, fromPages }: HookedEvent) => hook === 'share' || fromPages === true;

const withoutAnswer = ({ answer: _, ...call }: AnsweredEvent): EventCall => call;

/** Work that no page waits for, counted so that `idle` can. */
function createBackground(log: Log) {
  const running = new Set<Promise<void>>();
  return {
    run(work: () => Promise<unknown>): void {
      const done = work()
        .then(() => {})
        .catch((error: unknown) => log.error({ reason: String(error) }, 'an event of the site was not sent'))
        .finally(() => running.delete(done));
      running.add(done);
    },
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Of the event handler: amounts, channels, and what passes over its limits when the brand's key comes with it. */
const EFFECTUAL = new Set(['skip_cooldown', 'source', 'order_total', 'channel_id', 'bot_username']);
/** Accounts on platforms, which can vouch for an event without a domain. */
const isHandle = (name: string): boolean => name.endsWith('Handle');

/** The page's metadata without the fields that only the site's own hooks may send. */
const pageMetadata = (metadata: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !EFFECTUAL.has(name) && !isHandle(name)));
