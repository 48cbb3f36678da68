/** POST verify-dns (contract: Endpoints). */
import type { Handler } from 'hono';
import type { DnsVerification } from '../../actions/brands/verify-dns.ts';
import { verifyDnsBody } from '../../contract/events/verify-dns.ts';
import { problemsOf } from '../../contract/shapes.ts';
import { isDatabaseUnavailable } from '../../ledger/database/database.ts';
import type { Log } from '../../lib/log.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody } from '../frame/body.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface VerifyDnsHandlerDeps {
  /** `actions/brands/verify-dns` with its deps bound. */
  verifyDns: (domain: string) => Promise<DnsVerification>;
  refuser: Pick<EventsRefuser, 'answer'>;
  log: Pick<Log, 'warn'>;
  settings: { bodyLimitBytes: number };
}

export function verifyDnsHandler(deps: VerifyDnsHandlerDeps): Handler<RequestVariables> {
  const { refuser, settings, log } = deps;
  return async (context) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) return refuser.answer(context, body.refusal);
    context.get('notes').body = body.text;
    const question = verifyDnsBody.safeParse(body.value);
    if (!question.success) {
      return refuser.answer(context, { code: 'invalid_event_data', errors: problemsOf(question.error) });
    }
    const { domain } = question.data;
    try {
      const { dnsConfigured, brandId, nested, name } = await deps.verifyDns(domain);
      const missing =
        nested === undefined
          ? `no valid record at ${name}`
          : `the record at ${name} links nothing: ${nested} belongs to another brand`;
      const message = dnsConfigured ? `${name} links this domain to the brand` : missing;
      return jsonAnswer(context, { success: true, domain, dnsConfigured, brandId: brandId ?? '', message });
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      log.warn(
        { domain, error: error instanceof Error ? error.message : String(error) },
        'DNS gave no answer',
      );
      // The name servers are not ours: that they are silent is an answer about the domain, not a fault of the service.
      return jsonAnswer(context, {
        success: false,
        domain,
        dnsConfigured: false,
        brandId: '',
        message: 'DNS gave no answer; try again later',
      });
    }
  };
}
