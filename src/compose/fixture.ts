/** Fixtures: brands and users to start with, read from YAML files. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import type { Brand, DynamicReward, EventRule } from '../rules/brands/brand.ts';
import { configuredHost } from '../rules/brands/domain.ts';
import { emailKey } from '../rules/user-key.ts';
import { type FixtureFile, fixtureSchema, knownKeys } from './fixture-schema.ts';
import { nearest } from './nearest.ts';
import {
  type Complaint,
  type Path,
  parseYaml,
  TEXT_MAX,
  tooLarge,
  type YamlDocument,
} from './yaml-document.ts';

type FileBrand = FixtureFile['brands'][number];

export type FixturePerk = FileBrand['perks'][number];
export type StreakSettings = FileBrand['streak'];
export type SiteSettings = FileBrand['site'];
export type FixtureUser = FixtureFile['users'][number];

/** Where a brand hears of its rewards: the emulator's own inbox, or a URL. */
export type FixtureWebhook = { secret: string } & ({ inbox: true } | { url: string });

export interface FixtureBrand {
  brand: Brand;
  /** In the order of the file. Limits are -1 or above 0, durations are milliseconds. */
  rules: EventRule[];
  /** `rk_<environment>_<id>_<secret>`. */
  apiKey?: string;
  webhook?: FixtureWebhook;
  /** Whole RWT in the brand's escrow at the start. */
  escrow: number;
  perks: FixturePerk[];
  streak: StreakSettings;
  site: SiteSettings;
}

export interface Fixture {
  brands: FixtureBrand[];
  users: FixtureUser[];
}

/** A text, and the name under which complaints speak of it. */
export interface FixtureSource {
  name: string;
  text: string;
}

/** Everything that is wrong with the files, each with its place. */
export class FixtureError extends Error {
  readonly code = 'E_FIXTURE';
  readonly complaints: readonly Complaint[];
  constructor(complaints: readonly Complaint[]) {
    super(complaints.map(complaintText).join('\n'));
    this.name = 'FixtureError';
    this.complaints = complaints;
  }
  get details() {
    return { complaints: this.complaints };
  }
}

/** `file:line:col path: message`, the form that editors make a link of. */
export const complaintText = ({ file, line, col, path, message }: Complaint) =>
  `${file}:${line}:${col} ${path ? `${path}: ` : ''}${message}`;

/** Reads files and merges them in order. Throws a FixtureError with every complaint about all of them. */
export async function loadFixture(paths: readonly string[]): Promise<Fixture> {
  const read = await Promise.all(paths.map(readSource));
  const complaints = read.flatMap((one) => ('message' in one ? [one] : []));
  const sources = read.flatMap((one) => ('text' in one ? [one] : []));
  return parseFixture(sources, complaints);
}

/** The same for texts. `already` is what is known to be wrong before. */
export function parseFixture(sources: readonly FixtureSource[], already: readonly Complaint[] = []): Fixture {
  const documents = sources.map(({ name, text }) => parseYaml(name, text));
  const complaints = [...already, ...documents.flatMap((document) => document.complaints)];
  const files: FixtureFile[] = [];
  for (const document of documents) {
    if (document.complaints.length > 0) continue;
    // A file of comments only is an empty one.
    const parsed = fixtureSchema.safeParse(document.value ?? {}, { reportInput: true });
    if (parsed.success) files.push(parsed.data);
    else complaints.push(...parsed.error.issues.flatMap((issue) => complaintsOf(document, issue)));
  }
  complaints.push(...repetitions(documents));
  if (complaints.length > 0) throw new FixtureError(inReadingOrder(complaints));
  return {
    brands: files.flatMap(({ brands }) => brands.map(fixtureBrand)),
    users: files.flatMap(({ users }) => users),
  };
}

function inReadingOrder(complaints: Complaint[]): Complaint[] {
  const files = [...new Set(complaints.map(({ file }) => file))];
  return complaints.sort(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.col - b.col,
  );
}

/** The path of a fixture that comes with the package, such as `demo`; works from src and from dist. */
export function packagedFixture(name: string): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    if (existsSync(join(dir, 'package.json'))) return join(dir, 'fixtures', `${name}.yaml`);
    if (dirname(dir) === dir) throw new Error('the package has no root');
  }
}

