/** The built-in receiver: `POST inbox` takes what the service's webhooks deliver, `GET inbox` shows it. */
import { type InboxDelivery, listInbox, receiveWebhook } from '../../contract/control/inbox.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readRawBody } from '../frame/body/raw-body.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';
import { BODY_LIMIT_BYTES, refuse } from './refuse.ts';

export interface ControlInboxDeps {
  inbox: {
    /** `url` is the address that was posted to. */
    receive(message: { url: string; headers: Record<string, string>; body: Uint8Array }): Promise<void>;
    list(choice: { limit: number; after?: string | undefined }): InboxDelivery[];
  };
}

export const controlInbox = ({ inbox }: ControlInboxDeps): ControlRoute[] => [
  {
    endpoint: receiveWebhook,
    // A sender's body is kept as it came, whatever it is.
    async handler(context) {
      const body = await readRawBody(context.req.raw, BODY_LIMIT_BYTES);
      if ('refusal' in body) {
        const { refusal } = body;
        return refuse(context, refusal.code === 'invalid_body' ? { code: 'invalid_body' } : refusal);
      }
      await inbox.receive({ url: context.req.url, headers: context.req.header(), body: body.bytes });
      return jsonAnswer(context, { received: true });
    },
  },
  controlHandler(listInbox, ({ query }) => ({ deliveries: inbox.list(query) })),
];
