/** `rewards requests list|show|explain`: reads past requests over the emulator's control API. */
import type { RequestDetail, RequestFilter, RequestSummary } from '../../client/bodies.ts';
import type { Handler } from '../machine/context.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { explanationText } from './explanation.ts';
import { requestLine } from './request-line.ts';
import { asCurl, requestText } from './view.ts';

export const listRequests: Handler<RequestFilter> = async (
  context,
  { status, path, method, user, limit },
) => {
  const client = clientFor(await resolveTarget(context), context);
  const reply = await client.control.requests.list({ status, path, method, user, limit });
  return replyResult(reply, {
    hasRightForm: isRequestList,
    text: ({ requests }, style) =>
      requests.length === 0
        ? style.dim('the log has no request that fits')
        : requests.map((request) => requestLine(request, style)).join('\n'),
  });
};

export const showRequest: Handler<{ id: string; as?: 'curl' }> = async (context, { id, as }) => {
  const target = await resolveTarget(context);
  const reply = await clientFor(target, context).control.requests.show(id);
  return replyResult(reply, {
    hasRightForm: isRequestDetail,
    text: (request, style) =>
      as === 'curl' ? asCurl(request, target.urls.events) : requestText(request, style),
  });
};

export const explainRequest: Handler<{ id: string }> = async (context, { id }) => {
  const reply = await clientFor(await resolveTarget(context), context).control.requests.show(id);
  return replyResult(reply, { hasRightForm: isRequestDetail, text: explanationText });
};

export const isRequestList = (body: unknown): body is { requests: RequestSummary[] } =>
  isObject(body) && Array.isArray(body.requests);

export const isRequestDetail = (body: unknown): body is RequestDetail =>
  isObject(body) && typeof body.id === 'string' && Array.isArray(body.explained);
