/** Brands that are created at the same moment: a domain, and an id, has one owner. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { type Answer, startTestService, type TestService } from '../../kits/service/service.ts';

const AT_ONCE = 8;
const ROUNDS = 5;
const idOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

describe.each(databaseKinds)('brands created at once, on $kind', ({ open }) => {
  let database: TestDatabase;
  let service: TestService;
  beforeAll(async () => {
    database = await open();
    service = await startTestService({ databaseUrl: database.databaseUrl });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
  });

  const create = (brandId: string, domains: string[]) =>
    service.control('/brands', { brandId, name: 'One of many', domains });
  const together = (each: (place: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, place) => each(place)));

  test('with one domain: one gets it, and the others are told whose it is', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const domain = `wanted${round}.example`;
      const own = (place: number) => `own${round}x${place}.example`;
      // Both ways round, so that two that wait for each other would show.
      const answers = await together((place) =>
        create(
          idOf(1_000 + round * 100 + place),
          place % 2 === 0 ? [domain, own(place)] : [own(place), domain],
        ),
      );
      expect(statuses(answers)).toEqual([201, ...Array(AT_ONCE - 1).fill(400)]);
      const winner: string = answers.find(({ status }) => status === 201)?.body.brandId;
      for (const { status, body } of answers) {
        if (status === 400) expect(body.message).toBe(`domains ${domain} belongs to brand ${winner}`);
      }
      const shown = await service.request(`${service.ready.urls.control}/brands/${domain}`);
      expect(shown.body.brandId).toBe(winner);
    }
  });

  test('with one id: one is created, and the others are told that it is there', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const brandId = idOf(9_000 + round);
      const answers = await together((place) => create(brandId, [`id${round}x${place}.example`]));
      expect(statuses(answers)).toEqual([201, ...Array(AT_ONCE - 1).fill(409)]);
      const [domain] = answers.find(({ status }) => status === 201)?.body.domains ?? [];
      const shown = await service.request(`${service.ready.urls.control}/brands/${brandId}`);
      expect(shown.body.domains).toEqual([domain]);
      expect(shown.body.keys).toHaveLength(1);
    }
  });

  test('a change to a domain that somebody takes at the same moment', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const domain = `changed${round}.example`;
      const ids = Array.from({ length: AT_ONCE }, (_, place) => idOf(20_000 + round * 100 + place));
      for (const [place, brandId] of ids.entries())
        await create(brandId, [`before${round}x${place}.example`]);
      const headers = { authorization: `Bearer ${service.ready.controlToken}` };
      const answers = await Promise.all(
        ids.map((brandId) =>
          service.request(`${service.ready.urls.control}/brands/${brandId}`, {
            method: 'PATCH',
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify({ domains: [domain] }),
          }),
        ),
      );
      expect(statuses(answers)).toEqual([200, ...Array(AT_ONCE - 1).fill(400)]);
    }
  });
});
