/** How the plugin asks the service: one connection for its settings, and one way to read what came back. */
import type { z } from 'zod';
import type { RefusalBody } from '../../../client/bodies.ts';
import { ClientError } from '../../../client/client-error.ts';
import { type Client, createClient } from '../../../client/create-client.ts';
import type { Reply } from '../../../client/reply.ts';
import type { createDebugLog } from '../debug-log.ts';
import { type Outcome, type PluginRefusalCode, pluginRefusals } from '../plugin.ts';
import type { PluginSettings } from '../plugin-settings.ts';
import { reasonCodeIn, reasonIn, wordsIn } from './service-answers.ts';

export interface AskDeps {
  settings(): PluginSettings;
  debugLog: ReturnType<typeof createDebugLog>;
  /** Name and version, such as rewards-site/1.0.0. */
  userAgent: string;
  callTimeoutMs: number;
}

/** What a call needs: the brand, the client for its service, and the header with the brand's key where there is one. */
export interface ServiceCall {
  client: Client;
  brandId: string;
  options: { headers: Record<string, string> };
}

export type AskService = ReturnType<typeof createAskService>;

export function createAskService(deps: AskDeps) {
  return {
    /** Undefined while the settings lack the brand or an address. */
    call(): ServiceCall | undefined {
      const settings = deps.settings();
      const { brandId, eventHandlerUrl, servicesUrl, apiKey } = settings;
      if (brandId === '' || eventHandlerUrl === '' || servicesUrl === '') return undefined;
      const client = createClient({
        urls: {
          events: eventHandlerUrl,
          services: servicesUrl,
          relay: '',
          register: '',
          site: '',
          control: '',
        },
        timeoutMs: deps.callTimeoutMs,
        userAgent: deps.userAgent,
      });
      return {
        client,
        brandId,
        options: { headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` } },
      };
    },
    /**
     * Asks, and sorts the answer: 200 of the wanted form is the value, a no of the service is `refused` with its words for visitors,
     * anything else is `api_error`. `what`: for the debug log.
     */
    async ask<Schema extends z.ZodType>(
      this: void,
      question: {
        what: string;
        /** What the client says comes back must have what the form wants. */
        send(call: ServiceCall): Promise<Reply<z.input<Schema> | RefusalBody>>;
        answer: Schema;
        refused: PluginRefusalCode;
        /** In place of the usual text of `api_error`. */
        failure?: string;
      },
      call: ServiceCall | undefined,
    ): Promise<Outcome<z.output<Schema>>> {
      if (!call) return refusal('not_configured');
      const reply = await answerOf(question.send(call));
      const { status, body } = reply;
      const read = status === 200 && isOwnYes(body) ? question.answer.safeParse(body) : undefined;
      if (read?.success) {
        deps.debugLog.write(`${question.what}: 200`);
        return { ok: true, value: read.data };
      }
      const reason = reasonIn(body);
      deps.debugLog.write(`${question.what}: ${status === 0 ? 'no answer' : status} ${reason ?? ''}`);
      if (underWay.has(reasonCodeIn(body))) return refusal('api_error', UNDER_WAY);
      const isNo = (status >= 400 && status < 500 && reason !== undefined) || isOwnNo(status, body);
      if (isNo && question.refused !== 'api_error') return refusal(question.refused, wordsIn(body));
      return refusal('api_error', question.failure);
    },
  };
}

/** Reasons of the service that are not final: what was asked for may still happen. */
const underWay = new Set<unknown>(['request_in_progress', 'redemption_pending']);
const UNDER_WAY = 'The service is still at work on this: try again in a moment';

export const refusal = (
  code: PluginRefusalCode,
  message?: string,
): { ok: false; refusal: { code: PluginRefusalCode; message: string } } => ({
  ok: false,
  refusal: { code, message: message ?? pluginRefusals[code].message },
});

/** The answer; status 0 and the reason as its message where none came. */
export async function answerOf<Body>(
  reply: Promise<Reply<Body>>,
): Promise<Pick<Reply<Body | { message: string }>, 'status' | 'body'>> {
  try {
    return await reply;
  } catch (error) {
    const message = error instanceof ClientError ? error.message : 'The service cannot be asked';
    return { status: 0, body: { message } };
  }
}

const successOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'success' in body ? body.success : undefined;
/** A 200 says itself that it is a yes, and one that says that it failed is a no. */
const isOwnYes = (body: unknown): boolean => successOf(body) === true;
const isOwnNo = (status: number, body: unknown): boolean => status === 200 && successOf(body) === false;
