/** The receivers of docs/webhooks.md, each run as it stands there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { post } from '../../src/webhooks/post.ts';
import { createWebhookSecret, signedHeaders } from '../../src/webhooks/signatures.ts';
import { freePort } from '../kits/network/free-port.ts';
import { programMissing } from '../kits/run/programs.ts';
import { until } from '../kits/service/clock.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
const [secret, next, stranger] = [1, 2, 3].map((fill) =>
  createWebhookSecret({ bytes: (count) => new Uint8Array(count).fill(fill) }),
) as [string, string, string];

/** Go compiles its library first where it has not done so before. */
const STARTS_WITHIN_MS = 180_000;

/** What compiling its library takes, without a C compiler and with fewer collections: two thirds of it. */
const QUICK_GO = { CGO_ENABLED: '0', GOGC: '400' };

interface Language {
  language: string;
  file: string;
  command: string[];
  needs?: 'python3' | 'go';
}
const languages: Language[] = [
  { language: 'js', file: 'receiver.mjs', command: [process.execPath] },
  { language: 'python', file: 'receiver.py', command: ['python3'], needs: 'python3' },
  { language: 'go', file: 'receiver.go', command: ['go', 'run'], needs: 'go' },
];

describe.each(languages)(
  'the receiver in $language',
  ({ language, file, needs, command: [program = '', ...words] }) => {
    const source = new RegExp(`\`\`\`${language} receiver\n(.*?)\`\`\``, 's').exec(page)?.[1];
    const reason = needs && programMissing(needs);
    let folder: string;
    let port: number;
    let child: ChildProcess;

    beforeAll(async () => {
      if (reason) return;
      folder = await mkdtemp(join(tmpdir(), 'rewards-receiver-'));
      port = await freePort();
      await writeFile(join(folder, file), source ?? '');
      // A group of its own, since `go run` starts a program that outlives it.
      child = spawn(program, [...words, join(folder, file)], {
        env: { ...process.env, ...QUICK_GO, PORT: String(port), WEBHOOK_SECRET: secret },
        detached: true,
        stdio: 'ignore',
      });
      const listens = async () => (await send({ secret })).outcome === 'answered';
      await until('the receiver listens', listens, STARTS_WITHIN_MS);
    }, STARTS_WITHIN_MS + 10_000);
    afterAll(async () => {
      if (reason) return;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    });

    function send(
      secrets: { secret: string; previousSecret?: string },
      {
        change = (body) => body,
        without = [],
      }: { change?: (body: Buffer) => Buffer; without?: string[] } = {},
    ) {
      const body = Buffer.from('{"id":"evt_1","data":{"text":"Grüße 🎉"}}');
      const timestampSeconds = Math.floor(Date.now() / 1_000);
      const signed = signedHeaders({ ...secrets, id: 'evt_1', timestampSeconds, body });
      const headers = Object.entries(signed).filter(([name]) => !without.includes(name));
      return post(
        { reach: { to: 'any' }, addressesOf: async () => [], clock: { now: () => 0 } },
        { url: `http://127.0.0.1:${port}/`, headers: Object.fromEntries(headers), body: change(body) },
      );
    }

    test('stands on the page', () => expect(source).toBeDefined());

    test.skipIf(reason)(
      'takes what is signed with its secret, before, while and after it is replaced',
      async () => {
        for (const secrets of [
          { secret },
          { secret: next, previousSecret: secret },
          { secret, previousSecret: next },
        ])
          expect(await send(secrets)).toMatchObject({ outcome: 'answered', status: 200 });
      },
    );

    test.skipIf(reason)('refuses everything else', async () => {
      const flipped = (body: Buffer) => Buffer.concat([Buffer.from([(body[0] ?? 0) ^ 1]), body.subarray(1)]);
      const refused = [
        await send({ secret: stranger }),
        await send({ secret: next, previousSecret: stranger }),
        await send({ secret }, { change: flipped }),
        await send({ secret }, { without: ['X-Service-Signature'] }),
      ];
      for (const answer of refused) expect(answer).toMatchObject({ outcome: 'answered', status: 400 });
    });
  },
);
