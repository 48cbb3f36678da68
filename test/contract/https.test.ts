/** Contract: Requests must use HTTPS: what the host does where plain HTTP is refused. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { listen } from '../../src/compose/listen.ts';
import { eventsRefusals } from '../../src/contract/events/refusals.ts';
import { httpsOnly, proxyTrust } from '../../src/http/frame/client-address.ts';
import { framed } from '../../src/http/frame/framed.ts';
import { createRefuser } from '../../src/http/frame/refuse.ts';
import { requestNotes } from '../../src/http/frame/request-notes.ts';
import type { RequestVariables } from '../../src/http/frame/request-record.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { exchange } from '../kits/network/sockets.ts';

const app = (proxies: string[]) => {
  const refuser = createRefuser(eventsRefusals, { clock: systemClock() });
  const refuse = (context: Parameters<typeof refuser.answer>[0]) =>
    refuser.answer(context, { code: 'https_required' });
  const clock = systemClock();
  const notes = requestNotes({ clock, random: secureRandom(clock), observer: {} }, 'events');
  const frame = framed([notes, httpsOnly({ trust: proxyTrust(proxies), refuse })], () => Response.error());
  return new Hono<RequestVariables>().all(
    '*',
    frame((c) => c.text('reached')),
  ) as unknown as Hono;
};

test.each<[string, string[], Record<string, string>, number]>([
  ['plain HTTP', [], {}, 403],
  ['plain HTTP that calls itself https', [], { 'x-forwarded-proto': 'https' }, 403],
  ['https, says a proxy of ours', ['127.0.0.1'], { 'x-forwarded-proto': 'https' }, 200],
  ['http, says a proxy of ours', ['127.0.0.1'], { 'x-forwarded-proto': 'http' }, 403],
  [
    'http, says a proxy of ours, after a client’s https',
    ['127.0.0.1'],
    { 'x-forwarded-proto': 'https, http' },
    403,
  ],
  ['nothing, says a proxy of ours', ['127.0.0.1'], {}, 403],
])('contract: HTTPS, %s', async (_, proxies, headers, status) => {
  const listener = await listen(app(proxies), { bindAddress: '127.0.0.1', port: 0, explicit: false });
  try {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await fetch(`${listener.url}/anything`, { method, headers });
      expect([method, answer.status]).toEqual([method, status]);
      if (status === 403)
        expect(await answer.json()).toMatchObject({ success: false, error: 'HTTPS required' });
      else await answer.text();
    }
  } finally {
    await listener.close(0);
  }
});

test('contract: HTTPS, plain HTTP whose request line says https', async () => {
  const listener = await listen(app([]), { bindAddress: '127.0.0.1', port: 0, explicit: false });
  try {
    for (const target of ['https://shop.example/anything', 'HTTPS://shop.example/anything']) {
      const answer = await exchange(
        listener.port,
        `GET ${target} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).not.toContain('reached');
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
  } finally {
    await listener.close(0);
  }
});