async function readSource(path: string): Promise<FixtureSource | Complaint> {
  const cannot = (message: string): Complaint => ({ file: path, line: 1, col: 1, path: '', message });
  const parts: Buffer[] = [];
  try {
    const file = await open(path);
    // Not by the file's size: a pipe or a device has none, and may never end.
    for await (const part of file.createReadStream({ end: TEXT_MAX })) parts.push(part);
  } catch (error) {
    return cannot(`cannot be read: ${(error as Error).message}`);
  }
  const bytes = Buffer.concat(parts);
  if (bytes.length > TEXT_MAX) return cannot(tooLarge);
  try {
    return { name: path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return cannot('is not a text in UTF-8');
  }
}

function fixtureBrand(file: FileBrand): FixtureBrand {
  const { brandId, name, automation, domains, platforms, clientBypass, mintTo } = file;
  const { pregenerate, gasBudget, eventNameMapping = {} } = file;
  const { apiKey, webhook, escrow, perks, streak, site } = file;
  const events = Object.entries(file.events);
  return {
    brand: {
      brandId,
      name,
      automation,
      profile: {
        domains,
        platforms,
        clientBypass,
        mintTo,
        pregenerate,
        ...(gasBudget !== undefined && { gasBudget }),
        ...(Object.keys(eventNameMapping).length > 0 && { eventNameMapping }),
      },
    },
    rules: events.map(([eventType, event]) => eventRule({ brandId, eventType, event })),
    ...(apiKey !== undefined && { apiKey }),
    ...(webhook && { webhook: fixtureWebhook(webhook) }),
    escrow,
    perks,
    streak,
    site,
  };
}

function eventRule(of: {
  brandId: EventRule['brandId'];
  eventType: string;
  event: FileBrand['events'][string];
}): EventRule {
  const { brandId, eventType, event } = of;
  const { method, urlPatterns, successSelectors } = event.detection;
  const { channels } = event;
  return {
    brandId,
    eventType,
    active: event.active,
    rewardAmount: event.reward,
    maxClaims: event.maxClaims,
    maxTotalClaims: event.maxTotalClaims,
    cooldownMs: event.cooldown,
    detail: {
      eventId: eventType,
      isCustom: eventType.startsWith('custom_'),
      detectionMethod: method,
      detectionConfig: {
        ...(urlPatterns && { urlPatterns }),
        ...(successSelectors && { successSelectors }),
        ...(channels && { channels }),
      },
      ...dynamicReward(event),
    },
  };
}

function dynamicReward({ perUsd, maxReward, multiplier }: FileBrand['events'][string]): {
  dynamic?: DynamicReward;
} {
  const dynamic: DynamicReward = {
    ...(perUsd !== undefined && { perUsd }),
    ...(maxReward !== undefined && { maxReward }),
    ...(multiplier === 'streak' && { multiplier }),
  };
  return Object.keys(dynamic).length > 0 ? { dynamic } : {};
}

const fixtureWebhook = ({ url, secret }: NonNullable<FileBrand['webhook']>): FixtureWebhook =>
  url === undefined ? { inbox: true, secret } : { url, secret };

function complaintsOf(document: YamlDocument, issue: z.core.$ZodIssue): Complaint[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(path);
    return issue.keys.map((key) => {
      const meant = nearest(key, known);
      const hint = meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`;
      return document.complainOfKey([...path, key], `is unknown; ${hint}`);
    });
  }
  if (issue.code === 'invalid_key') return [document.complainOfKey(path, issue.message)];
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return [document.complain(path, `is missing: ${issue.message}`)];
  }
  return [document.complain(path, `${issue.message}${foundInstead(path, issue.input)}`)];
}

const SECRETS = new Set(['apiKey', 'secret', 'applicationPassword']);
const SHOWN_MAX = 60;

/** What stands there, when that is short enough to help and no secret. */
function foundInstead(path: Path, input: unknown): string {
  const hidden = SECRETS.has(String(path.at(-1))) || input === undefined;
  if (hidden || (typeof input === 'object' && input !== null)) return '';
  const text = typeof input === 'string' ? JSON.stringify(input) : String(input);
  return text.length <= SHOWN_MAX ? `, not ${text}` : '';
}

/** What must be there once in all files together, and the form in which it is compared. `*` is any place. */
const onceOnly: { what: string; at: string; same: (value: unknown) => unknown }[] = [
  { what: 'the brand', at: 'brands.*.brandId', same: lowerCase },
  { what: 'the API key', at: 'brands.*.apiKey', same: (value) => value },
  { what: 'the domain', at: 'brands.*.domains.*', same: textWith(configuredHost) },
  { what: 'the perk', at: 'brands.*.perks.*.id', same: lowerCase },
  { what: 'the tokenId', at: 'brands.*.perks.*.tokenId', same: (value) => value },
  { what: 'the user', at: 'users.*.email', same: textWith(emailKey) },
  { what: 'the login', at: 'users.*.login', same: (value) => value },
];

function lowerCase(value: unknown) {
  return typeof value === 'string' ? value.toLowerCase() : undefined;
}

function textWith(read: (text: string) => string | undefined) {
  return (value: unknown) => (typeof value === 'string' ? read(value) : undefined);
}

function repetitions(documents: readonly YamlDocument[]): Complaint[] {
  return onceOnly.flatMap(({ what, at, same }) => {
    const seen = new Map<unknown, Complaint>();
    return documents.flatMap((document) =>
      placesLike(document.value, at.split('.')).flatMap(({ path, value }) => {
        const key = same(value);
        const first = seen.get(key);
        if (key === undefined) return [];
        const here = document.complain(path, '');
        if (first === undefined) {
          seen.set(key, here);
          return [];
        }
        const place = `${first.file}:${first.line}:${first.col}`;
        return [{ ...here, message: `${what} ${value} is there twice, the first time at ${place}` }];
      }),
    );
  });
}

function placesLike(value: unknown, pattern: string[], path: Path = []): { path: Path; value: unknown }[] {
  const [step, ...rest] = pattern;
  if (step === undefined) return [{ path, value }];
  if (step !== '*') {
    const inside = value !== null && typeof value === 'object' && Object.hasOwn(value, step);
    return inside ? placesLike(value[step as keyof typeof value], rest, [...path, step]) : [];
  }
  if (!Array.isArray(value)) return [];
  return value.flatMap((one, place) => placesLike(one, rest, [...path, place]));
}
