/** The client script: one tag on a page, one global, `Rewards`. */
import { isMap, persist, request } from './browser.ts';
import { type Detection, startDetection } from './detect.ts';
import { createEmails } from './emails.ts';
import { readEventRules } from './event-rules.ts';
import { type Answer, createOutbox, failure } from './outbox.ts';
import { createStore } from './store.ts';

interface Tag {
  /** Lower case; undefined: the tag names no brand. */
  brandId: string | undefined;
  /** Where the service is, without a slash at the end. */
  base: string;
  userEmail: string | null;
  /** Sent as `domain`: the page's host, unless the tag names another, as pages on localhost must. */
  domain: string;
  /** Whether e-mails may be remembered for later pages. */
  remembers: boolean;
  debug: boolean;
}

/** The script's own tag, and what it says. */
function readTag(): Tag {
  const running = document.currentScript;
  // Module scripts have no current script, and a form named `currentScript` would shadow it.
  const script =
    running instanceof HTMLScriptElement
      ? running
      : (document.querySelector<HTMLScriptElement>('script[data-brand-id][src*="sdk.js"]') ??
        document.querySelector<HTMLScriptElement>('script[data-brand-id]'));
  const said = (name: string) => script?.getAttribute(`data-${name}`) ?? null;
  const brandId = said('brand-id')?.trim().toLowerCase();
  return {
    brandId: brandId && /^0x[0-9a-f]{40}$/.test(brandId) ? brandId : undefined,
    base: (said('api') || (script?.src ?? '').replace(/\/[^/]*([?#].*)?$/, '')).replace(/\/+$/, ''),
    userEmail: said('user-email'),
    domain: said('domain') || location.hostname,
    remembers: said('remember') !== 'off',
    debug: said('debug') !== null,
  };
}

type Occasion = 'reward' | 'refused' | 'error';
type Listener = (answer: Answer, eventType: string) => void;

interface TrackOptions {
  email?: string;
  metadata?: Record<string, unknown>;
}

/** What pages call. Nothing here throws, and no promise rejects. */
export interface RewardsApi {
  /** Sends an event; the answer is the service's body and `httpStatus`. */
  track(eventType: string, options?: TrackOptions): Promise<Answer>;
  /** Sets the user; null forgets them, on signing out. */
  identify(email: string | null): void;
  /** Hears of answers to all events, noticed or tracked; the returned function stops that. */
  on(occasion: Occasion, listener: Listener): () => void;
  /** Runs a call such as `['track', 'purchase', {…}]`: what a page queued before the script was there. */
  push(...calls: unknown[]): void;
}

const API_PREFIX = '/rewards-api';
/** Longer titles only fill the body. */
const TITLE_MAX = 200;
/** The contract's limit for sourceUrl. */
const SOURCE_URL_MAX = 2_048;

/** The listeners for answers, by occasion. */
function createListeners() {
  const listeners: [Occasion, Listener][] = [];
  return {
    tell(answer: Answer, eventType: string) {
      const isRefusal = answer.httpStatus >= 400 && answer.httpStatus < 500;
      const occasion = answer.success ? 'reward' : isRefusal ? 'refused' : 'error';
      for (const [wanted, listener] of [...listeners]) {
        if (wanted === occasion) safely(() => listener(answer, eventType));
      }
    },
    on(occasion: Occasion, listener: Listener) {
      const entry: [Occasion, Listener] = [occasion, listener];
      listeners.push(entry);
      return () => {
        const at = listeners.indexOf(entry);
        if (at >= 0) listeners.splice(at, 1);
      };
    },
  };
}

/** The body that the script sends for an event on this page. */
function eventBody(
  tag: Tag,
  { eventType, method, email }: Omit<Detection, 'method'> & { method: string },
  metadata?: unknown,
) {
  // Without query and fragment: they carry reset links, tokens and names.
  const sourceUrl = location.origin + location.pathname;
  const isWeb = /^http/.test(location.protocol) && sourceUrl.length <= SOURCE_URL_MAX;
  const facts = { detection_method: method, page_title: document.title.slice(0, TITLE_MAX) };
  return {
    brandId: tag.brandId,
    eventType,
    userEmail: email,
    domain: tag.domain,
    ...(isWeb && { sourceUrl }),
    metadata: { ...facts, ...(isMap(metadata) ? metadata : {}) },
  };
}

function createRewards(tag: Tag): RewardsApi {
  const namespace = `rewards.${tag.brandId}.`;
  const local = createStore(() => localStorage, namespace);
  const session = createStore(() => sessionStorage, namespace);
  const emails = createEmails(tag.remembers ? local : undefined, tag.userEmail);
  const api = tag.base + API_PREFIX;
  const listeners = createListeners();
  const outbox = createOutbox(local, { endpoint: `${api}/manual-event`, tell });
  let lookAgain = () => {};

  function debug(...what: unknown[]) {
    // biome-ignore lint/suspicious/noConsole: the tag asked for it
    if (tag.debug) console.info('[rewards]', ...what);
  }

  function tell(answer: Answer, eventType: string) {
    debug(eventType, answer);
    listeners.tell(answer, eventType);
  }

  const send = (event: Parameters<typeof eventBody>[1], metadata?: unknown) =>
    outbox.send(event.eventType, JSON.stringify(eventBody(tag, event, metadata)));

  async function detect() {
    const config = await persist(() => request(`${api}/event-config?brandId=${tag.brandId}`));
    if (config?.httpStatus !== 200) return debug('no event configuration', config);
    const rules = readEventRules(config.body);
    debug('watching for', rules);
    lookAgain = startDetection({
      rules,
      session,
      emailOf: (form) => emails.pick({ form }),
      report: (detection) => void send(detection),
    });
  }

  const rewards: RewardsApi = {
    async track(eventType, options) {
      try {
        const { email: call, metadata } = isMap(options) ? (options as TrackOptions) : {};
        const email = call || emails.pick();
        if (!tag.brandId) throw new Error("The script's tag has no data-brand-id");
        if (!email) throw new Error('No e-mail is known; pass one, or call Rewards.identify');
        emails.pick({ call });
        return await send({ eventType: String(eventType), method: 'track', email: String(email) }, metadata);
      } catch (error) {
        const answer = failure(error instanceof Error ? error.message : String(error));
        tell(answer, String(eventType));
        return answer;
      }
    },
    identify(email) {
      if (emails.identify(email)) safely(lookAgain);
    },
    on: listeners.on,
    push(...calls) {
      for (const call of calls) {
        safely(() => {
          if (typeof call === 'function') return call(rewards);
          const [name, ...args] = call as ['track', string];
          if (['track', 'identify', 'on'].includes(name)) return rewards[name](...args);
          return debug('unknown call', call);
        });
      }
    },
  };

  debug(tag);
  if (tag.brandId) {
    whenShown(() => {
      outbox.resume();
      detect().catch(debug);
    });
  }
  return rewards;
}

/** Pages that a browser renders ahead may never be seen. */
function whenShown(work: () => void) {
  const { prerendering } = document as Document & { prerendering?: boolean };
  if (prerendering) document.addEventListener('prerenderingchange', work, { once: true });
  else work();
}

/** A page's own mistake goes to the page's own error report, and stops nothing here. */
function safely(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (typeof reportError === 'function') reportError(error);
  }
}

safely(() => {
  const global = window as unknown as { Rewards?: unknown };
  const existing = global.Rewards;
  // The script is on the page twice: the first one does the work.
  if (isMap(existing) && typeof existing.track === 'function') return;
  const rewards = createRewards(readTag());
  global.Rewards = rewards;
  if (Array.isArray(existing)) rewards.push(...existing);
});
