/**
 * `rewards/site`: a content site with the rewards plugin, for any Node program. This file is the package's declaration
 * (`dist/site.d.ts`), so it imports nothing of the program.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What happens on a site of its own accord; an event may follow any other name too, which its host fires. */
export type SiteHook =
  | 'comment_posted'
  | 'user_registered'
  | 'page_load'
  | 'login'
  | 'post_published'
  | 'order_completed'
  | 'share';

/** An event that follows a hook. `eventName`: exactly as the brand names it; case counts. */
export interface SiteEvent {
  /** A hook of the site, or a name of 1 to 64 small letters, digits and underscores that `fire` is called with. */
  hook: SiteHook | (string & {});
  eventName: string;
  enabled: boolean;
  /** Whether pages may send it through the AJAX action, as they may the events of `share`: then any visitor can. */
  fromPages?: boolean;
}

export interface SiteOptions {
  /** Scheme, host and base path: where browsers find the site. Its cookies reach pages below it. */
  url: string;
  /** The brand whose events the site sends, as an address; empty: an administrator sets it. */
  brandId?: string;
  /** The service's event handler, such as `http://127.0.0.1:8787`. */
  eventHandlerUrl?: string;
  /** The service's shared services. Default: `eventHandlerUrl`. */
  servicesUrl?: string;
  /** The domain that event calls name. Default: the host of `url`. */
  domain?: string;
  /** A key of the brand, for brands that let only its holders write; it stays in this process and the site's store. */
  apiKey?: string;
  /** Default: the usual event of each hook. An administrator's settings come before all of these. */
  events?: SiteEvent[];
  debugLogging?: boolean;
  /** What the site calls itself. Default: the host of `url`. */
  name?: string;
  /** `demo`: a new store gets posts and products. Default: `empty`. */
  content?: 'demo' | 'empty';
  /** The file of users, sessions, settings and content; `:memory:` keeps nothing. Default: `site.sqlite`. */
  store?: string;
  /** Milliseconds since 1970. Default: this machine's. */
  clock?: { now(): number };
  /** Gets a line of JSON for each warning and error, without e-mails and keys. Default: standard error. */
  log?: (line: string) => void;
}

export interface SiteUser {
  id: number;
  login: string;
  /** The one identity of the user: balance, streak, perks and events are this e-mail's. */
  email: string;
  displayName: string;
  role: 'administrator' | 'subscriber';
}

export interface NewSiteUser {
  login: string;
  email: string;
  /** Default: the login. */
  displayName?: string;
  /** 8 to 200 characters. Without one only application passwords let the user in. */
  password?: string;
  /** Default: `subscriber`. */
  role?: SiteUser['role'];
}

/** What became of one event. `status` 0: the service gave no answer. */
export interface SiteEventCall {
  eventName: string;
  /** The service answered 200. */
  success: boolean;
  status: number;
  /** For people. */
  message: string;
  /** RWT, where the service rewarded the event. */
  reward?: number | undefined;
}

export interface RewardsSite {
  /** Answers everything below `url`. `from`: as `@hono/node-server` hands it on, or `{ address }`. */
  fetch(request: Request, from?: unknown): Promise<Response>;
  /** The same for `node:http`: `createServer(site.listener)`. */
  listener(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Sends the events that follow a hook, whatever its name, and resolves when the service has answered each. */
  fire(
    hook: SiteHook | (string & {}),
    occurrence: { email: string; metadata?: Record<string, unknown> },
  ): Promise<SiteEventCall[]>;
  /** Replaces the shortcodes in a page's HTML by what they show to the visitor who asks for the page. */
  expandShortcodes(html: string, request: Request | IncomingMessage): Promise<string>;
  /** Belongs into the head of such a page: the plugin's style and script. */
  headTags(request: Request | IncomingMessage): string;
  /** No hook follows, since no user has registered. The problems are for people. */
  addUser(
    user: NewSiteUser,
  ): Promise<{ user: SiteUser } | { problems: { field: string; message: string }[] }>;
  /** Of a login or e-mail. */
  findUser(name: string): SiteUser | undefined;
  /** Waits for event calls under way, and closes the store. The server is the caller's to close, before. */
  close(): Promise<void>;
}

/** Throws a TypeError that names every option that will not do. */
export declare function createSite(options: SiteOptions): RewardsSite;
