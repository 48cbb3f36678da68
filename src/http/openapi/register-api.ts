/** The description of the register host. */

import { refusalBody } from '../../contract/events/replies.ts';
import { pregenerateBody, pregenerateResult } from '../../contract/register/pregenerate-user.ts';
import { oauthProviders } from '../../rules/registration.ts';
import { type RegisterRefusal, registerReply } from '../register/refusals.ts';
import { type ApiDocument, apiDocument, type RefusalEntry } from './document.ts';
import { demo, example } from './examples.ts';
import { commonHostHeaders, descriptionSchema, hostHeaders, ownDescription } from './own-description.ts';
import { EXAMPLES_AT_MS, refusalExamples } from './refusal-examples.ts';

export interface RegisterApiSettings {
  /** What the paths are appended to; `/` for a document that the service itself serves. */
  serverUrl: string;
  apiPrefix: string;
  bodyLimitBytes: number;
}

const API_VERSION = '2.0';
const { brandId } = demo;
const { https_required, unknown_endpoint, body_too_large, database_unavailable, internal_error } =
  refusalExamples;

/** In the order of the checks. A code without an entry does not compile. */
export const registerRefusals: {
  [Code in RegisterRefusal['code']]: { when: string; refusal: Extract<RegisterRefusal, { code: Code }> };
} = {
  https_required,
  unknown_endpoint,
  body_too_large,
  invalid_body: {
    when: 'the body is not the JSON that is expected',
    refusal: { code: 'invalid_body', problem: 'body: must be a JSON object' },
  },
  mixed_forms: {
    when: 'the body has both an e-mail and an account on a platform',
    refusal: { code: 'mixed_forms' },
  },
  missing_fields: {
    when: 'a field is missing',
    refusal: { code: 'missing_fields', missing: ['oauth_user_id', 'oauth_username'] },
  },
  invalid_brand_id: { when: 'brand_id is no address', refusal: { code: 'invalid_brand_id' } },
  invalid_email: { when: 'email is no e-mail address', refusal: { code: 'invalid_email' } },
  invalid_oauth_provider: {
    when: 'the platform is none of those that are known',
    refusal: { code: 'invalid_oauth_provider', provider: 'myspace', allowed: oauthProviders },
  },
  invalid_oauth_user_id: {
    when: "the id is none of that platform's",
    refusal: { code: 'invalid_oauth_user_id', provider: 'discord', expected: '17 to 20 digits' },
  },
  invalid_oauth_username: {
    when: 'the name is too long',
    refusal: { code: 'invalid_oauth_username', limit: 100 },
  },
  brand_not_found: {
    when: 'nobody is registered as brand_id',
    refusal: { code: 'brand_not_found', brandId },
  },
  brand_key_required: {
    when: 'the brand has set that its key is needed, and it did not come',
    refusal: { code: 'brand_key_required', brandId },
  },
  rate_limit_exceeded: {
    when: 'the brand has had its new wallets of this minute',
    refusal: {
      code: 'rate_limit_exceeded',
      brandId,
      window: { limit: 100, remaining: 0, resetAtMs: EXAMPLES_AT_MS + 42_000 },
    },
  },
  database_unavailable,
  internal_error,
};
type RegisterCode = keyof typeof registerRefusals;
const codes = Object.keys(registerRefusals) as RegisterCode[];
const anywhere: RegisterCode[] = ['https_required', 'internal_error', 'database_unavailable'];

function entry(code: RegisterCode): RefusalEntry {
  const { when, refusal } = registerRefusals[code];
  const { status, body, retryAfterSeconds } = registerReply(refusal, { nowMs: EXAMPLES_AT_MS });
  return { when, status, body, retryAfterSeconds };
}

export function registerApi({ serverUrl, apiPrefix, bodyLimitBytes }: RegisterApiSettings): ApiDocument {
  const account = { brand_id: brandId, oauth_provider: 'discord', oauth_username: 'alice' };
  const result = {
    success: true,
    wallet_address: example.walletAddress,
    idp_user_id: example.eventId,
    created_new: true,
    message: 'Wallet created',
  };
  return apiDocument({
    title: 'Rewards: register',
    version: API_VERSION,
    serverUrl,
    description: [
      'Gives people wallets before they log in or get their first reward.',
      `Bodies are JSON of at most ${bodyLimitBytes / 1024} KB. A field that is null or empty counts as not sent.`,
    ].join('\n\n'),
    tags: [
      { name: 'Users', description: 'Wallets of people who are known on a chat platform, or by e-mail.' },
      { name: 'Service', description: "The host's own description." },
    ],
    operations: [
      {
        id: 'pregenerateUser',
        tag: 'Users',
        method: 'post',
        path: `${apiPrefix}/pregenerate-user`,
        summary: 'Give a user a wallet, or tell which one they have',
        description: [
          'The same account on the same platform has one wallet, whichever brand asks and whatever the user is called. Rewards for events that name the user by `{platform, platformUserId}`, or by that e-mail, go to it.',
          'Each brand may create 100 wallets within a minute; a user who has one already does not count.',
        ].join('\n\n'),
        key: { scheme: 'brandKey', required: false },
        body: 'Registration',
        examples: [
          { summary: 'A user of Discord', body: { ...account, oauth_user_id: '123456789012345678' } },
          { summary: 'A user by e-mail', body: { email: demo.user, brand_id: brandId } },
        ],
        answers: { 200: { description: 'The wallet.', schema: 'Wallet', example: result } },
        refusals: codes.filter((code) => code !== 'unknown_endpoint'),
      },
      ...ownDescription('Document', anywhere),
    ],
    schemas: {
      Registration: pregenerateBody,
      Wallet: pregenerateResult,
      Document: descriptionSchema,
      Refusal: refusalBody,
    },
    refusalSchema: 'Refusal',
    refusals: Object.fromEntries(codes.map((code) => [code, entry(code)])),
    headers: hostHeaders,
    commonHeaders: commonHostHeaders,
    securitySchemes: {
      brandKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'A key of the brand, for its own servers; needed where the brand has set so.',
      },
    },
  });
}
