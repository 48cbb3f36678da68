/** What the documents say is what the program does. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventsHostContract } from '../src/contract/events/host.ts';
import { type EventsRefusal, eventsRefusals } from '../src/contract/events/refusals.ts';
import { registerHostContract } from '../src/contract/register/host.ts';
import { type RegisterRefusal, registerRefusals } from '../src/contract/register/refusals.ts';
import { relayHostContract } from '../src/contract/relay/host.ts';
import { relayRefusals, validationReasons } from '../src/contract/relay/refusals.ts';
import { servicesHostContract } from '../src/contract/services/host.ts';
import { type ServicesRefusal, servicesRefusals } from '../src/contract/services/refusals.ts';
import { describedSeams } from '../src/emulator/faults/seams.ts';
import { apiDocument } from '../src/http/openapi.ts';
import { registrationFields } from '../src/rules/registration.ts';
import { relayPolicy } from '../src/rules/relay-policy.ts';
import { type WebhookEvent, webhookBody, webhookTypes } from '../src/rules/webhook-body.ts';
import { hooks } from '../src/site/plugin/hooks.ts';
import { defaultEvents } from '../src/site/plugin/plugin-settings.ts';
import { operationsOf } from './contract/api-description.ts';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const document = await read('docs/api.md');
const demo = parse(await read('fixtures/demo.yaml'));
const served = { serverUrl: '/', apiPrefix: '/rewards-api', bodyLimitBytes: 10_240 };
const api = apiDocument(eventsHostContract, served);

/** The rows of the first table below a heading, without its head; code marks are taken off. */
function tableBelow(heading: string, page = document): string[][] {
  const [, below = ''] = page.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const lines = below.slice(below.indexOf('\n|')).trimStart().split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** A refusal whose texts are the names of their fields, in braces. */
function withNames(refusal: { code: string }): { code: string } {
  const fields = Object.entries(refusal).map(([name, value]) => {
    if (name === 'code') return [name, value];
    if (typeof value === 'string') return [name, `{${name}}`];
    return [name, Array.isArray(value) ? [`{${name}}`] : value];
  });
  return Object.fromEntries(fields);
}

describe('docs/webhooks.md', async () => {
  const page = await read('docs/webhooks.md');
  const sent = page.split('### What is sent')[1]?.split('### What you can rely on')[0] ?? '';

  test('every type that an endpoint can choose is listed', () => {
    expect(tableBelow('What is sent', page).map(([type]) => type)).toEqual([...webhookTypes]);
  });

  test('the bodies are those that are sent, field by field', () => {
    const [reward = '', others = ''] = [...sent.matchAll(/```json\n([^`]*)```/g)].map(([, text]) => text);
    const bodies = [reward, ...others.split(/\n(?=\{)/)].map((text) => JSON.parse(text));
    for (const body of bodies) {
      const { type, id, data } = body;
      const facts =
        type === 'reward.distributed' ? { ...body, amount: body.rwtAmount, eventType: data.eventType } : data;
      expect(JSON.parse(webhookBody({ id, event: { type, facts } as WebhookEvent }))).toEqual(body);
    }
    expect(bodies.map(({ type }) => type)).toEqual([...webhookTypes]);
  });
});

describe('docs/faults.md', async () => {
  const page = await read('docs/faults.md');

  test('every effect of every seam is listed, and no other', () => {
    const listed = tableBelow('Seams', page).map(([seam, effect]) => `${seam}=${effect}`);
    const known = describedSeams().flatMap(({ seam, effects }) =>
      effects.map(({ effect }) => `${seam}=${effect}`),
    );
    expect(listed.sort()).toEqual(known.sort());
  });

  test('the scenario of each effect sets a fault of its seam with that effect, and each scenario is named', async () => {
    const rows = tableBelow('Seams', page);
    for (const [seam, effect = '', , , file] of rows.filter((row) => row.at(-1) !== '–')) {
      const text = await read(`scenarios/faults/${file}`);
      const [name] = effect.split(':');
      expect([file, text]).toEqual([file, expect.stringMatching(new RegExp(`\\b${seam}\\b`))]);
      expect([file, text]).toEqual([file, expect.stringMatching(new RegExp(`["[ ]${name}\\b`))]);
    }
    const files = await readdir(new URL('../scenarios/faults/', import.meta.url));
    const named = new Set(rows.map((row) => row.at(-1)));
    expect(files.filter((file) => file.endsWith('.yaml') && !named.has(file))).toEqual([]);
  });
});

describe('docs/site-plugin.md', async () => {
  const page = await read('docs/site-plugin.md');

  test('every hook is listed with the event that the demo sends', () => {
    const listed = tableBelow('Hooks and event calls', page).map(([hook, _when, event = '']) => [
      hook,
      event.split(',')[0],
    ]);
    const demos = defaultEvents.map(({ hook, eventName }) => [hook, eventName]);
    expect(listed.sort()).toEqual(demos.sort());
    expect(defaultEvents.map(({ hook }) => hook).sort()).toEqual(Object.keys(hooks).sort());
  });

  test('every option of createSite is listed, and no other', async () => {
    const [, options = ''] =
      /export interface SiteOptions \{([\s\S]*?)\n\}/.exec(await read('src/site/library-types.ts')) ?? [];
    const declared = [...options.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name);
    const listed = tableBelow('In a site of your own', page).flatMap(([names = '']) => names.split(', '));
    expect(listed.sort()).toEqual(declared.sort());
  });
});

describe('docs/security.md', async () => {
  const page = await read('docs/security.md');
  const tables = page.split(/\n\n+/).filter((block) => block.startsWith('|'));
  const rows = tables.flatMap((table) => {
    const [head = '', , ...others] = table.trim().split('\n');
    return others.map((row) => ({ head, row, named: [...row.matchAll(/`([^`›]+) › ([^`]+)`/g)] }));
  });

  test('each row says which test holds it, in its last column', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter(({ head }) => !head.endsWith('| test |')).map(({ row }) => row)).toEqual([]);
    const last = /\| `[^`›]+ › [^`]+`(?:, `[^`›]+ › [^`]+`)* \|$/;
    expect(rows.filter(({ row }) => !last.test(row)).map(({ row }) => row)).toEqual([]);
  });

  test('each of those tests is there, with a title that says so', async () => {
    const missing: string[] = [];
    for (const [, file = '', part = ''] of rows.flatMap(({ named }) => named)) {
      const source = await read(`test/${file}.test.ts`).catch(() => '');
      const isInText = source
        .split('\n')
        .filter((line) => !/^\s*(?:\/\/|\/?\*|import )/.test(line))
        .some((line) => /['"`]/.test(line.slice(0, line.indexOf(part))));
      if (!isInText) missing.push(`${file} › ${part}`);
    }
    expect(missing).toEqual([]);
  });
});

describe('docs/engagement.md', async () => {
  const page = await read('docs/engagement.md');

  test('every endpoint of the services host is listed, and no other', () => {
    const services = apiDocument(servicesHostContract, { ...served, apiPrefix: '' });
    const described = operationsOf(services).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const listed = tableBelow('Endpoints', page).map(([endpoint]) => endpoint);
    expect([...listed].sort()).toEqual(described.sort());
  });

  test('the error table is that of the services host, in both directions', () => {
    const documented = tableBelow('Refusals', page).map(([code, status, error]) => [
      code,
      Number(status),
      error,
    ]);
    const answered = servicesRefusals.codes.map((code) => {
      const refusal = withNames(servicesRefusals.example(code)) as ServicesRefusal;
      const { status, body } = servicesRefusals.answer(refusal, { nowMs: 0 });
      return [code, status, body.error];
    });
    expect(documented).toEqual(answered);
  });
});

describe('docs/api.md', () => {
  test('the error table is that of the service, in both directions', () => {
    const documented = tableBelow('Errors').map(([code, status, error]) => ({
      code,
      status: Number(status),
      error,
    }));
    const answered = eventsRefusals.codes.map((code) => {
      const refusal = withNames(eventsRefusals.example(code)) as EventsRefusal;
      const { status, body } = eventsRefusals.answer(refusal, { nowMs: 0 });
      return { code, status, error: body.error };
    });
    expect(documented).toEqual(answered);
  });

  test('the same for the register host', () => {
    const documented = tableBelow('Refusals of pregenerate-user').map(([code, status, error]) => ({
      code,
      status: Number(status),
      error,
    }));
    const answered = registerRefusals.codes.map((code) => {
      const refusal = withNames(registerRefusals.example(code)) as RegisterRefusal;
      const { status, body } = registerRefusals.answer(refusal, { nowMs: 0 });
      return { code, status, error: body.error };
    });
    expect(documented).toEqual(answered);
  });

  test('the same for the relay, with the reasons of a validation', () => {
    const documented = tableBelow('Refusals of the relay').map(([code, status]) => [code, Number(status)]);
    const answered = relayRefusals.codes.map((code) => {
      const { status, body } = relayRefusals.answer(relayRefusals.example(code), { nowMs: 0 });
      return [body.code, status];
    });
    expect(documented).toEqual(answered);
    const reasons = Object.keys(validationReasons);
    expect(reasons.length).toBeGreaterThan(10);
    expect(tableBelow('Reasons of VALIDATION_FAILED').map(([reason]) => reason)).toEqual(reasons);
  });

  test('what may be relayed is the policy, and every field of a relay is listed', () => {
    const policy = Object.entries(relayPolicy).flatMap(([contract, functions]) =>
      Object.keys(functions).map((signature) => `${contract} ${signature}`),
    );
    const listed = tableBelow('What may be called').map(
      ([contract, signature]) => `${contract} ${signature}`,
    );
    expect(listed.sort()).toEqual(policy.sort());
    const { paths, components } = apiDocument(relayHostContract, { ...served, bodyLimitBytes: 65_536 });
    const fields = tableBelow('Calls without gas: the relay').map(([field]) => field);
    expect(fields.sort()).toEqual(Object.keys(components.schemas.RelayRequest?.properties ?? {}).sort());
    for (const path of Object.keys(paths)) expect(document).toContain(path.replace('{hash}', '<hash>'));
  });

  test('every field of a registration is listed', () => {
    const listed = tableBelow('Wallets before the first reward').map(([field]) => field);
    expect(listed).toEqual([...registrationFields]);
    const { paths } = apiDocument(registerHostContract, served);
    for (const path of Object.keys(paths)) expect(document).toContain(path);
  });

  test('the earlier dialect is as described', () => {
    const refusal = eventsRefusals.example('cooldown');
    const { status, body } = eventsRefusals.answer(refusal, { nowMs: 0, dialect: 'earlier' });
    expect(status).toBe(eventsRefusals.answer(refusal, { nowMs: 0, dialect: 'current' }).status);
    expect(document).toContain(`\`${body.error}\``);
    expect(document).toContain(`\`${body.details.reason}\``);
  });

  test('the lists of event types are those of the demo', () => {
    const rewards: Record<string, { reward: number; channels?: string[]; maxTotalClaims?: number }> =
      demo.brands[0].events;
    const defaults = tableBelow('Default rewards');
    const ranges = tableBelow('Usual ranges');
    const ofSite = tableBelow('Events of a site');
    const custom = tableBelow('Custom events');
    for (const [type = '', amount] of [...defaults, ...ofSite, ...custom]) {
      expect([type, rewards[type]?.reward]).toEqual([type, Number(amount)]);
    }
    for (const [type = '', range] of ranges) {
      expect([type, rewards[type]?.reward]).toEqual([type, Number(range?.split('-')[0])]);
    }
    const names = new Set([...defaults, ...ranges, ...ofSite, ...custom].map(([type]) => type));
    expect([...names].sort()).toEqual(Object.keys(rewards).sort());
    expect([defaults.length, ranges.length]).toEqual([6, 8]);
    expect(custom.every(([type]) => type?.startsWith('custom_'))).toBe(true);
  });

  test('every endpoint is listed, and no other', () => {
    const listed = tableBelow('Endpoints').map(([endpoint]) => endpoint);
    const described = operationsOf(api).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...listed].sort()).toEqual(described.sort());
  });

  test('every field of an event is listed, with its limit', () => {
    const rows = new Map(
      tableBelow('An event').flatMap(([names = '', ...rest]) =>
        names.split(', ').map((name) => [name, rest.join(' ')]),
      ),
    );
    const { EventByEmail, EventMetadata } = api.components.schemas;
    const { properties = {} } = EventByEmail ?? {};
    const inside = Object.keys(EventMetadata?.properties ?? {}).map((name) => `metadata.${name}`);
    expect([...rows.keys()].sort()).toEqual([...Object.keys(properties), ...inside].sort());
    for (const [name, { maxLength }] of Object.entries(properties)) {
      if (maxLength !== undefined) expect(rows.get(name), name).toContain(String(maxLength));
    }
  });

  test('every field of a reward is listed', () => {
    const listed = tableBelow('manual-event').flatMap(([names = '']) => names.split(', '));
    const { properties = {} } = api.components.schemas.RewardResult ?? {};
    expect(listed.sort()).toEqual(Object.keys(properties).sort());
  });

  test('every link inside it leads somewhere', () => {
    const headings = [...document.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const [, target] of document.matchAll(/\]\(#([^)]+)\)/g)) expect(headings).toContain(target);
  });
});
