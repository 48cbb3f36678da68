/** Brands, their rules and keys, as the control API has them. A brand is named by its id or by one of its domains. */
import { z } from 'zod';
import { aliasesOf, brandSpec, ruleSpec, settingNames } from '../../rules/brands/spec.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { settingsBody, shownShape } from '../settings-schema.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant, overlap } from './fields.ts';

export const brandPath = z.object({ name: z.string().meta({ description: 'Id or domain of the brand.' }) });
const rulePath = brandPath.extend({ eventType: z.string() });
const name = demo.domain;

export const ruleResult = z.object({ eventType: z.string(), ...shownShape(ruleSpec) });

const brand = z.object({
  ...shownShape(brandSpec),
  provenDomains: z.array(z.string()).meta({ description: 'Linked by DNS.' }),
  createdAt: instant(),
  funds: z
    .object({ deposited: z.int(), promised: z.int(), available: z.int() })
    .meta({ description: 'RWT.' }),
});

const brandList = z.object({ brands: z.array(brand) });

const key = z.object({ keyId: z.string(), createdAt: instant(), expiresAt: instant().nullable() });

const gasWallet = z.object({ address: z.string(), ready: z.boolean() }).meta({
  description:
    "Pays the gas of the brand's users; the service's own wallet pays while this one is not ready.",
});

/** How far each spend limit of a brand is used up. */
export const spending = () =>
  z
    .array(z.object({ span: z.enum(['hour', 'day']), limit: z.int(), spent: z.int(), endsAt: instant() }))
    .meta({ description: 'How far its spend limits are used up; empty without limits.' });

const keylessPayment = z.object({
  pays: z.string().meta({
    description:
      'What is paid: `events`, `check-ins` or `milestones`; `redemptions` debit users, by no more than the brand has paid them.',
  }),
  text: z.string().meta({ description: 'To whom, and how much.' }),
  closedBy: z.string().meta({ description: "The setting that asks for the brand's key, or pays nothing." }),
});

const brandDetail = brand.extend({
  keys: z.array(key),
  warnings: z
    .array(z.string())
    .meta({ description: 'What its settings and rules together are likely to do wrong.' }),
  paysWithoutKey: z.array(keylessPayment).meta({
    description:
      "What callers without the brand's key are paid, which the spend limits bound, and what they may redeem.",
  }),
  rules: z.array(ruleResult),
  gasWallet: gasWallet.nullable(),
  spending: spending(),
});

const newKey = z.object({
  keyId: z.string(),
  apiKey: z.string().meta({ description: 'Shown once; only a digest is kept.' }),
  othersExpireAt: instant().nullable(),
});

const newBrandSettings = settingsBody(
  ['brandId', ...settingNames(brandSpec), 'escrow'],
  '`brandId`, `name` and `domains` are required; `escrow` is RWT to start with.',
  aliasesOf(brandSpec),
);

const brandSettings = settingsBody(settingNames(brandSpec), 'What is not named stays.', aliasesOf(brandSpec));

const ruleSettings = settingsBody(settingNames(ruleSpec), 'A new rule needs `reward`.', aliasesOf(ruleSpec));

const newBrand = brandDetail.extend(newKey.shape);

const keyRotation = z.object({
  overlap: overlap('How long the earlier keys keep working: a duration, or 0.'),
});

const ruleRemoved = z.object({ removed: z.string() });

const dnsQuery = z.object({
  domain: z.string({ error: 'must be a domain of its own (no public suffix)' }),
});

const dnsRecord = z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() });

export const listBrands = endpoint('GET /brands', {
  id: 'listBrands',
  onLedger: true,
  tag: 'Brands',
  summary: 'All brands',
  answer: { description: 'The brands.', body: named('BrandList', brandList) },
});

export const createBrand = endpoint('POST /brands', {
  id: 'createBrand',
  onLedger: true,
  tag: 'Brands',
  summary: 'Create a brand',
  status: 201,
  body: named('NewBrandSettings', newBrandSettings),
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
    body: named('NewBrand', newBrand),
  },
  refusals: ['invalid_body', 'invalid_settings', 'brand_exists'],
});

export const showBrand = endpoint('GET /brands/{name}', {
  id: 'showBrand',
  onLedger: true,
  tag: 'Brands',
  summary: 'One brand with its rules and keys',
  path: brandPath,
  example: { path: { name } },
  answer: { description: 'The brand.', body: named('Brand', brandDetail) },
  refusals: ['brand_not_found'],
});

export const setBrand = endpoint('PATCH /brands/{name}', {
  id: 'setBrand',
  onLedger: true,
  tag: 'Brands',
  summary: 'Change settings of a brand',
  path: brandPath,
  body: named('BrandSettings', brandSettings),
  example: { path: { name }, body: { automation: 'on' } },
  answer: { description: 'The brand as it is now.', body: named('Brand', brandDetail) },
  refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
});

export const setRule = endpoint('PATCH /brands/{name}/rules/{eventType}', {
  id: 'setRule',
  onLedger: true,
  tag: 'Brands',
  summary: 'Change or add the rule of an event',
  path: rulePath,
  body: named('RuleSettings', ruleSettings),
  example: { path: { name, eventType: 'custom_visit' }, body: { reward: 5, cooldown: '1h' } },
  answer: { description: 'The rule as it is now.', body: named('Rule', ruleResult) },
  refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
});

export const removeRule = endpoint('DELETE /brands/{name}/rules/{eventType}', {
  id: 'removeRule',
  onLedger: true,
  tag: 'Brands',
  summary: 'Remove the rule of an event',
  path: rulePath,
  example: { path: { name, eventType: 'custom_visit' } },
  answer: { description: 'The rule is removed.', body: named('RuleRemoved', ruleRemoved) },
  refusals: ['brand_not_found', 'rule_not_found'],
});

export const rotateKey = endpoint('POST /brands/{name}/keys', {
  id: 'rotateKey',
  onLedger: true,
  tag: 'Brands',
  summary: 'Create a new key',
  status: 201,
  path: brandPath,
  body: named('KeyRotation', keyRotation),
  example: { path: { name }, body: { overlap: '24h' } },
  answer: {
    description: 'The new key; it is shown only once.',
    body: named('NewKey', newKey),
  },
  refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
});

export const brandDns = endpoint('GET /brands/{name}/dns', {
  id: 'brandDns',
  onLedger: true,
  tag: 'Brands',
  summary: 'The DNS record that links a domain to the brand',
  path: brandPath,
  query: dnsQuery,
  example: { path: { name }, query: { domain: name } },
  answer: { description: 'The record.', body: named('DnsRecord', dnsRecord) },
  refusals: ['invalid_settings', 'brand_not_found'],
});

export type BrandSummary = AnswerOf<typeof listBrands>['brands'][number];
export type BrandDetail = AnswerOf<typeof showBrand>;
export type ShownRule = AnswerOf<typeof setRule>;
export type NewKey = AnswerOf<typeof rotateKey>;
export type DnsRecord = AnswerOf<typeof brandDns>;
