/** Faults of a stack under test, and what must hold when they are over: everybody paid once, and no difference found. */
import { expect } from 'vitest';
import { until } from './clock.ts';
import type { TestService } from './service.ts';

type Stack = Pick<TestService, 'ready' | 'request' | 'control' | 'brand'>;

export interface SetFault {
  id: string;
  seam: string;
  effect: string;
  timesLeft: number | null;
  struck: number;
}

export function faultsOf(service: Stack) {
  const { control } = service.ready.urls;
  const list = async (): Promise<SetFault[]> => (await service.request(`${control}/faults`)).body.faults;
  const balanceOf = async (user: string): Promise<number> => {
    const query = new URLSearchParams({ brandId: service.brand.brandId, userEmail: user });
    return (await service.request(`/rewards-api/user-balance?${query}`)).body.balance;
  };
  /** Ledger and chain agree. */
  const agree = async () => {
    const { body } = await service.request(`${control}/verify`);
    expect(body).toMatchObject({ ok: true, differences: [] });
  };
  return {
    list,
    agree,
    balanceOf,
    /** `node=away`, as the command line takes it. */
    async fail(named: string, more: { times?: number; for?: string } = {}): Promise<SetFault> {
      const [seam, effect] = named.split('=');
      const { status, body } = await service.control('/faults', { seam, effect, ...more });
      expect([status, body.message]).toEqual([201, undefined]);
      return body;
    },
    clear: () => service.request(`${control}/faults`, { method: 'DELETE' }),
    /** Resolves when the user has the amount; rejects when ever they have more, or ledger and chain differ. */
    async paidOnce(user: string, rwt: number): Promise<void> {
      await until(`${user} has ${rwt} RWT`, async () => (await balanceOf(user)) === rwt);
      await agree();
      expect(await balanceOf(user)).toBe(rwt);
    },
  };
}
