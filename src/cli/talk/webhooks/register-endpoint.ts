/** Registers a receiver of this machine with the emulated processor, for as long as it runs. */
import { addProcessorEndpoint, removeProcessorEndpoint } from '../../../contract/control/processor.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import type { Processor } from './processor.ts';

/** From the answer on, events go to `url` as well; `remove` never fails, since the stack may be gone by then. */
export async function registerEndpoint(
  { call }: Processor,
  wish: { url: string; events?: string[] | undefined; secret?: string | undefined },
): Promise<{ id: string; secret: string; remove: () => Promise<void> }> {
  const reply = await call(addProcessorEndpoint, { body: wish });
  mustSucceed(reply);
  const { id, secret } = reply.body;
  return {
    id,
    secret,
    async remove() {
      await call(removeProcessorEndpoint, { path: { endpoint: id } }).catch(() => undefined);
    },
  };
}
