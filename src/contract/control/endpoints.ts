/** The endpoints of the emulator's control host. Paths are below `/_rewards`. */
import { z } from 'zod';
import { type Endpoint, named, openApiDocument } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { clockEndpoints } from './clock.ts';
import { constraintEndpoints } from './constraints.ts';
import * as control from './control.ts';
import { endpoint } from './control-endpoint.ts';
import { faultEndpoints } from './faults.ts';
import { inboxEndpoints } from './inbox.ts';
import { perkEndpoints } from './perks.ts';
import { processorEndpoints } from './processor-endpoints.ts';
import type { ControlRefusalCode } from './refusals.ts';
import { siteEndpoints } from './site.ts';
import { snapshotEndpoints } from './snapshots/snapshots.ts';
import { webhookEndpoints } from './webhooks.ts';

const brandPath = z.object({ name: z.string().meta({ description: 'Id or domain of the brand.' }) });
const rulePath = brandPath.extend({ eventType: z.string() });
const name = demo.domain;

export const controlEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  ...clockEndpoints,
  endpoint(['get', '/requests', 'listRequests', 'Requests', 'The last requests, newest first'], {
    query: control.requestsQuery,
    example: { query: { status: '4xx', limit: '10' } },
    answer: { description: 'One line per request.', body: named('RequestList', control.requestList) },
    refusals: ['invalid_filter'],
  }),
  endpoint(
    [
      'get',
      '/requests/{id}',
      'showRequest',
      'Requests',
      'One request with both bodies, and why it was decided as it was',
    ],
    {
      path: z.object({
        id: z.string().meta({ description: 'The X-Request-Id, or its beginning.' }),
      }),
      example: { path: { id: 'req_661c136a55acc3b5ccc8' } },
      answer: { description: 'The request.', body: named('RequestDetail', control.requestDetail) },
      refusals: ['request_not_found', 'request_ambiguous'],
    },
  ),
  endpoint(['get', '/brands', 'listBrands', 'Brands', 'All brands'], {
    answer: { description: 'The brands.', body: named('BrandList', control.brandList) },
  }),
  endpoint(['post', '/brands', 'createBrand', 'Brands', 'Create a brand'], {
    status: 201,
    body: named('NewBrandSettings', control.newBrandSettings),
    example: {
      body: {
        brandId: '0x00000000000000000000000000000000000000b2',
        name: 'Second',
        domains: 'second.example',
        escrow: 1000,
      },
    },
    answer: {
      description: 'The brand, with its first key.',
      body: named('NewBrand', control.newBrand),
    },
    refusals: ['invalid_body', 'invalid_settings', 'brand_exists'],
  }),
  endpoint(['get', '/brands/{name}', 'showBrand', 'Brands', 'One brand with its rules and keys'], {
    path: brandPath,
    example: { path: { name } },
    answer: { description: 'The brand.', body: named('Brand', control.brandDetail) },
    refusals: ['brand_not_found'],
  }),
  endpoint(['patch', '/brands/{name}', 'setBrand', 'Brands', 'Change settings of a brand'], {
    path: brandPath,
    body: named('BrandSettings', control.brandSettings),
    example: { path: { name }, body: { automation: 'on' } },
    answer: { description: 'The brand as it is now.', body: named('Brand', control.brandDetail) },
    refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
  }),
  endpoint(
    ['patch', '/brands/{name}/rules/{eventType}', 'setRule', 'Brands', 'Change or add the rule of an event'],
    {
      path: rulePath,
      body: named('RuleSettings', control.ruleSettings),
      example: { path: { name, eventType: 'custom_visit' }, body: { reward: 5, cooldown: '1h' } },
      answer: { description: 'The rule as it is now.', body: named('Rule', control.ruleResult) },
      refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
    },
  ),
  endpoint(
    ['delete', '/brands/{name}/rules/{eventType}', 'removeRule', 'Brands', 'Remove the rule of an event'],
    {
      path: rulePath,
      example: { path: { name, eventType: 'custom_visit' } },
      answer: { description: 'The rule is removed.', body: named('RuleRemoved', control.ruleRemoved) },
      refusals: ['brand_not_found', 'rule_not_found'],
    },
  ),
  endpoint(['get', '/brands/{name}/aliases', 'listAliases', 'Brands', "Other names of a brand's users"], {
    path: brandPath,
    query: control.aliasesQuery,
    example: { path: { name: demo.domain } },
    answer: { description: 'Each alias with its user.', body: named('AliasList', control.aliasList) },
    refusals: ['brand_not_found'],
  }),
  endpoint(['post', '/brands/{name}/aliases', 'aliasUser', 'Brands', 'Make a name an alias of a user'], {
    description:
      'From then on both are one user of this brand, with one wallet, and what either has been paid counts for both. What lies in the wallet of the alias stays there.',
    status: 201,
    path: brandPath,
    body: named('AliasWish', control.aliasWish),
    example: {
      path: { name: demo.domain },
      body: { alias: 'wordpress_2@rewards.example', user: demo.user },
    },
    answer: { description: 'The alias.', body: named('Alias', control.shownAlias) },
    refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
  }),
  endpoint(
    [
      'delete',
      '/brands/{name}/aliases/{alias}',
      'removeAlias',
      'Brands',
      'Make an alias a user of its own again',
    ],
    {
      path: brandPath.extend({ alias: z.string() }),
      example: { path: { name: demo.domain, alias: 'wordpress_2@rewards.example' } },
      answer: { description: 'The alias that is gone.', body: named('AliasRemoved', control.aliasRemoved) },
      refusals: ['invalid_settings', 'brand_not_found'],
    },
  ),
  endpoint(['post', '/brands/{name}/keys', 'rotateKey', 'Brands', 'Create a new key'], {
    status: 201,
    path: brandPath,
    body: named('KeyRotation', control.keyRotation),
    example: { path: { name }, body: { overlap: '24h' } },
    answer: {
      description: 'The new key; it is shown only once.',
      body: named('NewKey', control.newKey),
    },
    refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
  }),
  endpoint(['post', '/brands/{name}/funds', 'fundBrand', 'Brands', "Create RWT in the brand's escrow"], {
    description:
      'The ledger records the mint and its reason. The emulator mints at once; in production the mint lane of the running service does, and the answer has the transaction with which an operator can do it instead.',
    status: 201,
    path: brandPath,
    body: named('FundingWish', control.fundingWish),
    example: { path: { name }, body: { amount: 1000, reason: 'opening balance' } },
    answer: { description: 'The mint.', body: named('Funding', control.fundingResult) },
    refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
  }),
  endpoint(
    ['get', '/brands/{name}/dns', 'brandDns', 'Brands', 'The DNS record that links a domain to the brand'],
    {
      path: brandPath,
      query: control.dnsQuery,
      example: { path: { name }, query: { domain: name } },
      answer: { description: 'The record.', body: named('DnsRecord', control.dnsRecord) },
      refusals: ['invalid_settings', 'brand_not_found'],
    },
  ),
  endpoint(['post', '/seed', 'seed', 'Brands', 'Compare seed files with the ledger, or apply them'], {
    description:
      'Brands and rules of the files become what the files say; others stay. A new brand gets its opening deposit, gas wallet and perks.',
    body: named('SeedWish', control.seedWish),
    example: { body: { apply: false } },
    answer: { description: 'The differences.', body: named('SeedResult', control.seedResult) },
    refusals: ['invalid_body', 'invalid_fixture'],
  }),
  endpoint(['post', '/tokens', 'issueToken', 'Tokens', 'A token for a user'], {
    status: 201,
    body: named('TokenWish', control.tokenWish),
    example: { body: { user: 'alice@demo.example', expires: '1h' } },
    answer: { description: 'The token.', body: named('Token', control.tokenResult) },
    refusals: ['invalid_body', 'invalid_settings'],
  }),
  endpoint(['post', '/tokens/verify', 'verifyToken', 'Tokens', 'Whether a token is accepted, and why not'], {
    body: named('TokenCheck', control.tokenCheck),
    example: { body: { token: 'e30.e30.c2lnbmF0dXJl' } },
    answer: {
      description: "The relay's verdict on the token.",
      body: named('TokenVerdict', control.tokenVerdict),
    },
    refusals: ['invalid_body', 'invalid_settings'],
  }),
  endpoint(['post', '/tokens/rotate-keys', 'rotateTokenKeys', 'Tokens', 'Sign with a new key'], {
    body: named('KeysRotation', control.keysRotation),
    example: { body: { revoke: false } },
    answer: {
      description: 'The keys that are published now.',
      body: named('PublishedKeys', control.publishedKeys),
    },
    refusals: ['invalid_body', 'invalid_settings'],
  }),
  endpoint(['get', '/wallets/{user}', 'showWallet', 'Wallets', 'Which wallet a user has'], {
    path: z.object({
      user: z.string().meta({ description: 'An e-mail, an address, or `<platform>:<id there>`.' }),
    }),
    example: { path: { user: demo.user } },
    answer: {
      description: 'The wallet, and as whom the user was registered.',
      body: named('Wallet', control.walletResult),
    },
    refusals: ['wallet_not_found'],
  }),
  ...inboxEndpoints,
  endpoint(['post', '/mints', 'mintByHand', 'Money', 'Create RWT for an account'], {
    description: 'As for the escrow of a brand: recorded with its reason, and minted once.',
    status: 201,
    body: named('MintWish', control.mintWish),
    example: {
      body: {
        to: '0x00000000000000000000000000000000000000c3',
        amount: 1000,
        reason: 'refund of a purchase',
      },
    },
    answer: { description: 'The mint.', body: named('Mint', control.mintResult) },
    refusals: ['invalid_body', 'invalid_settings'],
  }),
  endpoint(['get', '/mints/{session}', 'mintOfSession', 'Money', 'How far the mint of a checkout has come'], {
    description: 'Asks the ledger alone: nothing is minted by asking.',
    path: z.object({ session: z.string().meta({ description: "The processor's id of the session." }) }),
    example: { path: { session: 'cs_test_a1' } },
    answer: { description: 'The mint.', body: named('SessionMint', control.sessionMint) },
  }),
  ...processorEndpoints,
  ...webhookEndpoints,
  ...perkEndpoints,
  ...constraintEndpoints,
  ...siteEndpoints,
  ...faultEndpoints,
  ...snapshotEndpoints,
  endpoint(['get', '/verify', 'verify', 'Money', 'Compare ledger and chain'], {
    query: control.verifyQuery,
    answer: { description: '`ok` when they agree.', body: named('VerifyReport', control.verifyResult) },
    refusals: ['invalid_limit', 'invalid_since'],
  }),
  endpoint(['get', '/totals', 'showTotals', 'Money', 'What the ledger holds, in numbers'], {
    answer: {
      description: 'The difference of two answers is what happened in between.',
      body: named('Totals', control.totalsResult),
    },
  }),
  endpoint(['get', '/openapi.json', 'controlOpenapi', 'Description', 'As OpenAPI 3.1'], {
    answer: { description: 'An OpenAPI document.', body: openApiDocument },
  }),
  endpoint(['get', '/docs', 'controlDocs', 'Description', 'As a page'], {
    answer: { description: 'A self-contained page.', contentType: 'text/html' },
  }),
];

/** The endpoints that manage brands, rules and keys, over a server or directly on a database. */
export const brandEndpoints = controlEndpoints.filter(({ tag, id }) => tag === 'Brands' && id !== 'seed');

/** The ones that mint by hand, over a server or directly on a database. */
export const mintEndpoints = controlEndpoints.filter(({ id }) => id === 'mintByHand');

/** The ones that look back on requests: production answers them from its database. */
export const requestEndpoints = controlEndpoints.filter(({ tag }) => tag === 'Requests');
