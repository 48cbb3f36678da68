/** Notices events on a page: its address, elements that appear, forms that are submitted. */
import { isMap, later, nowMs } from './browser.ts';
import { emailOf } from './emails.ts';
import type { EventRule } from './event-rules.ts';
import { matchesUrl } from './glob.ts';
import type { Store } from './store.ts';

export interface Detection {
  eventType: string;
  method: 'url_pattern' | 'success_selector' | 'form_submit';
  email: string;
}

export interface DetectDeps {
  rules: EventRule[];
  /** Lives as long as the tab. */
  session: Store;
  /** The user's e-mail, `form` being the one in the form; undefined: not known yet. */
  emailOf: (form: string | undefined) => string | undefined;
  report: (detection: Detection) => void;
}

/** Changes of a page come in showers; one look covers a shower. */
const LOOK_AFTER_MS = 100;
/** A form submitted twice within this time was a double click. */
const DOUBLE_CLICK_MS = 3_000;
const SEEN_MAX = 200;
/** Elements that say something without being seen. */
const NEVER_VISIBLE = 'head *, script, template, input[type=hidden]';

/** Starts watching; the returned function looks again, for example when the user became known. */
export function startDetection({ rules, session, report, ...deps }: DetectDeps): () => void {
  const counted = new WeakSet<Element>();
  const submitted = new WeakMap<Element, Record<string, number>>();

  /** Whether this is the first time in this tab; the list holds no addresses and no e-mails, only their hashes. */
  function isNew(mark: string, againAfterMs: number): boolean {
    const known = session.read('seen');
    const seen = (Array.isArray(known) ? known : []).filter(Array.isArray);
    const hash = hashOf(mark);
    if (seen.some(([name, atMs]) => name === hash && !(nowMs() - atMs >= againAfterMs))) return false;
    session.write('seen', [...seen.filter(([name]) => name !== hash), [hash, nowMs()]].slice(-SEEN_MAX));
    return true;
  }

  /** Forms that were submitted and whose success is still to be seen: event type → e-mail, or nothing. */
  function armed(): Record<string, unknown> {
    const value = session.read('armed');
    return isMap(value) ? value : {};
  }

  function look() {
    for (const rule of rules) {
      const { eventType } = rule;
      if (rule.isForm) lookForSuccess(rule);
      else if (isHere(rule)) {
        const needsElement = rule.successSelectors.length > 0;
        const element = needsElement ? visibleMatch(rule.successSelectors) : undefined;
        if (needsElement && !element) continue;
        // An element that stays while a single-page site moves on is one success, not one for each page.
        const stays = element && rule.urlPatterns.length === 0;
        if (stays && counted.has(element)) continue;
        const email = deps.emailOf(undefined);
        if (!email) continue;
        if (stays) counted.add(element);
        const place = location.origin + location.pathname + location.search + hashRoute(rule);
        const method = element ? 'success_selector' : 'url_pattern';
        if (isNew(`${eventType} ${place} ${email}`, rule.againAfterMs)) report({ eventType, method, email });
      }
    }
  }

  function lookForSuccess({ eventType, successSelectors }: EventRule) {
    const waiting = armed();
    if (!Object.keys(waiting).includes(eventType) || !visibleMatch(successSelectors)) return;
    const email = deps.emailOf(emailOf(waiting[eventType]));
    if (!email) return;
    delete waiting[eventType];
    session.write('armed', waiting);
    report({ eventType, method: 'form_submit', email });
  }

  function onSubmit(event: Event) {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.closest('[role=search], [data-rewards-ignore]')) return;
    const only = form.getAttribute('data-rewards-event');
    const times = submitted.get(form) ?? {};
    submitted.set(form, times);
    const inForm = emailIn(form);
    for (const rule of rules) {
      const { eventType } = rule;
      if (!rule.isForm || !isHere(rule) || (only !== null && only !== eventType)) continue;
      const isDoubleClick = nowMs() - (times[eventType] ?? 0) < DOUBLE_CLICK_MS;
      times[eventType] = nowMs();
      if (isDoubleClick) continue;
      const email = deps.emailOf(inForm);
      if (rule.successSelectors.length > 0) session.write('armed', { ...armed(), [eventType]: email ?? '' });
      else if (email) report({ eventType, method: 'form_submit', email });
    }
  }

  if (rules.some((rule) => rule.isForm)) {
    // On the way down: a page that stops the event on its way up is still a page with a submitted form.
    document.addEventListener('submit', onSubmit, true);
  }
  if (rules.some((rule) => rule.successSelectors.length > 0)) watchElements(look);
  watchAddress(look);
  look();
  return look;
}

const isHere = ({ urlPatterns }: EventRule) =>
  urlPatterns.length === 0 || urlPatterns.some((pattern) => matchesUrl(pattern, location.href));

/** Fragments tell places apart only for brands that route by them. */
const hashRoute = ({ urlPatterns }: EventRule) =>
  urlPatterns.some((pattern) => pattern.includes('#')) ? location.hash : '';

function visibleMatch(selectors: string[]): Element | undefined {
  // Before that, style sheets may be missing, and what they hide would count as shown.
  if (document.readyState !== 'complete') return undefined;
  for (const selector of selectors) {
    try {
      for (const element of document.querySelectorAll(selector)) {
        if (element.getClientRects().length > 0 || element.matches(NEVER_VISIBLE)) return element;
      }
    } catch {
      // No selector: the brand's mistake is not the page's.
    }
  }
  return undefined;
}

function emailIn(form: HTMLFormElement): string | undefined {
  const fields = form.querySelectorAll('input[type=email], input[autocomplete~=email], input[name*=email i]');
  for (const field of fields) {
    const email = field instanceof HTMLInputElement ? emailOf(field.value) : undefined;
    if (email) return email;
  }
  return undefined;
}

function watchElements(look: () => void) {
  let isPlanned = false;
  const plan = () => {
    if (isPlanned) return;
    isPlanned = true;
    later(LOOK_AFTER_MS, () => {
      isPlanned = false;
      look();
    });
  };
  const attributeFilter = ['class', 'style', 'hidden', 'id', 'open', 'aria-hidden'];
  new MutationObserver(plan).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter,
  });
  addEventListener('load', plan);
}

/** Single-page sites change the address without loading a page. */
function watchAddress(look: () => void) {
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name];
    history[name] = function (this: History, ...args: Parameters<History['pushState']>) {
      original.apply(this, args);
      // After the site's own code, and never in its way.
      later(0, look);
    };
  }
  addEventListener('popstate', look);
  addEventListener('hashchange', look);
}

/** A short name for a text (FNV-1a over two seeds): nothing secret, only hard to read back. */
function hashOf(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
}
