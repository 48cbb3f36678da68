/** The emulator's demo site, as the control API has it: its hooks, its connection test and its users. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf, requiredText } from './fields.ts';

const TEXT_MAX = 254;
const text = (expected: string) => requiredText(TEXT_MAX, expected);

const hookOccurrence = bodyOf({
  user: text('must be an e-mail or a login of the site').meta({
    description: 'Whom it is about: an e-mail, or a login of the site.',
  }),
  metadata: z
    .record(z.string(), z.unknown(), { error: 'must be a JSON object' })
    .optional()
    .meta({ description: 'Goes with every event; `platform` and `timestamp` are set by the site.' }),
});

const eventCall = z.object({
  eventName: z.string(),
  success: z.boolean().meta({ description: 'The service answered 200.' }),
  status: z.int().meta({ description: 'Of the answer; 0 without one.' }),
  message: z.string(),
  reward: z.number().nullable().meta({ description: 'RWT.' }),
});

const hookFired = z.object({
  hook: z.string(),
  user: z.string(),
  events: z.array(z.string()).meta({ description: 'The enabled events that follow the hook.' }),
  calls: z.array(eventCall).meta({
    description: 'One for each event that was sent: a daily visit is sent once in 24 hours.',
  }),
});

const connectionTest = bodyOf({
  email: text('must be an e-mail').optional().meta({
    description: 'Default: the first user of the site.',
  }),
  eventName: text('must be the name of an event').optional().meta({
    description: 'Exactly as the brand names it. Default: an enabled event of the site.',
  }),
});
const connectionTested = eventCall.extend({ email: z.string() });

const siteUser = z.object({
  login: z.string(),
  email: z.string(),
  displayName: z.string(),
  role: z.enum(['administrator', 'subscriber']),
});
const siteUserList = z.object({ users: z.array(siteUser) });
const newSiteUser = bodyOf({
  login: text('must be a login'),
  email: text('must be an e-mail'),
  displayName: text('must be a name').optional().meta({ description: 'Default: the login.' }),
  password: text('must be a password of 8 to 200 characters').optional().meta({
    description: 'Without one, only application passwords let the user in.',
  }),
  role: z
    .enum(['administrator', 'subscriber'], { error: 'must be administrator or subscriber' })
    .default('subscriber'),
});
const applicationPasswordRequest = bodyOf({
  name: text('must be a name').default('control').meta({ description: 'What it is for.' }),
});
const newApplicationPassword = z.object({
  login: z.string(),
  name: z.string(),
  password: z.string().meta({ description: 'Shown once; only a digest is kept.' }),
});

const settings = ['invalid_body', 'invalid_settings'] as const;
const dora = { login: 'dora', email: 'dora@demo.example' };

export const fireSiteHook = endpoint('POST /site/hooks/{hook}', {
  id: 'fireSiteHook',
  tag: 'Site',
  summary: 'Let something happen on the site, and send the events that follow',
  path: z.object({ hook: z.string().meta({ description: 'Such as `comment_posted`.' }) }),
  body: named('SiteOccurrence', hookOccurrence),
  example: { path: { hook: 'comment_posted' }, body: { user: demo.user } },
  answer: { description: 'What the service answered.', body: named('SiteHookFired', hookFired) },
  refusals: [...settings, 'hook_not_found', 'site_user_not_found'],
});

export const testSite = endpoint('POST /site/test', {
  id: 'testSite',
  tag: 'Site',
  summary: "The connection test of the site's settings page",
  description: 'Sends a real event. The message says what to do about a failure.',
  body: named('SiteTest', connectionTest),
  example: { body: { email: demo.user, eventName: 'daily_visit' } },
  answer: { description: 'What the service answered.', body: named('SiteTested', connectionTested) },
  refusals: [...settings, 'site_user_not_found'],
});

export const listSiteUsers = endpoint('GET /site/users', {
  id: 'listSiteUsers',
  tag: 'Site',
  summary: 'Who can log in to the site',
  answer: { description: 'The users.', body: named('SiteUserList', siteUserList) },
});

export const addSiteUser = endpoint('POST /site/users', {
  id: 'addSiteUser',
  tag: 'Site',
  summary: 'Add a user of the site',
  description: 'No hook follows: nobody has registered.',
  status: 201,
  body: named('NewSiteUser', newSiteUser),
  example: { body: { ...dora, password: 'dora-in-demo' } },
  answer: { description: 'The user.', body: named('SiteUser', siteUser) },
  refusals: [...settings],
});

export const addSiteApplicationPassword = endpoint('POST /site/users/{login}/application-passwords', {
  id: 'addSiteApplicationPassword',
  tag: 'Site',
  summary: "A password for a user's programs",
  status: 201,
  path: z.object({ login: z.string().meta({ description: 'Login or e-mail of the user.' }) }),
  body: named('SiteApplicationPasswordWish', applicationPasswordRequest),
  example: { path: { login: 'alice' }, body: { name: 'deploy script' } },
  answer: {
    description: 'The password; it is shown only once.',
    body: named('SiteApplicationPassword', newApplicationPassword),
  },
  refusals: [...settings, 'site_user_not_found'],
});

export type FiredHook = AnswerOf<typeof fireSiteHook>;
export type SiteUser = AnswerOf<typeof addSiteUser>;
export type SiteTest = AnswerOf<typeof testSite>;

export const siteEndpoints = [fireSiteHook, testSite, listSiteUsers, addSiteUser, addSiteApplicationPassword];
