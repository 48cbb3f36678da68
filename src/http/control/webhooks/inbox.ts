/** The built-in receiver: `POST inbox` takes what the service's webhooks deliver, `GET inbox` shows it. */
import type { Handler } from 'hono';
import type { z } from 'zod';
import type { inboxList } from '../../../contract/control/inbox.ts';
import { readRawBody } from '../../frame/body/raw-body.ts';
import { BODY_LIMIT_BYTES, refuse } from '../refuse.ts';

export type InboxDelivery = z.infer<typeof inboxList>['deliveries'][number];

export interface ControlInboxDeps {
  inbox: {
    /** `url` is the address that was posted to. */
    receive(message: { url: string; headers: Record<string, string>; body: Uint8Array }): Promise<void>;
    list(choice: { limit: number; after?: string | undefined }): InboxDelivery[];
  };
}

const LIST_DEFAULT = 50;
const LIST_MAX = 500;

export function controlInbox({ inbox }: ControlInboxDeps): Record<string, Handler> {
  return {
    async receiveWebhook(context) {
      const body = await readRawBody(context.req.raw, BODY_LIMIT_BYTES);
      if ('refusal' in body) {
        const { refusal } = body;
        return refuse(context, refusal.code === 'invalid_body' ? { code: 'invalid_body' } : refusal);
      }
      await inbox.receive({ url: context.req.url, headers: context.req.header(), body: body.bytes });
      return context.json({ received: true });
    },
    listInbox(context) {
      const { after, limit: text } = context.req.query();
      const limit = text === undefined ? LIST_DEFAULT : Number(text);
      if (!Number.isInteger(limit) || limit < 1 || limit > LIST_MAX)
        return refuse(context, { code: 'invalid_limit', limitMax: LIST_MAX });
      return context.json({ deliveries: inbox.list({ limit, after }) });
    },
  };
}
