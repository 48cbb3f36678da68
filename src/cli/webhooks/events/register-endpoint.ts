/** Registers a receiver of this machine with the emulated processor, for as long as it runs. */
import { isObject } from '../../service/assignments.ts';
import { mustBe } from '../../service/control-reply.ts';
import type { Processor } from './processor.ts';

/** From the answer on, events go to `url` as well; `remove` never fails, since the stack may be gone by then. */
export async function registerEndpoint(
  { calls }: Processor,
  wish: { url: string; events?: string[] | undefined; secret?: string | undefined },
): Promise<{ id: string; secret: string; remove: () => Promise<void> }> {
  const reply = await calls.addEndpoint(wish);
  mustBe(reply, (body) => isObject(body) && typeof body.id === 'string');
  const { id, secret } = reply.body;
  return {
    id,
    secret,
    async remove() {
      await calls.removeEndpoint(id).catch(() => undefined);
    },
  };
}
