/** The emulator's demo site, as the control API has it: its hooks, its connection test and its users. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { endpoint } from './control-endpoint.ts';
import type { ControlRefusalCode } from './refusals.ts';

const TEXT_MAX = 254;
const text = (expected: string) =>
  z.string({ error: expected }).trim().min(1, { error: expected }).max(TEXT_MAX, { error: expected });
const object = <S extends z.core.$ZodShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `is not a field of this body; its fields are ${Object.keys(shape).join(', ')}`
        : 'must be a JSON object',
  });

export const hookOccurrence = object({
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

export const hookFired = z.object({
  hook: z.string(),
  user: z.string(),
  events: z.array(z.string()).meta({ description: 'The enabled events that follow the hook.' }),
  calls: z.array(eventCall).meta({
    description: 'One for each event that was sent: a daily visit is sent once in 24 hours.',
  }),
});

export const connectionTest = object({
  email: text('must be an e-mail').optional().meta({
    description: 'Default: the first user of the site.',
  }),
  eventName: text('must be the name of an event').optional().meta({
    description: 'Exactly as the brand names it. Default: an enabled event of the site.',
  }),
});
export const connectionTested = eventCall.extend({ email: z.string() });

const siteUser = z.object({
  login: z.string(),
  email: z.string(),
  displayName: z.string(),
  role: z.enum(['administrator', 'subscriber']),
});
export const siteUserList = z.object({ users: z.array(siteUser) });
export const newSiteUser = object({
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
export const addedSiteUser = siteUser;

export const applicationPasswordWish = object({
  name: text('must be a name').default('control').meta({ description: 'What it is for.' }),
});
export const newApplicationPassword = z.object({
  login: z.string(),
  name: z.string(),
  password: z.string().meta({ description: 'Shown once; only a digest is kept.' }),
});

const settings = ['invalid_body', 'invalid_settings'] as const;
const dora = { login: 'dora', email: 'dora@demo.example' };

export const siteEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  endpoint(
    [
      'post',
      '/site/hooks/{hook}',
      'fireSiteHook',
      'Site',
      'Let something happen on the site, and send the events that follow',
    ],
    {
      path: z.object({ hook: z.string().meta({ description: 'Such as `comment_posted`.' }) }),
      body: named('SiteOccurrence', hookOccurrence),
      example: { path: { hook: 'comment_posted' }, body: { user: demo.user } },
      answer: { description: 'What the service answered.', body: named('SiteHookFired', hookFired) },
      refusals: [...settings, 'hook_not_found', 'site_user_not_found'],
    },
  ),
  endpoint(['post', '/site/test', 'testSite', 'Site', "The connection test of the site's settings page"], {
    description: 'Sends a real event. The message says what to do about a failure.',
    body: named('SiteTest', connectionTest),
    example: { body: { email: demo.user, eventName: 'daily_visit' } },
    answer: { description: 'What the service answered.', body: named('SiteTested', connectionTested) },
    refusals: [...settings, 'site_user_not_found'],
  }),
  endpoint(['get', '/site/users', 'listSiteUsers', 'Site', 'Who can log in to the site'], {
    answer: { description: 'The users.', body: named('SiteUserList', siteUserList) },
  }),
  endpoint(['post', '/site/users', 'addSiteUser', 'Site', 'Add a user of the site'], {
    description: 'No hook follows: nobody has registered.',
    status: 201,
    body: named('NewSiteUser', newSiteUser),
    example: { body: { ...dora, password: 'dora-in-demo' } },
    answer: { description: 'The user.', body: named('SiteUser', addedSiteUser) },
    refusals: [...settings],
  }),
  endpoint(
    [
      'post',
      '/site/users/{login}/application-passwords',
      'addSiteApplicationPassword',
      'Site',
      "A password for a user's programs",
    ],
    {
      status: 201,
      path: z.object({ login: z.string().meta({ description: 'Login or e-mail of the user.' }) }),
      body: named('SiteApplicationPasswordWish', applicationPasswordWish),
      example: { path: { login: 'alice' }, body: { name: 'deploy script' } },
      answer: {
        description: 'The password; it is shown only once.',
        body: named('SiteApplicationPassword', newApplicationPassword),
      },
      refusals: [...settings, 'site_user_not_found'],
    },
  ),
];
