/** `rewards requests list|show|explain`: reads past requests over the emulator's control API, or in production's database. */
import type { RequestDetail, RequestFilter, RequestSummary } from '../../client/bodies.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { explanationText } from './explanation.ts';
import { requestLine } from './request-line.ts';
import { type RequestsOptions, withRequests } from './target.ts';
import { asCurl, requestText } from './view.ts';

export const listRequests: Handler<RequestFilter & RequestsOptions> = (context, options) => {
  const { status, path, method, user, limit } = options;
  return withRequests(context, options, async ({ requests }) => {
    const reply = await requests.list({ status, path, method, user, limit });
    return replyResult(reply, {
      hasRightForm: isRequestList,
      text: (body, style) =>
        body.requests.length === 0
          ? style.dim('the log has no request that fits')
          : body.requests.map((request) => requestLine(request, style)).join('\n'),
    });
  });
};

export const showRequest: Handler<RequestsOptions & { id: string; as?: 'curl' }> = (context, options) => {
  const { id, as } = options;
  return withRequests(context, options, async ({ requests, url }) => {
    if (as === 'curl' && url === undefined) {
      throw usageError(
        'Production keeps no bodies.',
        'Leave --as out, or look at a request of the emulator.',
      );
    }
    return replyResult(await requests.show(id), {
      hasRightForm: isRequestDetail,
      text: (request, style) => (as === 'curl' ? asCurl(request, url ?? '') : requestText(request, style)),
    });
  });
};

export const explainRequest: Handler<RequestsOptions & { id: string }> = (context, options) =>
  withRequests(context, options, async ({ requests }) =>
    replyResult(await requests.show(options.id), {
      hasRightForm: isRequestDetail,
      text: explanationText,
    }),
  );

export const isRequestList = (body: unknown): body is { requests: RequestSummary[] } =>
  isObject(body) && Array.isArray(body.requests);

export const isRequestDetail = (body: unknown): body is RequestDetail =>
  isObject(body) && typeof body.id === 'string' && Array.isArray(body.explained);
