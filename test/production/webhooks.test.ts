/** Webhooks of production: what a brand's server gets over TLS, and what the operator's own network never sees. */
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { webhookAttempts } from '../../src/ledger/schema/webhooks.ts';
import { addEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { createWebhookSecret } from '../../src/webhooks/signatures.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { localCertificate, testAuthority } from '../kits/network/certificates.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  type Started,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.skipIf(postgresMissing() !== undefined)('with a network that the operator names', () => {
  const secret = createWebhookSecret({ bytes: (count) => new Uint8Array(count).fill(7) });
  let kit: ProductionKit;
  let server: TestPostgres;
  let database: Database;
  let service: Started;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** Another machine of the network, which nobody named. */
  let inner: Awaited<ReturnType<typeof startReceiver>>;

  beforeAll(async () => {
    const secure = { cert: localCertificate };
    [kit, server, receiver] = await Promise.all([
      startProductionKit(),
      startPostgres(),
      startReceiver(undefined, { secure }),
    ]);
    inner = await startReceiver(undefined, { secure, host: '127.0.0.2' });
    database = openPostgres(server.url);
    await prepareLedger(database);
    const common = { brandId, types: [], isDefault: false, secret, createdAt: 0 };
    await addEndpoint(database.db, {
      ...common,
      id: 'we_named',
      url: `https://127.0.0.1:${receiver.port}/hook`,
    });
    await addEndpoint(database.db, {
      ...common,
      id: 'we_inner',
      url: `https://127.0.0.2:${inner.port}/hook`,
    });
    const authority = join(kit.folder, 'authority.pem');
    await writeFile(authority, testAuthority);
    service = await startProduction({
      ...kit.environment(server.url, {
        REWARDS_OUTGOING_PORT: `${receiver.port},${inner.port}`,
        REWARDS_OUTGOING_NETWORK: '127.0.0.1',
      }),
      NODE_EXTRA_CA_CERTS: authority,
    });
  });
  afterAll(async () => {
    if (service?.child.exitCode === null) await service.stop('SIGKILL');
    await database?.close();
    await Promise.all([receiver?.stop(), inner?.stop(), server?.stop(), kit?.stop()]);
  });

  test('a reward that is paid is told over verified TLS, with signatures that other libraries accept', async () => {
    const paid = await service.event({ brandId, userEmail: 'carol@shop.example' });
    expect(paid.status).toBe(200);
    await until('the webhook comes', () => receiver.received.length > 0);
    const [first] = receiver.received;
    const { headers = {}, body = Buffer.alloc(0) } = first ?? {};
    expect(JSON.parse(body.toString())).toMatchObject({
      type: 'reward.distributed',
      event: 'rwt_distributed',
      brandId,
      email: 'carol@shop.example',
      rwtAmount: 5,
      transactionHash: paid.body.transactionHash,
    });
    const text = (name: string) => String((headers as Record<string, unknown>)[name]);
    expect(text('x-service-signature')).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    const triple = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, text(name)]);
    expect(() => new Webhook(secret).verify(body, Object.fromEntries(triple))).not.toThrow();
    const timestamped = text('x-service-signature-timestamped');
    expect(() => Stripe.webhooks.constructEvent(body, timestamped, secret)).not.toThrow();
  });

  test('an endpoint there can be added with the same variable, and nowhere else that is not public', async () => {
    const add = (url: string, networks?: string) =>
      rewardsJson(['webhooks', 'endpoints', 'add', 'shop.example', url], {
        env: {
          REWARDS_DATABASE_URL: server.url,
          REWARDS_OUTGOING_PORT: '9443',
          ...(networks !== undefined && { REWARDS_OUTGOING_NETWORK: networks }),
        },
      });
    const refused = (await add('https://10.1.2.3:9443/')).envelope.error;
    expect(refused).toMatchObject({
      code: 'E_REFUSED',
      details: { answer: { message: 'url has an address that is not public' } },
    });
    expect((await add('https://10.1.2.3:9443/', '10.2.0.0/16,10.1.2.4')).envelope.ok).toBe(false);
    const { envelope } = await add('https://10.1.2.3:9443/', '10.2.0.0/16,10.1.0.0/16');
    expect(envelope.data.body.url).toBe('https://10.1.2.3:9443/');
  });

  test('a machine beside it sees no connection, and the log says why', async () => {
    const attempts = () =>
      database.db.select().from(webhookAttempts).where(eq(webhookAttempts.endpointId, 'we_inner'));
    await until('it was tried', async () => (await attempts()).length > 0);
    const [attempt] = await attempts();
    expect(attempt).toMatchObject({ status: null, why: 'the URL has an address that is not public' });
    expect(inner.counts.connections).toBe(0);
  });
});
